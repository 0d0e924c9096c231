package catalogue

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
)

// A countedTree counts the files that are opened.
type countedTree struct {
	source.Tree
	opens *atomic.Int64
}

func (c countedTree) Open(ctx context.Context, name string) (source.File, error) {
	c.opens.Add(1)
	return c.Tree.Open(ctx, name)
}

// A headOf is the bytes of a recording of the format of TestRunnersAreKept.
type headOf []byte

func (h headOf) Append(b []byte) []byte { return append(b, h...) }
func (h headOf) Memory() int64          { return int64(len(h)) }
func (h headOf) Reach(string) int64     { return int64(len(h)) }

// raced is a format of which each recording has a run, of the player it names.
func raced() formats.Format {
	readAll := func(ctx context.Context, in formats.Input) (headOf, error) {
		b := make([]byte, in.Size)
		_, err := in.ReadAt(ctx, b, 0)
		return b, err
	}
	return formats.Format{
		Name: "rec", Extensions: rec.Extensions, Match: rec.Match, Runs: func(formats.Index) []formats.Runner { return nil },
		Open: func(ctx context.Context, in formats.Input) (formats.Head, error) { return readAll(ctx, in) },
		ReadHead: func(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
			return headOf(saved), nil
		},
		Scan: func(ctx context.Context, in formats.Input, _ formats.Head, _ formats.Index) (formats.Index, error) {
			return readAll(ctx, in)
		},
		ReadIndex: func(_ formats.Input, _ formats.Head, saved []byte) (formats.Index, error) { return headOf(saved), nil },
		Tree: func(r formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return nodes.List(nodes.Entry{Name: "index.json", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
				_, err := r.Index(ctx)
				return []byte("{}\n"), err
			})}), nil
		},
		Summary: func(_ context.Context, r formats.Recording, found formats.Index) (s formats.Summary, err error) {
			if found != nil {
				s.Runners = []formats.Runner{{Names: []string{string(r.Head.(headOf)[3:])}, Runs: []formats.Run{{Tick: 7, TimeMS: 140, Demo: "demos/7.demo"}}}}
			}
			return s, nil
		},
	}
}

// The runs of recordings are in what is kept, so that no recording is opened to tell them again.
func TestRunnersAreKept(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	write(t, dir, "a.rec", "RECann")
	write(t, dir, "b.rec", "RECbob")
	write(t, dir, "c.tar", string(formatstest.Tar(t, entry{"d.rec", "RECdee"}, entry{"e.rec", "RECeve"})))
	var opens atomic.Int64
	start := func() *root {
		disk := cache.NewDisk(store, 1<<20, nil)
		c := cache.New(1<<20, disk)
		t.Cleanup(c.Close)
		return newRoot(countedTree{formatstest.OpenLocal(t, dir), &opens}, []formats.Format{raced()}, c, archive.Options{Disk: disk})
	}
	runs := func(r *root) map[string][]formats.Runner {
		t.Helper()
		found := map[string][]formats.Runner{}
		for s, err := range summariesOf(t, r) {
			if err != nil {
				t.Fatal(err)
			}
			found[s.Path] = s.Runners
		}
		return found
	}
	want := map[string][]formats.Runner{"a.rec": nil, "b.rec": nil, "c.tar/d.rec": nil, "c.tar/e.rec": nil}
	r := start()
	for path, player := range map[string]string{"a.rec": "ann", "c.tar/e.rec": "eve"} {
		if _, err := read(t, r, path+"/index.json"); err != nil {
			t.Fatal(err)
		}
		want[path] = []formats.Runner{{Names: []string{player}, Runs: []formats.Run{{Tick: 7, TimeMS: 140, Demo: "demos/7.demo"}}}}
	}
	if diff := cmp.Diff(want, runs(r)); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	opens.Store(0)
	if diff := cmp.Diff(want, runs(start())); diff != "" {
		t.Errorf("runs of the next process (-want +got):\n%s", diff)
	}
	if n := opens.Load(); n > 0 {
		t.Errorf("the next process opened %d files", n)
	}
}

func TestSoundRunners(t *testing.T) {
	for runs, sound := range map[string]bool{
		"": true, "{}": true,
		`{"Runners":[{"names":["a"],"runs":[{"tick":1,"time_ms":2,"demo":"demos/1.demo"}]}]}`: true,
		`{"Runners":[{"names":["a"],"runs":[{"tick":1,"time_ms":2,"demo":"../1.demo"}]}]}`:    false,
		"[": false,
	} {
		o, err := outcomeOf(runs)
		if got := err == nil && soundRunners(o.Runners); got != sound {
			t.Errorf("%q: %t", runs, got)
		}
	}
}
