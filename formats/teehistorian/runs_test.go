package teehistorian

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// runnersOf returns those of the Summary of a recording.
func runnersOf(t *testing.T, recording []byte) []formats.Runner {
	t.Helper()
	in := formatstest.BytesInput("x.teehistorian", recording, time.Unix(1_800_000_000, 0))
	head, err := Format.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	x, err := scan(t.Context(), in, head, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := summary(t.Context(), formats.Recording{Input: in, Head: head}, x)
	if err != nil {
		t.Fatal(err)
	}
	return s.Runners
}

// The runs of a Summary name the demos that the tree has.
func TestRunners(t *testing.T) {
	recording := race(1000, 400, 500, 500)
	got := runnersOf(t, recording)
	want := []formats.Runner{{Names: []string{"ab"}, Runs: []formats.Run{
		{Tick: 400, TimeMS: 4000, Demo: "demos/runs/00000400-00-ab.demo"},
		{Tick: 500, TimeMS: 4000, Demo: "demos/runs/00000500-00-ab-2.demo"},
		{Tick: 500, TimeMS: 4000, Demo: "demos/runs/00000500-00-ab.demo"},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	root, err := openBytes(t, newCache(t), recording)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range got[0].Runs {
		if _, err := nodes.Lookup(t.Context(), root, run.Demo); err != nil {
			t.Error(err)
		}
	}
	if got := runnersOf(t, race(100)); got == nil || len(got) > 0 {
		t.Errorf("%v without a run, want none that is known", got)
	}
}

// Of more runs than a Summary has the first of the best stay.
func TestManyRuns(t *testing.T) {
	finishes := slices.Repeat([]int{400}, formats.MaxRuns)
	got := runnersOf(t, race(1000, append(finishes, 500)...))
	if len(got) != 1 || len(got[0].Runs) != formats.MaxRuns {
		t.Fatalf("%d runners", len(got))
	}
	if last := got[0].Runs[formats.MaxRuns-1]; last.Tick != 400 {
		t.Errorf("the last of them ends in tick %d", last.Tick)
	}
}
