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
	d, err := export.OpenDestination(dir, source, export.Form{}, export.Shard{I: 1, N: 1}, []string{"nethack"})
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
		To: d, Began: began, Named: export.Places{}, Wanted: func(string, string) bool { return true },
		Gone: func(string, string) (bool, error) { return failed == nil, failed },
	}
	if gone, all, err := p.Count(); gone != len(old) || all != len(old)+len(made) || err != nil {
		t.Errorf("%d of %d, %v; want %d of %d", gone, all, err, len(old), len(old)+len(made))
	}
	for _, failed = range []error{lost, nil} {
		removed, left := 0, 0
		if err := p.Remove(func(g *export.File) {
			if !errors.Is(g.Err, failed) {
				t.Errorf("%s: %v", g.File, g.Err)
			}
			removed++
		}, func(string, string) { left++ }); err != nil || removed != len(old) || left != len(made) {
			t.Errorf("%d told, %d left, %v", removed, left, err)
		}
		for _, f := range old {
			if _, err := os.Stat(f.File); (err == nil) != (failed != nil) {
				t.Errorf("%s: %v", f.File, err)
			}
		}
	}
	for _, f := range made {
		if _, err := os.Stat(f.File); err != nil {
			t.Error(err)
		}
	}
}

// TestLocks holds that two exports of one shard do not write to a destination at a time, and that
// one of all shards is alone there.
func TestLocks(t *testing.T) {
	dir := t.TempDir()
	var opened []*export.Destination
	for i, c := range []struct {
		shard export.Shard
		want  bool
	}{{export.Shard{I: 1, N: 2}, true}, {export.Shard{I: 2, N: 2}, true}, {export.Shard{I: 1, N: 2}, false}, {export.Shard{I: 1, N: 1}, false}} {
		d, err := export.OpenDestination(dir, "/a", export.Form{}, c.shard, nil)
		if (err == nil) != c.want || err != nil && err.Error() != "another export writes to "+dir {
			t.Errorf("%d: %v", i, err)
		}
		if err == nil {
			opened = append(opened, d)
		}
	}
	for _, d := range opened {
		d.Close()
	}
	d := open(t, dir, "/a")
	if _, err := export.OpenDestination(dir, "/a", export.Form{}, export.Shard{I: 1, N: 2}, nil); err == nil {
		t.Error("a shard was opened beside all")
	}
	d.Close()
}

// TestForms holds that a destination has one layout.
func TestForms(t *testing.T) {
	dir := t.TempDir()
	by := export.Form{Merge: true, By: export.ByMonth}
	for i, c := range []struct {
		form export.Form
		want string
	}{
		{by, ""},
		{by, ""},
		{export.Form{}, " was written with --merge --by month; give that, or another DESTINATION"},
		{export.Form{Merge: true, By: export.ByNone}, " was written with --merge --by month; give that, or another DESTINATION"},
	} {
		d, err := export.OpenDestination(dir, "/a", c.form, export.Shard{I: 1, N: 1}, nil)
		switch {
		case (err == nil) != (c.want == "") || err != nil && err.Error() != dir+c.want:
			t.Errorf("%d: %v", i, err)
		case err == nil:
			if err := d.Join(); err != nil {
				t.Error(err)
			}
			d.Close()
		}
	}
}

// TestFormWithoutNote holds that a destination has one layout also when its note is lost, or is
// none, and afterwards.
func TestFormWithoutNote(t *testing.T) {
	x := newTarget(t, "../../testdata/archive", formatstest.NewCache(t), nethack.Format)
	files := x.export(t.Context(), "nethack/small.nhgame")
	note := filepath.Join(x.dir, "_recfs.json")
	with := func(merge bool) error {
		form := export.Form{Merge: merge}
		if merge {
			form.By = export.ByNone
		}
		d, err := export.OpenDestination(x.dir, "/a", form, export.Shard{I: 1, N: 1}, []string{"nethack"})
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Join()
	}
	for _, lost := range []string{"", "\x00\x00\x00"} {
		_ = os.Remove(note)
		if lost != "" {
			put(t, note, lost)
		}
		for _, merge := range []bool{true, false, true} {
			if err := with(merge); (err != nil) != merge {
				t.Errorf("note %q, merge %t: %v", lost, merge, err)
			}
		}
	}
	for _, f := range files {
		_ = os.Remove(f.File)
	}
	_ = os.Remove(note)
	if err := with(true); err != nil {
		t.Error(err)
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
		d.Close()
	}
	d := open(t, dir, "/a")
	if err := d.Own(); err != nil || d.Foreign() != "" {
		t.Errorf("%v, %q", err, d.Foreign())
	}
	d.Close()
	d = open(t, dir, "/a")
	if why := d.Foreign(); why != "" {
		t.Error(why)
	}
	d.Close()
	put(t, filepath.Join(dir, "_recfs.json"), "{")
	if open(t, dir, "/a").Foreign() == "" {
		t.Error("a damaged note says nothing")
	}
}
