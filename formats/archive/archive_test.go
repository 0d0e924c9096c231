package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// rec is a format for tests: "REC" and the bytes that its file body shows.
// "RECBAD" does not open, "RECPANIC" panics.
var rec = formatstest.Plain(formats.Format{
	Name:       "rec",
	Extensions: []string{".rec"},
	Match:      func(head []byte) bool { return bytes.HasPrefix(head, []byte("REC")) },
}, openRec, recTree)

// lump is a format whose extension others use, too.
var lump = formatstest.Plain(formats.Format{
	Name:       "lump",
	Extensions: []string{".lump"},
	Match:      func(head []byte) bool { return bytes.HasPrefix(head, []byte("LUMP")) },
	MatchNamed: func(head []byte) bool { return bytes.HasPrefix(head, []byte("LUMP")) },
}, func(context.Context, formats.Input) error { return nil }, func(in formats.Input, _ *cache.Cache) nodes.Dir { return nodes.List(in.RawEntry()) })

// parts is a format of directories. One whose first part is of somebody else
// is a recording only if it has a second.
var parts = formatstest.Plain(formats.Format{
	Name: "parts",
	Segments: &formats.Segments{File: "first.part", Match: func(head []byte, names iter.Seq[string]) bool {
		return !bytes.HasPrefix(head, []byte("OTHER")) || slices.Contains(slices.Collect(names), "second.part")
	}},
}, func(ctx context.Context, in formats.Input) error {
	b, err := firstPart(ctx, in)
	if err == nil && string(b) == "BAD" {
		err = formats.Corrupt("parts", 2, "bad part")
	}
	return err
}, func(in formats.Input, _ *cache.Cache) nodes.Dir {
	return nodes.List(nodes.Entry{Name: "body", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
		return firstPart(ctx, in)
	})})
})

func firstPart(ctx context.Context, in formats.Input) ([]byte, error) {
	f, err := in.Files.Open(ctx, "first.part")
	if err != nil {
		return nil, err
	}
	return f.All(ctx)
}

func openRec(ctx context.Context, in formats.Input) error {
	head := make([]byte, 8)
	n, err := in.ReadAt(ctx, head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("RECPANIC")):
		panic("as asked")
	case bytes.HasPrefix(head, []byte("RECBAD")):
		return formats.Corrupt("rec", 3, "bad as\nasked")
	case !bytes.HasPrefix(head, []byte("REC")):
		return formats.Corrupt("rec", 0, "no magic")
	}
	return nil
}

func recTree(in formats.Input, _ *cache.Cache) nodes.Dir {
	return nodes.List(
		nodes.Entry{Name: "body", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
			size, err := in.Length(ctx)
			if err != nil {
				return nil, err
			}
			return nodes.ReadAll(ctx, nodes.Section(in, 3, size-3))
		})},
		in.RawEntry(),
	)
}

var testFormats = []formats.Format{rec, lump, parts}

// mount returns the archive of a new directory with the given files; names
// that end in / are directories, contents that begin with -> links.
func mount(t testing.TB, files map[string]string, opt Options) (dir string, root nodes.Dir) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		write(t, dir, name, content)
	}
	return dir, New(formatstest.OpenLocal(t, dir), testFormats, formatstest.NewCache(t), opt)
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, name) + strings.Repeat("/", strings.Count(name, "/")-strings.Count(strings.TrimSuffix(name, "/"), "/"))
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	target, link := strings.CutPrefix(content, "->")
	switch {
	case err != nil || strings.HasSuffix(name, "/"):
	case link:
		err = os.Symlink(target, name)
	default:
		err = os.WriteFile(name, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// show returns everything below root, files with their content.
func show(t testing.TB, root nodes.Dir) map[string]string {
	t.Helper()
	return showAs(t, root, func(ctx context.Context, f nodes.File) (string, error) {
		b, err := nodes.ReadAll(ctx, f)
		return string(b), err
	})
}

// showSums is show with the size and the sum of a file in place of its content.
func showSums(t testing.TB, root nodes.Dir) map[string]string {
	t.Helper()
	buf := make([]byte, 1<<20)
	return showAs(t, root, func(ctx context.Context, f nodes.File) (string, error) {
		c, err := f.Open(ctx)
		if err != nil {
			return "", err
		}
		defer nodes.CloseContent(c)
		sum := xxhash.New()
		n, err := io.CopyBuffer(sum, nodes.Reader(ctx, c), buf)
		return fmt.Sprintf("%d bytes, sum %x", n, sum.Sum64()), err
	})
}

func showAs(t testing.TB, root nodes.Dir, content func(context.Context, nodes.File) (string, error)) map[string]string {
	t.Helper()
	ctx := context.Background()
	found := map[string]string{}
	err := nodes.Walk(ctx, root, func(name string, e nodes.Entry, err error) error {
		switch {
		case err != nil:
			found[name] = "error: " + err.Error()
		case e.Link != "":
			found[name] = "->" + e.Link
		case e.File != nil:
			text, err := content(ctx, e.File)
			if err != nil {
				text = "error: " + err.Error()
			}
			found[name] = text
		default:
			found[name+"/"] = ""
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t testing.TB, root nodes.Dir, name string) (string, error) {
	t.Helper()
	ctx := context.Background()
	e, err := nodes.Lookup(ctx, root, name)
	if err != nil {
		return "", err
	}
	if e.File == nil {
		return "", errors.New("not a file")
	}
	b, err := nodes.ReadAll(ctx, e.File)
	return string(b), err
}

func wantTree(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if g, ok := got[name]; !ok {
			t.Errorf("%q is missing", name)
		} else if g != content {
			t.Errorf("%q is %q, want %q", name, g, content)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%q should not be there", name)
		}
	}
}

func TestArchiveMirrors(t *testing.T) {
	_, root := mount(t, map[string]string{
		"empty/":             "",
		"a/b/one.rec":        "RECone",
		"a/readme":           "text",
		"bad.rec":            "RECBAD",
		"panic.rec":          "RECPANIC",
		"x.lump":             "LUMPx",
		"y.lump":             "other",
		"sniffed":            "RECx",
		".rec":               "RECx",
		"seg/first.part":     "1",
		"seg/deep/any.rec":   "RECx",
		"badseg/first.part":  "BAD",
		"badseg/second.part": "2",
		"other/first.part":   "OTHER",
		"other/deep/any.rec": "RECx",
		"rest/first.part":    "OTHER",
		"rest/second.part":   "2",
		"\xff\xfe.rec":       "RECbytes",
		"\xff/plain\xff":     "bytes",
	}, Options{})
	nodestest.Check(t, root)
	wantTree(t, show(t, root), map[string]string{
		"./": "", "empty/": "", "a/": "", "a/b/": "",
		"a/b/one.rec/": "", "a/b/one.rec/body": "one", "a/b/one.rec/raw": "RECone",
		"a/readme": "text",
		"bad.rec/": "", "bad.rec/raw": "RECBAD", "bad.rec/error.txt": "format: rec\noffset: 3\nreason: bad as asked\n",
		"panic.rec/": "", "panic.rec/raw": "RECPANIC", "panic.rec/error.txt": "format: rec\noffset: 0\nreason: internal error: as asked\n",
		"x.lump/": "", "x.lump/raw": "LUMPx", "y.lump": "other",
		"sniffed": "RECx", ".rec": "RECx",
		"seg/": "", "seg/body": "1",
		"badseg/": "", "badseg/raw/": "", "badseg/raw/first.part": "BAD", "badseg/raw/second.part": "2",
		"badseg/error.txt": "format: parts\noffset: 2\nreason: bad part\n",
		"other/":           "", "other/first.part": "OTHER", "other/deep/": "",
		"other/deep/any.rec/": "", "other/deep/any.rec/body": "x", "other/deep/any.rec/raw": "RECx",
		"rest/": "", "rest/body": "OTHER",
		"\xff\xfe.rec/": "", "\xff\xfe.rec/body": "bytes", "\xff\xfe.rec/raw": "RECbytes",
		"\xff/": "", "\xff/plain\xff": "bytes",
	})
}

func TestArchiveSniffs(t *testing.T) {
	_, root := mount(t, map[string]string{"a": "RECx", "b.lump": "RECy", "c": "LUMP", "d": "RE", "e": ""}, Options{Sniff: true})
	wantTree(t, show(t, root), map[string]string{
		"./": "", "a/": "", "a/body": "x", "a/raw": "RECx", "b.lump/": "", "b.lump/body": "y", "b.lump/raw": "RECy",
		"c/": "", "c/raw": "LUMP", "d": "RE", "e": "",
	})
}

// A refusing is a tree whose files cannot be opened while it is told so.
type refusing struct {
	source.Tree
	on atomic.Bool
}

func (r *refusing) Open(ctx context.Context, name string) (source.File, error) {
	if r.on.Load() {
		return nil, errInjected
	}
	return r.Tree.Open(ctx, name)
}

func TestArchiveFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sub/one", "RECone")
	write(t, dir, "sub/two", "nothing")
	fsys := &refusing{Tree: formatstest.OpenLocal(t, dir)}
	root, err := New(fsys, testFormats, formatstest.NewCache(t), Options{}).File(t.Context(), "sub/one")
	if err != nil {
		t.Fatal(err)
	}
	wantTree(t, show(t, root), map[string]string{"./": "", "body": "one", "raw": "RECone"})
	write(t, dir, "sub/one", "RECother")
	wantTree(t, show(t, root), map[string]string{"./": "", "body": "other", "raw": "RECother"})
	write(t, dir, "sub/one", "RECmore")
	fsys.on.Store(true)
	if _, err := nodes.Lookup(t.Context(), root, "body"); !errors.Is(err, errInjected) || errors.Is(err, nodes.ErrStale) {
		t.Errorf("a file that cannot be read at present: %v", err)
	}
	fsys.on.Store(false)
	wantTree(t, show(t, root), map[string]string{"./": "", "body": "more", "raw": "RECmore"})

	if _, err := New(fsys, testFormats, formatstest.NewCache(t), Options{}).File(t.Context(), "sub/two"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a file that is no recording: %v", err)
	}
}

// What a volatile directory gives is equal as long as it is the same version, also when the tree
// behind it was put out of the cache meanwhile.
func TestArchiveFileKeepsItsValues(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one", "RECone")
	fsys := formatstest.OpenLocal(t, dir)
	nested := rec
	nested.Tree = func(rec formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		inner := nodes.List(nodes.Entry{Name: "f", File: nodes.Bytes([]byte("inner"))})
		return nodes.List(nodes.Entry{Name: "d", Dir: inner}, rec.RawEntry()), nil
	}
	c := cache.New(0, nil)
	t.Cleanup(c.Close)
	root, err := New(fsys, []formats.Format{nested}, c, Options{}).File(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	look := func(name string) nodes.Entry {
		e, err := nodes.Child(t.Context(), root, name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	wantTree(t, show(t, root), map[string]string{"./": "", "d/": "", "d/f": "inner", "raw": "RECone"})
	before := []nodes.Entry{look("d"), look("raw")}
	if again := []nodes.Entry{look("d"), look("raw")}; again[0].Dir != before[0].Dir || again[1].File != before[1].File {
		t.Error("the same version has other values at another look-up")
	}
	write(t, dir, "one", "RECanother")
	if after := []nodes.Entry{look("d"), look("raw")}; after[0].Dir == before[0].Dir || after[1].File == before[1].File {
		t.Error("another version has the same values")
	}
}

// A directory of a recording is equal at each look-up, and who holds it keeps nothing of the tree
// that the cache gave up.
func TestHeldDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "one.rec", "RECone")
	nested, trees := rec, []weak.Pointer[[]byte]{}
	nested.Tree = func(rec formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		content := []byte("inner")
		trees = append(trees, weak.Make(&content))
		inner := nodes.List(nodes.Entry{Name: "f", File: nodes.Func(func(context.Context) ([]byte, error) { return content, nil })})
		deep := nodes.List(nodes.Entry{Name: "e", Dir: nodes.List(nodes.Entry{Name: "deeper", Dir: inner})})
		return nodes.List(
			nodes.Entry{Name: "c", Dir: deep}, nodes.Entry{Name: "d", Dir: inner}, rec.RawEntry(),
			nodes.Entry{Name: "v", Dir: volatileOf{nodes.List(nodes.Entry{Name: "deep", Dir: inner})}},
		), nil
	}
	c := cache.New(0, nil)
	t.Cleanup(c.Close)
	root := New(formatstest.OpenLocal(t, dir), []formats.Format{nested}, c, Options{})
	var held []nodes.Entry
	for _, name := range []string{"d", "c/e/deeper", "v/deep"} {
		for range 2 {
			e, err := nodes.Lookup(t.Context(), root, "one.rec/"+name)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, e)
		}
		last := held[len(held)-2:]
		if last[0].Dir != last[1].Dir {
			t.Errorf("%s: the same version has other values at another look-up", name)
		}
		if text, err := read(t, last[0].Dir, "f"); text != "inner" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, tree := range trees {
		for tries := 0; tree.Value() != nil; tries++ {
			if runtime.GC(); tries == 100 {
				t.Fatal("the directory keeps a tree")
			}
		}
	}
	runtime.KeepAlive(held)
}

// A volatileOf is a directory whose entries are looked up by name.
type volatileOf struct{ nodes.Dir }

func (d volatileOf) Snapshot(context.Context) (nodes.Dir, error) { return d.Dir, nil }

func (d volatileOf) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	return nodes.Child(ctx, d.Dir, name)
}

// A segment may lie elsewhere in the source, and be a link.
func TestLinkedSegment(t *testing.T) {
	dir, root := mount(t, map[string]string{
		"seg/first.part":    "->../store/one",
		"seg/second.part":   "->/etc/hostname",
		"seg/third.part":    "->nowhere",
		"other/first.part":  "->../other/second.part",
		"other/second.part": "2",
		"store/one":         "1",
	}, Options{})
	for want := range strings.SplitSeq("1 another", " ") {
		write(t, dir, "store/one", want)
		for name, want := range map[string]string{"seg/body": want, "other/body": "2"} {
			if got, err := read(t, root, name); err != nil || got != want {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}

func TestArchiveOfOneInSegments(t *testing.T) {
	dir := t.TempDir()
	named := parts
	named.Tree = func(rec formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
		return nodes.List(nodes.Entry{Name: rec.Name, File: nodes.Bytes(nil)}), nil
	}
	write(t, dir, "run/first.part", "1")
	fsys := formatstest.OpenLocal(t, filepath.Join(dir, "run"))
	root := New(fsys, []formats.Format{named}, formatstest.NewCache(t), Options{})
	wantTree(t, show(t, root), map[string]string{"./": "", "run": ""})
}
