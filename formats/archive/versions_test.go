package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A link is a link with a relative target that stays in the source, or leads nowhere.
func TestArchiveLinks(t *testing.T) {
	dir, root := mount(t, map[string]string{
		"d/one.rec": "RECone", "d/plain": "text", "d/seg/first.part": "1", "d/seg/second.part": "2", "d/sub/deep/x": "y",
		"a.tar": string(formatstest.Tar(t, entry{"in/a", "b"})),
	}, Options{})
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(dir, alias); err != nil {
		t.Fatal(err)
	}
	named := New(formatstest.OpenLocal(t, alias), testFormats, formatstest.NewCache(t), Options{})
	for i, link := range []struct{ name, target, want string }{
		{"l", "d/plain", ""},
		{"l.rec", "d/one.rec", ""},
		{"today.rec", "d/plain", ""},
		{"d/sub/l", "../../d/one.rec", ""},
		{"l", "d", ""},
		{"l", "d/seg", ""},
		{"d/l", "..", ""},
		{"l", ".", ""},
		{"l", "./d//sub/../plain", ""},
		{"l", "l", ""}, // ELOOP, as in the source
		{"l", "d/none", ""},
		{"l", "d/plain/none", ""},
		{"l", "d/one.rec/header.json", ""}, // leads there in the mount
		{"l", "a.tar/in/../in/a", ""},
		{"d/sub/l", "../../../d/plain", outside + "../../../d/plain"},
		{"l", "a.tar/in/../../../x", outside + "a.tar/in/../../../x"},
		{"l", "none/../../x", outside + "none/../../x"},
		{"l", "/etc/passwd", outside + "/etc/passwd"},
		{"l", "..", outside + ".."},
		{"d/sub/l", "deep/../../../../etc", outside + "deep/../../../../etc"},
		{"l", dir, "."},
		{"l", dir + "/d/plain", "d/plain"},
		{"d/sub/l", "//" + dir + "/./d/plain", "../../d/plain"},
		{"d/sub/l", dir, "../.."},
		{"l", dir + "x/d", outside + dir + "x/d"},
		{"l", dir + "/../x", outside + dir + "/../x"},
		{"l", alias + "/d", outside + alias + "/d"},
		{"l", "x/" + strings.Repeat("y", 5000), ""},
	} {
		name := filepath.Join(dir, link.name)
		if err := os.Symlink(link.target, name); err != nil {
			continue // the system has no such target
		}
		e, err := nodes.Lookup(t.Context(), root, link.name)
		if want := cmp.Or(link.want, link.target); err != nil || e.Link != want {
			t.Errorf("%d: %s -> %s is %q, %v, want %q", i, link.name, link.target, e.Link, err, want)
		}
		nodestest.Check(t, root)
		if e, err := nodes.Lookup(t.Context(), named, link.name); link.target == alias+"/d" && e.Link != "d" {
			t.Errorf("with the source called %s, %s is %q, %v", alias, link.target, e.Link, err)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// A link that leaves the source leads nowhere also where something has the name that its target
// would begin with: the kernel would go through that, and up from there.
func TestArchiveLinksThroughTheirWarning(t *testing.T) {
	entries := []entry{
		{outside + "../x", "1"},
		{outside + outside + "../x", "2"},
		{outside, "->d"},
		{"d/x", "3"},
		{"away", "->../../../../x"},
		{"absolute", "->/../../../x"},
		{"long", "->../" + strings.Repeat("../", 2000)},
	}
	files := map[string]string{"a.tar": string(formatstest.Tar(t, entries...))}
	for _, e := range entries[:6] {
		files[e[0]] = e[1]
	}
	_, root := mount(t, files, Options{})
	got := show(t, root)
	for _, dir := range []string{"", "a.tar/"} {
		for name, want := range map[string]string{
			"away": strings.Repeat(outside, 3) + "../../../../x", "absolute": outside + outside + "/../../../x",
		} {
			if got[dir+name] != "->"+want {
				t.Errorf("%s%s is %s, want %s", dir, name, got[dir+name], want)
			}
		}
	}
	if long := got["a.tar/long"]; len(long) != len("->")+nodes.MaxLink || !strings.HasPrefix(long, "->"+strings.Repeat(outside, 3)) {
		t.Errorf("the long one has %d bytes and is %.100s", len(long), long)
	}
}

// What a name leads to by other links decides whether it stays in the source.
func TestArchiveLinksOfLinks(t *testing.T) {
	_, root := mount(t, map[string]string{
		"a/b/c/x": "y",
		"deep":    "->a/b/c", "stays": "->deep/../../x", "top": "->.", "a/up": "->../top",
		"leaves": "->a/up/../x", "loop": "->pool/x", "pool": "->loop", "away": "->/", "via": "->away/etc",
	}, Options{})
	got := show(t, root)
	for name, want := range map[string]string{
		"stays": "->deep/../../x", "leaves": "->" + outside + "a/up/../x", "loop": "->pool/x",
		"away": "->" + outside + "/", "via": "->" + outside + "away/etc",
	} {
		if got[name] != want {
			t.Errorf("%q is %q, want %q", name, got[name], want)
		}
	}
}

// A directory that was looked up and is then replaced by a link shows nothing of
// what the link leads to.
func TestArchiveDirectoryBecomesLink(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux opens without following links")
	}
	dir, root := mount(t, map[string]string{"d/x": "open", "locked/x": "closed", "locked/y": ""}, Options{})
	d, err := nodes.Lookup(t.Context(), root, "d")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "d"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("locked", filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, d.Dir, "x"); err == nil {
		t.Errorf("the file has %q", got)
	}
	if s, err := d.Dir.(nodes.Volatile).Snapshot(t.Context()); err == nil {
		n, _ := s.Len(t.Context())
		t.Errorf("%d names are listed", n)
	}
}

func TestArchiveHidesSpecialFiles(t *testing.T) {
	dir, root := mount(t, map[string]string{"a": "text"}, Options{Sniff: true})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.rec"), 0o600); err != nil {
		t.Skip("no fifos: ", err)
	}
	wantTree(t, show(t, root), map[string]string{"./": "", "a": "text"})
	if _, err := nodes.Lookup(t.Context(), root, "fifo.rec"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a fifo: %v", err)
	}
}

// A file that is rewritten in place with its size and time is another one; one
// that is only linked, renamed or removed is not.
func TestArchiveRewrittenUnseen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a file was changed last")
	}
	dir, root := mount(t, map[string]string{"a": "first", "b": "first", "a.rec": "RECfirst"}, Options{})
	open := func(name string) nodes.File {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		return e.File
	}
	content := func(f nodes.File) string {
		b, err := nodes.ReadAll(t.Context(), f)
		if errors.Is(err, nodes.ErrStale) {
			return "stale"
		}
		return fmt.Sprint(string(b), err)
	}
	oldA, oldB, oldBody := open("a"), open("b"), open("a.rec/body")
	for _, f := range []nodes.File{oldA, oldBody} {
		if got := content(f); got != "first<nil>" {
			t.Fatal(got)
		}
	}
	time.Sleep(20 * time.Millisecond)
	for name, text := range map[string]string{"a": "other", "b": "other", "a.rec": "RECother"} {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, text)
		if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	for what, f := range map[string]nodes.File{"read": oldA, "unread": oldB, "decoded": oldBody} {
		if got := content(f); got != "stale" && (what != "decoded" || got != "first<nil>") {
			t.Errorf("the old view of a file that was %s: %s", what, got)
		}
	}
	for _, name := range []string{"a", "b", "a.rec/body"} {
		if got := content(open(name)); got != "other<nil>" {
			t.Errorf("the new view of %s: %s", name, got)
		}
	}

	same := open("a")
	if got := content(same); got != "other<nil>" {
		t.Fatal(got)
	}
	for _, change := range []func() error{
		func() error { return os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "link")) },
		func() error { return os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c")) },
		func() error { return os.Remove(filepath.Join(dir, "c")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := content(same); got != "other<nil>" {
			t.Errorf("a file that was linked, then renamed, then removed: %s", got)
		}
	}
}

// A change of mode looks like a rewrite whose time was set back and whose mode was changed: neither
// is read on from.
func TestModeChanged(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the change time is known on Linux alone")
	}
	dir, root := mount(t, map[string]string{"kept": "first", "rewritten": "first"}, Options{})
	time.Sleep(20 * time.Millisecond) // so that the change time differs
	for name, want := range map[string]string{"kept": "first", "rewritten": "other"} {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		content, err := e.File.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 2)
		if _, err := content.ReadAt(t.Context(), b, 0); err != nil || string(b) != "fi" {
			t.Fatalf("%s: %q, %v", name, b, err)
		}
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if name == "rewritten" {
			write(t, dir, name, want)
		}
		if err := errors.Join(os.Chtimes(file, info.ModTime(), info.ModTime()), os.Chmod(file, 0o400)); err != nil {
			t.Fatal(err)
		}
		if _, err := content.ReadAt(t.Context(), b, 2); !errors.Is(err, nodes.ErrStale) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		if got, err := read(t, root, name); got != want || err != nil {
			t.Errorf("%s by its name: %q, %v", name, got, err)
		}
	}
}

func TestArchiveVersions(t *testing.T) {
	dir, root := mount(t, map[string]string{"a.rec": "RECone", "plain": "12345", "seg/first.part": "1"}, Options{})
	at := func(name string) nodes.Entry {
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	for _, name := range []string{"a.rec", "seg"} {
		if at(name).Dir != at(name).Dir {
			t.Errorf("%s: two look-ups of one version differ", name)
		}
	}
	if at("plain").File != at("plain").File {
		t.Error("two look-ups of one version of a plain file differ")
	}

	old, oldPlain, oldSeg := at("a.rec"), at("plain"), at("seg")
	read := func(f nodes.File) string {
		b, err := nodes.ReadAll(t.Context(), f)
		if err != nil {
			return "error: " + err.Error()
		}
		return string(b)
	}
	body := func(e nodes.Entry) nodes.File {
		e, err := nodes.Child(t.Context(), e.Dir, "body")
		if err != nil {
			t.Fatal(err)
		}
		return e.File
	}
	oldBody := body(old)
	if got := read(oldBody); got != "one" {
		t.Fatal(got)
	}

	// Grown: the old view stays, a look-up sees the new.
	formatstest.AppendTo(t, filepath.Join(dir, "a.rec"), "more")
	formatstest.AppendTo(t, filepath.Join(dir, "plain"), "678")
	formatstest.AppendTo(t, filepath.Join(dir, "seg/first.part"), "2")
	if got := read(oldBody); got != "one" {
		t.Errorf("the old view of a grown file: %q", got)
	}
	if got := read(oldPlain.File); got != "12345" {
		t.Errorf("the old view of a grown plain file: %q", got)
	}
	if got := read(body(at("a.rec"))); got != "onemore" {
		t.Errorf("the new view of a grown file: %q", got)
	}
	if got := read(body(at("seg"))); got != "12" {
		t.Errorf("the new view of a grown directory: %q", got)
	}
	if at("seg").Dir == oldSeg.Dir || at("a.rec").Dir == old.Dir || at("plain").File == oldPlain.File {
		t.Error("versions that differ are equal")
	}

	// Rewritten in place, longer: never the new bytes under the old name.
	time.Sleep(20 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(dir, "a.rec"), []byte("REC a longer and other text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(oldBody); !strings.Contains(got, nodes.ErrStale.Error()) {
		t.Errorf("the old view of a rewritten file: %q", got)
	}
	// Shortened.
	grown := body(at("a.rec"))
	if err := os.Truncate(filepath.Join(dir, "a.rec"), 5); err != nil {
		t.Fatal(err)
	}
	if got := read(grown); !strings.Contains(got, nodes.ErrStale.Error()) {
		t.Errorf("the old view of a shortened file: %q", got)
	}
	// Replaced by another file: what is open stays.
	short := body(at("a.rec"))
	if got := read(short); got != "on" && got != " a" {
		t.Errorf("the shortened file: %q", got)
	}
	write(t, dir, "new", "RECreplaced")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.rec")); err != nil {
		t.Fatal(err)
	}
	if got := read(short); got != " a" {
		t.Errorf("the old view of a replaced file: %q", got)
	}
	if got := read(body(at("a.rec"))); got != "replaced" {
		t.Errorf("the new view of a replaced file: %q", got)
	}
	// Gone.
	if err := os.Remove(filepath.Join(dir, "a.rec")); err != nil {
		t.Fatal(err)
	}
	if _, err := nodes.Lookup(t.Context(), root, "a.rec"); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
}

func TestReplacedAfterIdle(t *testing.T) {
	dir, root := mount(t, map[string]string{"plain": "12345"}, Options{})
	e, err := nodes.Lookup(t.Context(), root, "plain")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "plain"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if b, err := nodes.ReadAll(t.Context(), e.File); string(b) != "12345" || err != nil {
		t.Errorf("a file that was looked up and then replaced: %q, %v", b, err)
	}
	root.(rootDir).Target.a.openFiles.Close()
	if _, err := nodes.ReadAll(t.Context(), e.File); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("a file that went away: %v", err)
	}
	write(t, dir, "plain", "54321")
	if _, err := nodes.ReadAll(t.Context(), e.File); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("another file in its place: %v", err)
	}
}

// A file is gone, not unreadable, where its directory became a file.
func TestDirectoryBecameFile(t *testing.T) {
	dir, root := mount(t, map[string]string{"sub/plain": "12345"}, Options{})
	e, err := nodes.Lookup(t.Context(), root, "sub/plain")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "sub", "a file")
	root.(rootDir).Target.a.openFiles.Close()
	if b, err := nodes.ReadAll(t.Context(), e.File); !errors.Is(err, nodes.ErrStale) {
		t.Errorf("%q, %v, want ErrStale", b, err)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	dir, root := mount(t, map[string]string{"a.rec": "RECx", "d/x": "y"}, Options{})
	for _, name := range []string{"a.rec", "d"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, name), 0o700)
		e, err := nodes.Lookup(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Dir.Len(t.Context()); !errors.Is(err, iofs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWarnsOncePerVersion(t *testing.T) {
	var out strings.Builder
	dir, root := mount(t, map[string]string{"bad.rec": "RECBAD"}, Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
	look := func() {
		root.(rootDir).Target.a.open(context.Background(), recordingOf(t, root, "bad.rec").key)
	}
	look()
	look()
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, out.String())
	}
	formatstest.AppendTo(t, filepath.Join(dir, "bad.rec"), "x")
	look()
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, out.String())
	}
}

func recordingOf(t *testing.T, root nodes.Dir, name string) recording {
	t.Helper()
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	return e.Dir.(recording)
}
