package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// On a terminal find offers to make the indexes without which it cannot judge, and then prints what
// it has not printed yet.
func TestFindOffersIndex(t *testing.T) {
	for answer, want := range map[string]string{"n\n": "a.teehistorian", "": "a.teehistorian", "y\n": "a.teehistorian b.teehistorian"} {
		setCacheHome(t)
		dir := t.TempDir()
		content, err := os.ReadFile(filepath.Join(samples, "teehistorian/reload-20.1.teehistorian"))
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		writeNew(t, filepath.Join(dir, "a.teehistorian"), content)
		if err := commands().named("index").execute(t.Context(), &env{stdout: &stdout, stderr: &stdout}, []string{dir}); err != nil {
			t.Fatal(err)
		}
		stdout.Reset()
		writeNew(t, filepath.Join(dir, "b.teehistorian"), append(content, 0)) // no copy, whose index would be there
		e := &env{stdout: &stdout, stderr: &stderr, terminal: true, answers: strings.NewReader(answer)}
		err = commands().named("find").execute(t.Context(), e, []string{"--player", "alice", dir})
		if err != nil && !errors.Is(err, errReported) {
			t.Error(err)
		}
		if got := strings.Join(strings.Fields(strings.ReplaceAll(stdout.String(), dir+"/", "")), " "); got != want {
			t.Errorf("answer %q: %q, want %q", answer, got, want)
		}
		if n := strings.Count(stderr.String(), "without an index; 'recfs find --index' makes them first\nMake them now? [y/N] "); n != 1 {
			t.Errorf("answer %q: asked %d times: %s", answer, n, &stderr)
		}
	}
}

// A long line fits the terminal, with room for what is said of a recording behind a long path.
func TestLongLine(t *testing.T) {
	const about = "  turn 289, The Dungeons of Doom"
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"a.nhgame", 39, "a.nhgame  turn 289, The Dungeons of Do…"},
		{"a.nhgame", 100, "a.nhgame" + about},
		{"testdata/archive/nethack/größe.nhgame", 39, "…thack/größe.nhgame  turn 289, The Dun…"},
		{"a.nhgame", -3, "…"},
		{"testdata/archive/nethack/größe.nhgame", math.MaxInt, "testdata/archive/nethack/größe.nhgame" + about},
	} {
		if got := fit(c.name, about, c.width); got != c.want {
			t.Errorf("%s in %d: %q, want %q", c.name, c.width, got, c.want)
		}
	}
	if got, want := fit("nethack/damaged.nhgame", "", 10), "…ed.nhgame"; got != want {
		t.Errorf("a name alone: %q, want %q", got, want)
	}
}
