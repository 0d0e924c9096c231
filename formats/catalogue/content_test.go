package catalogue

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
)

// counted returns formats whose passes are counted.
func counted(scans *atomic.Int64) []formats.Format {
	list := allFormats()
	for i := range list {
		scan := list[i].Scan
		list[i].Scan = func(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
			if earlier == nil {
				scans.Add(1)
			}
			return scan(ctx, in, h, earlier)
		}
	}
	return list
}

// A copy, a link, a rename and a move of recordings are known by their content: no index is made
// again, and the catalogue judges them by what is kept.
func TestKnownByContent(t *testing.T) {
	base, store := t.TempDir(), t.TempDir()
	dir := filepath.Join(base, "archive")
	for _, name := range []string{"hcrp/run-finished/.", "nethack/small.nhgame", "teehistorian/reload-20.1.teehistorian", "butter/combat-cut.butter"} {
		run(t, "mkdir", "-p", filepath.Join(dir, filepath.Dir(name)))
		run(t, "cp", "-r", samples+name, filepath.Join(dir, filepath.Dir(name)))
	}
	run(t, "gzip", "-k", filepath.Join(dir, "teehistorian/reload-20.1.teehistorian"))
	run(t, "tar", "-cf", filepath.Join(dir, "a.tar"), "-C", dir, "nethack", "hcrp")
	var scans atomic.Int64
	open := func(dir string) *root {
		disk := cache.NewDisk(store, 1<<30, nil)
		c := cache.New(4<<20, disk)
		t.Cleanup(c.Close)
		return newRoot(formatstest.OpenLocal(t, dir), counted(&scans), c, archive.Options{Disk: disk})
	}
	indexed := func(dir string) (n int) {
		t.Helper()
		for s, err := range summariesOf(t, open(dir)) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Indexed {
				n++
			} else {
				t.Errorf("%s in %s is not known", s.Path, dir)
			}
		}
		return n
	}
	err := nodes.Walk(t.Context(), open(dir), func(name string, e nodes.Entry, err error) error {
		if err == nil && e.Name == "index.json" {
			_, err = e.File.Size(t.Context())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := indexed(dir)
	if all < 6 {
		t.Fatalf("%d recordings", all)
	}
	scans.Store(0)
	for _, c := range []struct{ command, at string }{
		{"cp -a archive copy", "copy"},
		{"cp -al archive linked", "linked"},
		{"true", "archive"}, // whose links changed
		{"mv archive moved", "moved"},
		{"ln -s moved link", "link"},
		{"mv moved/nethack moved/games", "moved"},
		{"mv copy/a.tar linked/teehistorian/b.tar", "linked"},
	} {
		run(t, "sh", "-c", "cd '"+base+"' && "+c.command)
		for range 2 {
			if n := indexed(filepath.Join(base, c.at)); n < all || scans.Load() > 0 {
				t.Errorf("%s: %d of %d recordings, %d passes", c.command, n, all, scans.Load())
			}
		}
	}
	// What is another in its middle is not.
	name := filepath.Join(base, "copy/teehistorian/reload-20.1.teehistorian")
	b, err := os.ReadFile(name)
	if err == nil {
		b[len(b)/2] ^= 1
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range summariesOf(t, open(filepath.Join(base, "copy"))) {
		if err != nil || s.Indexed == strings.HasSuffix(s.Path, "reload-20.1.teehistorian") {
			t.Errorf("%s indexed: %t, %v", s.Path, s.Indexed, err)
		}
	}
}

func run(t *testing.T, command string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), command, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", command, args, err, out)
	}
}
