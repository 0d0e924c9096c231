package source

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// put writes a file below dir.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// openDir opens a directory until the test ends.
func openDir(t testing.TB, dir string) *Local {
	t.Helper()
	local, err := OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return local
}

// openDigits opens a directory with a file of ten digits, whose state it returns, too.
func openDigits(t testing.TB) (dir string, local *Local, info Info) {
	t.Helper()
	dir = t.TempDir()
	put(t, dir, "file", "0123456789")
	local = openDir(t, dir)
	info, err := local.Stat(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	return dir, local, info
}

func namesOf(l Names) (list []string) {
	for i := range l.Len() {
		name, typ := l.At(i)
		switch typ {
		case iofs.ModeDir:
			name += "/"
		case iofs.ModeSymlink:
			name += "@"
		}
		list = append(list, name)
	}
	return list
}

// A listing is sorted, and has files, directories and links only, under any name a file can have.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", "B", "a b", "é", "new\nline", "bad\xff", ".hidden", "sub/inner"} {
		put(t, dir, name, name)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Skip(err)
	}
	want := ".hidden|B|a|a b|b|bad\xff|dangling@|link@|new\nline|sub/|é"
	{
		kind, tree := "local", openDir(t, dir)
		l, err := tree.List(t.Context(), ".")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(namesOf(l), "|"); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
		for i := range l.Len() {
			name, typ := l.At(i)
			if n, ok := l.Find(name); n != i || !ok {
				t.Errorf("%s: %q is found at %d, %t, stands at %d", kind, name, n, ok, i)
			}
			if name == "bad\xff" && kind == "io/fs" {
				continue // no path of package io/fs
			}
			info, err := tree.Stat(t.Context(), name)
			if err != nil || info.Type != typ {
				t.Errorf("%s: Stat of %q: %v, %v", kind, name, info.Type, err)
			}
		}
		for _, name := range []string{"", "fifo", "aa", "z", "A"} {
			if i, ok := l.Find(name); ok {
				t.Errorf("%s: %q is found at %d", kind, name, i)
			}
		}
		if _, ok := l.Info(0); ok || l.Cost() < int64(len(want)-11) {
			t.Errorf("%s: Info is known, or the names cost only %d bytes", kind, l.Cost())
		}
	}
}

// What is not there is io/fs.ErrNotExist, also below a file, and a canceled context ends a listing
// of many names.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "text")
	{
		kind, tree := "local", openDir(t, dir)
		for _, name := range []string{"nothing", "no/thing", "file/below"} {
			_, err := tree.Stat(t.Context(), name)
			_, err2 := tree.Open(t.Context(), name)
			_, err3 := tree.List(t.Context(), name)
			_, err4 := tree.ReadLink(t.Context(), name)
			for i, err := range []error{err, err2, err3, err4} {
				if !IsGone(err) {
					t.Errorf("%s: %s, method %d: %v", kind, name, i, err)
				}
			}
		}
		if _, err := tree.List(t.Context(), "file"); err == nil {
			t.Errorf("%s: a file is listed", kind)
		}
	}
	for range 1500 {
		put(t, dir, "many/"+time.Now().Format("150405.000000000"), "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openDir(t, dir).List(ctx, "many"); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled listing: %v", err)
	}
	if _, err := OpenLocal(filepath.Join(dir, "nothing")); !IsGone(err) {
		t.Errorf("opening what is not there: %v", err)
	}
	if _, err := OpenLocal(filepath.Join(dir, "file")); err == nil {
		t.Error("a file opens as a directory")
	}
}

// No path leads through a link or out of the directory, also when the link appeared this moment.
func TestLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "secret", "secret")
	put(t, dir, "real/file", "text")
	for name, target := range map[string]string{
		"in": "real", "file": "real/file", "up": "..", "out": outside, "outfile": filepath.Join(outside, "secret"), "real/back": "../real",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	local := openDir(t, dir)
	for _, name := range []string{"in/file", "file", "out/secret", "outfile", "real/back/file", "../" + filepath.Base(outside) + "/secret"} {
		if f, err := local.Open(t.Context(), name); err == nil {
			f.Close()
			t.Errorf("%s opens", name)
		}
	}
	for _, name := range []string{"in", "out", "up", "real/back"} {
		if _, err := local.List(t.Context(), name); err == nil {
			t.Errorf("%s is listed", name)
		}
		info, err := local.Stat(t.Context(), name)
		if err != nil || info.Type != iofs.ModeSymlink {
			t.Errorf("%s: %v, %v", name, info.Type, err)
		}
	}
	for name, want := range map[string]string{"file": "real/file", "out": filepath.ToSlash(outside)} {
		{
			kind, tree := "local", openDir(t, dir)
			if got, err := tree.ReadLink(t.Context(), name); got != want || err != nil {
				t.Errorf("%s: %s leads to %q, %v", kind, name, got, err)
			}
		}
	}
	if f, err := local.Open(t.Context(), "real/file"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}

// The target of a link leads into the tree if it begins with the path of the directory, as given or
// without links.
func TestInside(t *testing.T) {
	base := t.TempDir()
	put(t, base, "real/dir/file", "")
	if err := os.Symlink("real", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	given, real := filepath.Join(base, "link/dir"), filepath.Join(base, "real/dir")
	local := openDir(t, given)
	for target, want := range map[string]string{
		given: "", real: "", given + "/": "", given + "/a/b": "a/b", real + "//a/../b": "a/../b", "/." + real + "/./a": "a",
		given + "x": "-", filepath.Dir(given): "-", "/": "-", "": "-", base + "/other/dir/a": "-",
	} {
		got, ok := local.Inside(target)
		if !ok {
			got = "-"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	if got, err := filepath.EvalSymlinks(real); err != nil || local.Path() != got {
		t.Errorf("the path is %s, want %s", local.Path(), got)
	}
	if rest, ok := openDir(t, "/").Inside("/a/b"); rest != "a/b" || !ok {
		t.Errorf("below the root: %q, %t", rest, ok)
	}
}

// Stat tells size, time, rights and inode, and an opened file tells the same of itself after its
// name is gone.
func TestStat(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "text")
	when := time.Unix(1e9, 123456789)
	if err := os.Chtimes(filepath.Join(dir, "file"), when, when); err != nil {
		t.Fatal(err)
	}
	{
		kind, tree := "local", openDir(t, dir)
		info, err := tree.Stat(t.Context(), "file")
		if err != nil || info.Size != 4 || !info.Time().Equal(when) || info.Type != 0 || info.Rights.Mode != 0o640 || info.Inode == 0 || info.Links != 1 {
			t.Errorf("%s: %+v, %v", kind, info, err)
		}
		if int(info.Rights.UID) != os.Getuid() || !info.Rights.Known {
			t.Errorf("%s: rights %+v", kind, info.Rights)
		}
	}
	local := openDir(t, dir)
	f, err := local.Open(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, err := f.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "file", "other bytes")
	after, err := f.Info(t.Context())
	if err != nil || after.Inode != before.Inode || after.Size != 4 || after.Links != 0 || before.Links != 1 {
		t.Errorf("%+v, then %+v, %v", before, after, err)
	}
	b := make([]byte, 10)
	if n, err := f.ReadAt(t.Context(), b, 0); string(b[:n]) != "text" || err != io.EOF {
		t.Errorf("%q, %v", b[:n], err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.ReadAt(ctx, b, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled read: %v", err)
	}
}

// Versions are told apart by what the system tells of a file, and the same file by its inode and
// birth.
func TestVersions(t *testing.T) {
	v := Version{Stamp: formats.Stamp{Size: 1, Modified: 2, Nanos: 3, Changed: 4, Born: 5, Inode: 6}, Dev: 7, Links: 8}
	for name, c := range map[string]struct {
		change      func(i *Info)
		same, other bool
	}{
		"nothing":  {func(*Info) {}, true, false},
		"size":     {func(i *Info) { i.Size++ }, true, false},
		"modified": {func(i *Info) { i.Modified++ }, true, false},
		"nanos":    {func(i *Info) { i.Nanos++ }, true, false},
		"changed":  {func(i *Info) { i.Changed++ }, true, false},
		"links":    {func(i *Info) { i.Links++ }, true, false},
		"inode":    {func(i *Info) { i.Inode++ }, false, true},
		"born":     {func(i *Info) { i.Born++ }, false, true},
		"device":   {func(i *Info) { i.Dev++ }, false, true},
		"type":     {func(i *Info) { i.Type = iofs.ModeDir }, false, true},
	} {
		info := Info{Version: v}
		c.change(&info)
		if v.SameFile(info) != c.same || v.otherFile(info) != c.other {
			t.Errorf("%s: same %t, other %t", name, v.SameFile(info), v.otherFile(info))
		}
	}
	// Without a birth the number of an inode says nothing: the next file may get it.
	v.Born = 0
	if v.SameFile(Info{Version: Version{Stamp: formats.Stamp{Size: 2, Inode: 6}, Dev: 7}}) || !v.SameFile(Info{Version: v}) {
		t.Error("a file without a birth is told by its inode, or is another in the same state")
	}
}

// A Folder has files and links to them. One that was replaced since is stale, one that grew is not.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "target/x", "0123456789")
	put(t, dir, "file", "01")
	for name, target := range map[string]string{"link": "target/x", "nowhere": "missing", "round": "round"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	list, err := Folder(dir).Files(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "file" || list[1].Name != "link" {
		t.Fatalf("%v, %v", list, err)
	}
	if got, err := list[1].All(t.Context()); string(got) != "0123456789" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, want := range map[string]error{"target": formats.ErrNoFile, "missing": iofs.ErrNotExist, "../x": iofs.ErrInvalid} {
		if _, err := Folder(dir).Open(t.Context(), name); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	put(t, dir, "file", "0123")
	if got, err := list[0].All(t.Context()); string(got) != "01" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	put(t, dir, "other", "xy")
	if err := os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	if got, err := list[0].All(t.Context()); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("%q, %v", got, err)
	}
}

// A reader gives the bytes of its version: what was appended later is not there, and after any
// other change it is stale.
func TestReader(t *testing.T) {
	write := func(text string) func(name string) error {
		return func(name string) error { return os.WriteFile(name, []byte(text), 0) }
	}
	for name, c := range map[string]struct {
		change func(name string) error
		stale  bool
	}{
		"nothing": {func(string) error { return nil }, false},
		"appended": {func(name string) error {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(" and more")
				f.Close()
			}
			return err
		}, false},
		"renamed":              {func(name string) error { return os.Rename(name, name+"2") }, false},
		"removed":              {os.Remove, false},
		"linked":               {func(name string) error { return os.Link(name, name+"2") }, false},
		"shortened":            {func(name string) error { return os.Truncate(name, 5) }, true},
		"rewritten":            {write("9876543210"), true},
		"rewritten and longer": {write("98765432109"), true},
		"touched":              {func(name string) error { return os.Chtimes(name, time.Unix(7, 0), time.Unix(7, 0)) }, true},
	} {
		dir, local, info := openDigits(t)
		files := NewFiles(local, nil)
		r := NewReader(files, FileKey{"file", info.Version})
		for _, part := range []struct {
			off  int64
			n    int
			want string
		}{{0, 10, "0123456789"}, {3, 4, "3456"}, {8, 10, "89"}} {
			b := make([]byte, part.n)
			if n, err := r.ReadAt(t.Context(), b, part.off); string(b[:n]) != part.want || err != nil && err != io.EOF || err == nil && n < part.n {
				t.Fatalf("%q, %v", b[:n], err)
			}
		}
		time.Sleep(5 * time.Millisecond) // a tick of the kernel's clock, of which the times of files are
		if err := c.change(filepath.Join(dir, "file")); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 20)
		n, err := r.ReadAt(t.Context(), b, 0)
		if stale := errors.Is(err, nodes.ErrStale); stale != c.stale || !stale && (string(b[:n]) != "0123456789" || err != io.EOF) {
			t.Errorf("%s: %q, %v", name, b[:n], err)
		}
		files.Close()
	}
}

// A file that grows this moment may have the times of the write and not its size yet.
func TestReaderInTheMiddleOfAWrite(t *testing.T) {
	dir, local, info := openDigits(t)
	put(t, dir, "file", "0123456789 and more")
	if err := os.Chtimes(filepath.Join(dir, "file"), time.Time{}, time.Unix(7, 0)); err != nil {
		t.Fatal(err)
	}
	for grows, want := range map[bool]error{true: io.EOF, false: nodes.ErrStale} {
		files := NewFiles(middle{local, grows}, nil)
		b := make([]byte, 20)
		if n, err := NewReader(files, FileKey{"file", info.Version}).ReadAt(t.Context(), b, 0); !errors.Is(err, want) || grows && string(b[:n]) != "0123456789" {
			t.Errorf("%q, %v, want %v", b[:n], err, want)
		}
		files.Close()
	}
}

// A middle is a tree whose files have the size of before a write until they settle, if they ever
// do.
type middle struct {
	Tree
	settles bool
}

func (m middle) Open(ctx context.Context, name string) (File, error) {
	f, err := m.Tree.Open(ctx, name)
	return &middleFile{File: f, settles: m.settles}, err
}

type middleFile struct {
	File
	settles, settled bool
}

func (f *middleFile) settle() { f.settled = f.settles }

func (f *middleFile) Info(ctx context.Context) (Info, error) {
	info, err := f.File.Info(ctx)
	if !f.settled {
		info.Size = 10
	}
	return info, err
}

// Reads outside of a version, and of what another file has replaced before the first.
func TestReaderEdges(t *testing.T) {
	_, local, info := openDigits(t)
	files := NewFiles(local, nil)
	defer files.Close()
	r := NewReader(files, FileKey{"file", info.Version})
	for off, want := range map[int64]error{-1: iofs.ErrInvalid, 10: io.EOF, 1 << 62: io.EOF} {
		if n, err := r.ReadAt(t.Context(), make([]byte, 1), off); n != 0 || !errors.Is(err, want) {
			t.Errorf("at %d: %d bytes, %v", off, n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.ReadAt(ctx, make([]byte, 1), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for name, path := range map[string]string{"another file": "file", "nothing": "gone", "below a file": "file/x", "a directory": "."} {
		version := info.Version
		if path == "file" {
			version.Inode, version.Size = version.Inode+1, 5
		}
		if _, err := NewReader(files, FileKey{path, version}).ReadAt(t.Context(), make([]byte, 1), 0); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that is held is read after its name is gone; in one second so many are held and no more.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	local := openDir(t, dir)
	files := NewFiles(local, nil)
	defer files.Close()
	var keys []FileKey
	for i := range 2*maxHolds + 1 {
		name := string(rune('A' + i))
		put(t, dir, name, "text")
		info, err := local.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, FileKey{name, info.Version})
	}
	for _, key := range keys {
		files.Hold(t.Context(), key)
	}
	if n := files.open.Len(); n < maxHolds || n > 2*maxHolds { // the second may end in between
		t.Errorf("%d files are held", n)
	}
	if err := os.Remove(filepath.Join(dir, keys[0].Path)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := NewReader(files, keys[0]).ReadAt(t.Context(), b, 0); string(b) != "text" || err != nil && err != io.EOF {
		t.Errorf("%q, %v", b, err)
	}
}

// A directory that was removed is the one that is made in its place; one that was renamed stays
// what it is, and so does one in whose place there is a link.
func TestRemoved(t *testing.T) {
	base, other := t.TempDir(), t.TempDir()
	dir := filepath.Join(base, "dir")
	put(t, dir, "sub/old", "old")
	put(t, other, "sub/other", "")
	local := openDir(t, dir)
	listed := func(name string) string {
		t.Helper()
		l, err := local.List(t.Context(), name)
		if IsGone(err) {
			return "gone"
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(namesOf(l), "|")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(name, want string) {
		t.Helper()
		if got := listed(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	must(os.RemoveAll(dir))
	want("sub", "gone")
	must(os.Symlink(other, dir))
	want("sub", "gone")
	must(os.Remove(dir))
	put(t, dir, "sub/new", "new")
	want("sub", "new")
	if f, err := local.Open(t.Context(), "sub/new"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	must(os.RemoveAll(dir))
	put(t, dir, "again", "")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if info, err := local.Stat(t.Context(), "."); err != nil || info.Links == 0 {
				t.Errorf("the directory itself: %d links, %v", info.Links, err)
			}
		})
	}
	wg.Wait()
	want(".", "again")
	must(os.Rename(dir, filepath.Join(base, "renamed")))
	put(t, dir, "beside", "")
	want(".", "again")
	if _, err := local.Stat(t.Context(), "beside"); !IsGone(err) {
		t.Errorf("a file of the directory in place of a renamed one: %v", err)
	}
}

// A directory that was closed stays closed, though another stands at its path.
func TestRemovedAndClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	put(t, dir, "old", "")
	local := openDir(t, dir)
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := local.Stat(t.Context(), "."); err == nil {
		t.Errorf("it was opened again: %+v", info)
	}
}
