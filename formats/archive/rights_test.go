package archive

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// Owner and mode come from the source: what a recording or a container holds
// has those of its file, without x but for directories.
func TestArchiveRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no owners and modes")
	}
	dir, root := mount(t, map[string]string{
		"open.rec": "RECone", "group.rec": "RECtwo", "tool": "text", "folder/x": "y", "locked/x.rec": "REC", "link": "->tool",
		"a.tar":          string(formatstest.Tar(t, entry{"in/b.rec", "RECthree"}, entry{"in/c", "text"}, entry{"l", "->in"})),
		"seg/first.part": "1", "seg/second.part": "2",
		"drop/first.part": "1", "drop/second.part": "2",
		"linked/first.part": "->../locked/one", "locked/one": "1",
	}, Options{})
	for name, mode := range map[string]os.FileMode{
		"open.rec": 0o755, "group.rec": 0o640, "tool": 0o711 | os.ModeSetuid, "folder": 0o755 | os.ModeSticky, "folder/x": 0, "locked": 0o700,
		"a.tar": 0o604, "seg": 0o755, "seg/first.part": 0o644, "seg/second.part": 0o640, "drop": 0o733, "drop/first.part": 0o644,
		"drop/second.part": 0o644, "linked": 0o755, "locked/one": 0o644, ".": 0o750,
	} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]os.FileMode{
		".": 0o750, "open.rec": 0o755, "open.rec/raw": 0o644, "group.rec": 0o750, "group.rec/raw": 0o640,
		"tool": 0o711, "folder": 0o755, "folder/x": 0, "locked": 0o700,
		"a.tar": 0o705, "a.tar/in": 0o705, "a.tar/in/c": 0o604, "a.tar/in/b.rec": 0o705, "a.tar/in/b.rec/body": 0o604,
		"seg": 0o750, "seg/body": 0o640, "drop": 0o700, "drop/body": 0o600, "linked": 0o700, "linked/body": 0o600,
	}
	for name, mode := range want {
		self, err := nodes.Child(t.Context(), root, ".")
		if err != nil {
			t.Fatal(err)
		}
		e, err := nodes.Lookup(t.Context(), root, name)
		e = e.Inherit(self.Attr)
		if err != nil || !e.Rights.Known || e.Rights.Mode != mode || int(e.Rights.UID) != os.Getuid() {
			t.Errorf("%s: %v, %v, want mode %o", name, e.Rights, err, mode)
		}
	}
}

// A file with another owner or group allows the people of the first only what
// all may do that they can be.
func TestLimited(t *testing.T) {
	const a, b = 1, 2
	all := nodes.NewRights(0o644, a, a)
	for f, want := range map[nodes.Rights]nodes.Rights{
		nodes.NewRights(0o644, a, a): nodes.NewRights(0o644, a, a),
		nodes.NewRights(0o600, a, a): nodes.NewRights(0o600, a, a),
		nodes.NewRights(0o600, b, a): nodes.NewRights(0, a, a),
		nodes.NewRights(0o640, b, a): nodes.NewRights(0o040, a, a),
		nodes.NewRights(0o640, a, b): nodes.NewRights(0o600, a, a),
		nodes.NewRights(0o604, a, b): nodes.NewRights(0o600, a, a),
		nodes.NewRights(0o644, b, b): nodes.NewRights(0o444, a, a),
		{}:                           all,
	} {
		if got := limited(all, f); got != want {
			t.Errorf("%v leaves %v, want %v", f, got, want)
		}
	}
}

// What lies beside a recording is for those who may read it, if there are others.
func TestBesideIsNotShared(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no owners and modes")
	}
	for _, test := range []struct {
		recording, beside, folder os.FileMode
		shared, want              bool
	}{
		{0o644, 0o600, 0o755, false, true},
		{0o644, 0o600, 0o755, true, false},
		{0o640, 0o644, 0o700, true, false},
		{0o644, 0o644, 0o711, true, true},
		{0o600, 0o600, 0o700, true, true},
	} {
		dir := t.TempDir()
		write(t, dir, "x.rec", "REC")
		write(t, dir, "sub/schema", "text")
		write(t, dir, "schema", "->sub/schema")
		for name, mode := range map[string]os.FileMode{"x.rec": test.recording, "sub/schema": test.beside, "sub": test.folder} {
			if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
				t.Fatal(err)
			}
		}
		a := newArchive(formatstest.OpenLocal(t, dir), testFormats, formatstest.NewCache(t), Options{Shared: test.shared}, 0)
		e, err := a.lookup(t.Context(), "x.rec", "x.rec")
		if err != nil {
			t.Fatal(err)
		}
		src, _ := a.source(e.Dir.(recording).key)
		_, err = src.Beside.Open(t.Context(), "schema")
		if (err == nil) != test.want {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// Where a link beside a recording leads nowhere there is no file, which hides nothing of the
// recording.
func TestBesideNowhere(t *testing.T) {
	for _, target := range []string{"schema", "../schema", "/schema", "x.rec/schema", "none"} {
		dir := t.TempDir()
		write(t, dir, "x.rec", "REC")
		write(t, dir, "schema", "->"+target)
		a := newArchive(formatstest.OpenLocal(t, dir), testFormats, formatstest.NewCache(t), Options{}, 0)
		e, err := a.lookup(t.Context(), "x.rec", "x.rec")
		if err != nil {
			t.Fatal(err)
		}
		src, _ := a.source(e.Dir.(recording).key)
		if _, err := src.Beside.Open(t.Context(), "schema"); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("to %s: %v", target, err)
		}
	}
}
