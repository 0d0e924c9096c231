package export_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"recfs/formats/export"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/nethack"
)

func open(t *testing.T, dir, source string) *export.Destination {
	t.Helper()
	d, err := export.OpenDestination(dir, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// TestPruneNew holds that what was made since a run began stays, however soon that was, and what
// could not be looked up.
func TestPruneNew(t *testing.T) {
	x := newTarget(t, "../../testdata/archive", formatstest.NewCache(t), nethack.Format)
	d := open(t, x.dir, "/source")
	old := x.export(t.Context(), "nethack/small.nhgame")
	began, err := d.Now()
	if err != nil {
		t.Fatal(err)
	}
	made := x.export(t.Context(), "nethack/beta2.nhgame")
	lost := errors.New("lost")
	var failed error
	p := &export.Pruner{
		Dir: x.dir, Began: began, Names: new(export.Namer), Wanted: func(string, string) bool { return true },
		Gone: func(string, string) (bool, error) { return failed == nil, failed },
	}
	if gone, all, err := p.Count(); gone != len(old) || all != len(old)+len(made) || err != nil {
		t.Errorf("%d of %d, %v; want %d of %d", gone, all, err, len(old), len(old)+len(made))
	}
	for _, failed = range []error{lost, nil} {
		removed, left := 0, 0
		if err := p.Remove(func(g export.Gone) {
			if !errors.Is(g.Err, failed) {
				t.Errorf("%s: %v", g.Path, g.Err)
			}
			removed++
		}, func(string, string) { left++ }); err != nil || removed != len(old) || left != len(made) {
			t.Errorf("%d told, %d left, %v", removed, left, err)
		}
		for _, f := range old {
			if _, err := os.Stat(f.Path); (err == nil) != (failed != nil) {
				t.Errorf("%s: %v", f.Path, err)
			}
		}
	}
	for _, f := range made {
		if _, err := os.Stat(f.Path); err != nil {
			t.Error(err)
		}
	}
}

// TestPruneAlone holds that nothing is removed while another export has the destination open, and
// that none begins then.
func TestPruneAlone(t *testing.T) {
	dir := t.TempDir()
	d, other := open(t, dir, "/a"), open(t, dir, "/a")
	if d.Alone() {
		t.Error("alone beside another export")
	}
	other.Close()
	if !d.Alone() {
		t.Error("not alone")
	}
	if _, err := export.OpenDestination(dir, "/a"); err == nil {
		t.Error("opened while another export is alone")
	}
}

// TestPruneSource holds what the note of a destination says of its source.
func TestPruneSource(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		source  string
		foreign bool
	}{{"/a", false}, {"/a", false}, {"/b", true}, {"/a", true}} {
		d := open(t, dir, c.source)
		if why := d.Foreign(); (why != "") != c.foreign {
			t.Errorf("%d: %q", i, why)
		}
		if err := d.Join(); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, dir, "/a")
	if err := d.Own(); err != nil || d.Foreign() != "" || open(t, dir, "/a").Foreign() != "" {
		t.Errorf("%v, %q", err, d.Foreign())
	}
	put(t, filepath.Join(dir, "_recfs.json"), "{")
	if open(t, dir, "/a").Foreign() == "" {
		t.Error("a damaged note says nothing")
	}
}
