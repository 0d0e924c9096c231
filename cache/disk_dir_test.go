package cache

import (
	"bytes"
	"errors"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A directory that others own or may write is refused, and so is one in it, or a link in its place.
// Nothing is read from there, nothing written, nothing removed, and the log says why once.
func TestDiskRefuses(t *testing.T) {
	const other = 12345
	link := func(dir string) func(*testing.T, string) {
		return func(t *testing.T, base string) {
			must(t, os.Rename(filepath.Join(base, dir), filepath.Join(base, "moved")))
			must(t, os.Symlink(filepath.Join(base, "moved"), filepath.Join(base, dir)))
		}
	}
	chmod := func(dir string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, base string) { must(t, os.Chmod(filepath.Join(base, dir), mode)) }
	}
	chown := func(dir string) func(*testing.T, string) {
		return func(t *testing.T, base string) {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			must(t, os.Chown(filepath.Join(base, dir), other, -1))
		}
	}
	shelf := filepath.Dir(place("name", sidecarExt))
	for name, test := range map[string]struct {
		spoil  func(*testing.T, string)
		reason string
	}{
		"others may write":           {chmod("", 0o707), "may be written by group or others (mode 0707)"},
		"group may write":            {chmod("", 0o770), "may be written by group or others (mode 0770)"},
		"sticky":                     {chmod("", 0o777|os.ModeSticky), "may be written by group or others"},
		"of another":                 {chown(""), "belongs to user 12345"},
		"others may write the files": {chmod(layoutDir, 0o777), "may be written by group or others"},
		"files of another":           {chown(layoutDir), "belongs to user 12345"},
		"files in a link":            {link(layoutDir), "is no directory but L"},
		"others may write a shelf":   {chmod(shelf, 0o777), "may be written by group or others"},
		"a shelf is a link":          {link(shelf), "is no directory but L"},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			must(t, os.Chmod(base, 0o700))
			NewDisk(base, 1<<20, nil).Save("name", []byte("data"))
			test.spoil(t, base)
			before := allNames(t, base)

			var out bytes.Buffer
			d := NewDisk(base, 1<<20, slog.New(slog.NewTextHandler(&out, nil)))
			for range 2 {
				if b, ok := d.Load(t.Context(), "name"); ok {
					t.Errorf("loaded %q", b)
				}
				if d.Lookup()("name") {
					t.Error("found")
				}
				d.Save("name", []byte("other"))
				if f, err := d.Open("name"); err == nil {
					f.Close()
					t.Error("opened")
				}
			}
			if strings.HasPrefix(test.reason, "may be") && !strings.Contains(name, "shelf") {
				if n, _, err := d.Clear(); n > 0 || err == nil {
					t.Errorf("%d files removed, %v", n, err)
				}
			} else {
				d.Clear()
			}
			if n := strings.Count(out.String(), "\n"); n != 1 || !strings.Contains(out.String(), test.reason) {
				t.Errorf("%d lines, want 1 with %q: %s", n, test.reason, &out)
			}
			if refused := (*refusal)(nil); !errors.As(d.Err(), &refused) {
				t.Errorf("Err is %v", d.Err())
			}
			if after := allNames(t, base); !strings.Contains(name, "shelf") && after != before {
				t.Errorf("before:\n%safter:\n%s", before, after)
			}
		})
	}
}

// allNames returns the names of all files and directories below one, a line each.
func allNames(t *testing.T, dir string) string {
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(name string, _ iofs.DirEntry, err error) error {
		b.WriteString(strings.TrimPrefix(name, dir) + "\n")
		return err
	}))
	return b.String()
}

// A link in the place of a file is not followed: not to read, to write or to remove.
func TestDiskFollowsNoLinks(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("name", []byte("data"))
	blob, err := d.Create("name")
	must(t, err)
	f, err := blob.Commit()
	must(t, err)
	f.Close()
	outside := t.TempDir()
	for _, ext := range []string{sidecarExt, blobExt} {
		file, kept := d.path("name", ext), filepath.Join(outside, "kept"+ext)
		must(t, os.Rename(file, kept))
		must(t, os.Symlink(kept, file))
	}
	if b, ok := d.Load(t.Context(), "name"); ok {
		t.Errorf("loaded %q", b)
	}
	if f, err := d.Open("name"); err == nil {
		f.Close()
		t.Error("opened")
	}
	if _, err := d.Items(); err != nil {
		t.Error(err)
	}
	d.Save("name", []byte("new"))
	if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "new" {
		t.Errorf("%q, %v after it was saved", b, ok)
	}
	if _, _, err := d.Clear(); err != nil {
		t.Error(err)
	}
	if left, err := d.Items(); len(left) > 0 || err != nil {
		t.Errorf("%v, %v left", left, err)
	}
	data, err := os.ReadFile(filepath.Join(outside, "kept"+sidecarExt))
	if !bytes.Contains(data, []byte("data")) {
		t.Errorf("outside: %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "kept"+blobExt)); err != nil {
		t.Error(err)
	}
}

// A file that others may have written is none, whatever its checksum.
func TestDiskBelievesNoOthers(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("name", []byte("data"))
	must(t, os.Chmod(d.path("name", sidecarExt), 0o666))
	if b, ok := d.Load(t.Context(), "name"); ok {
		t.Errorf("loaded %q", b)
	}
	d.Save("name", []byte("new"))
	if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "new" {
		t.Errorf("%q, %v after it was saved", b, ok)
	}
}

// A sidecar that is replaced while it is read is what it was, and the new one stays where it is.
func TestDiskReplacedMeanwhile(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	d.Save("name", []byte("old"))
	at := place("name", sidecarExt)
	f, info, err := d.open(at)
	must(t, err)
	defer f.Close()
	d.Save("name", []byte("much longer"))
	if b, err := readSidecar(f, info.Size(), "name", 1<<20); string(b) != "old" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	d.removeFile(at, info)
	if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "much longer" {
		t.Errorf("%q, %v", b, ok)
	}
}

// What an earlier version kept is removed, and nothing that a link there leads to.
func TestDiskOldLayout(t *testing.T) {
	base, oldLayout := t.TempDir(), "v2"
	must(t, os.Chmod(base, 0o700))
	must(t, os.MkdirAll(filepath.Join(base, oldLayout, "ab"), 0o700))
	must(t, os.WriteFile(filepath.Join(base, oldLayout, "ab", strings.Repeat("c", 62)+".idx"), []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(base, oldLayout, "marks"), []byte("old"), 0o600))
	must(t, os.Mkdir(filepath.Join(base, "kept"), 0o700))
	must(t, os.WriteFile(filepath.Join(base, "kept", "file"), []byte("x"), 0o600))
	must(t, os.Symlink(filepath.Join(base, "kept"), filepath.Join(base, oldLayout, "ab", strings.Repeat("d", 62)+".zst")))

	d := NewDisk(base, 1<<20, nil)
	d.Save("name", []byte("data"))
	if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "data" {
		t.Errorf("loaded %q", b)
	}
	if _, err := os.Lstat(filepath.Join(base, oldLayout)); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("what an earlier version kept: %v", err)
	}
	if _, err := os.Stat(filepath.Join(base, "kept", "file")); err != nil {
		t.Errorf("what a link leads to: %v", err)
	}
}

// A directory that a user has for other things, too, loses none of them, whatever their names.
func TestDiskAmongOthers(t *testing.T) {
	base := t.TempDir()
	must(t, os.Chmod(base, 0o700))
	var names []string
	for _, name := range []string{"v1/ab/x.hcrp.zst", "v2/ab/" + strings.Repeat("c", 62), "v2/marks.txt", "v3/ab/x.hcrp.zst", "v3/x.idx", "v3/2026/tmp-1-a"} {
		name = filepath.Join(base, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must(t, os.WriteFile(name, []byte("mine"), 0o600))
		names = append(names, name)
	}
	d := NewDisk(base, 1<<20, nil)
	d.Save("name", []byte("data"))
	if _, _, err := d.Clear(); err != nil {
		t.Error(err)
	}
	for _, name := range names {
		if b, err := os.ReadFile(name); string(b) != "mine" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// What removes the directory of a running process costs no more than what was in it.
func TestDiskIsMadeAgain(t *testing.T) {
	d, out := tempDisk(t, 1<<20)
	for _, dir := range []string{d.base, d.Dir(), filepath.Dir(d.path("name", sidecarExt))} {
		d.Save("name", []byte("data"))
		must(t, os.RemoveAll(dir))
		if _, ok := d.Load(t.Context(), "name"); ok {
			t.Error("loaded what was removed")
		}
		d.Save("name", []byte("data"))
		if b, ok := d.Load(t.Context(), "name"); !ok || string(b) != "data" {
			t.Errorf("%s: %q, %v", dir, b, ok)
		}
	}
	if out.Len() > 0 {
		t.Error(out)
	}
}
