package recordings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/recordings"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A text is the head and the index of a format for tests: one byte that says what it is, and lines.
type text string

func (x text) Append(b []byte) []byte { return append(b, x...) }
func (x text) Memory() int64          { return int64(len(x)) }
func (x text) Reach(string) int64     { return int64(len(x)) + 1 }

// lines is a format: its index is what follows the first byte. passes hears where each pass begins.
func lines(passes *[]int64) formats.Format {
	return formats.Format{
		Name: "lines",
		Open: func(ctx context.Context, in formats.Input) (formats.Head, error) {
			b := make([]byte, 1)
			if _, err := in.ReadAt(ctx, b, 0); err != nil && err != io.EOF {
				return nil, err
			}
			if b[0] != 'L' {
				return nil, formats.Corrupt("lines", 0, "no L")
			}
			return text(b), nil
		},
		ReadHead:  func(_ context.Context, _ formats.Input, b []byte) (formats.Head, error) { return text(b), nil },
		ReadIndex: func(_ formats.Input, _ formats.Head, b []byte) (formats.Index, error) { return text(b), nil },
		Scan: func(ctx context.Context, in formats.Input, _ formats.Head, earlier formats.Index) (formats.Index, error) {
			from := int64(1)
			if earlier != nil {
				from = earlier.Reach("")
			}
			*passes = append(*passes, from)
			b := make([]byte, in.Size-from)
			if _, err := in.ReadAt(ctx, b, from); err != nil && err != io.EOF {
				return nil, err
			}
			if earlier != nil {
				b = append(earlier.Append(nil), b...)
			}
			return text(b), nil
		},
		Tree: func(rec formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return nodes.List(nodes.Entry{Name: "index", File: nodes.Func(func(ctx context.Context) ([]byte, error) {
				x, err := rec.Index(ctx)
				if err != nil {
					return nil, err
				}
				damage, err := rec.Damage(ctx)
				if damage != nil {
					return x.Append([]byte(damage.Message + ": ")), err
				}
				return x.Append(nil), err
			})}), nil
		},
	}
}

// What is kept of a recording is used as far as its bytes are still the same.
func TestVersions(t *testing.T) {
	stamp := func(n int64) formats.Stamp { return formats.Stamp{Size: n, Changed: n} }
	damage := &formats.Problem{Message: "hurt"}
	for _, c := range []struct {
		name   string
		bytes  string
		stamp  formats.Stamp
		hurt   *formats.Problem
		index  string
		passes []int64
		unread bool // no byte is read, and the stream is not opened
	}{
		{"same", "Lab", stamp(3), nil, "hurt: ab", nil, true},
		{"touched", "Lab", stamp(30), nil, "ab", nil, false},
		{"grown", "Labc", stamp(4), damage, "hurt: abc", []int64{3}, false},
		{"other", "Lxbc", stamp(4), nil, "xbc", []int64{1}, false},
		{"shorter", "La", stamp(2), nil, "a", []int64{1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			shelf := new(nodestest.Shelf)
			index(t, shelf, "Lab", stamp(3), damage, new([]int64))
			var passes []int64
			got, reads := index(t, shelf, c.bytes, c.stamp, c.hurt, &passes)
			if got != c.index || c.unread != (reads == 0) || len(passes) != len(c.passes) || len(passes) > 0 && passes[0] != c.passes[0] {
				t.Errorf("index %q, passes from %v, %d reads", got, passes, reads)
			}
			if again, reads := index(t, shelf, c.bytes, c.stamp, nil, new([]int64)); again != got || reads != 0 {
				t.Errorf("again: %q, %d reads", again, reads)
			}
		})
	}
}

// index returns the file index of a compressed recording with these bytes, and how often they were
// read or opened.
func index(t *testing.T, shelf *nodestest.Shelf, b string, stamp formats.Stamp, damage *formats.Problem, passes *[]int64) (string, int) {
	t.Helper()
	c := cache.New(1<<20, shelf)
	defer c.Close()
	format := lines(passes)
	in := formatstest.BytesInput("x", []byte(b), time.Unix(1, 0))
	reader := &nodestest.Counted{ReaderAt: in.ReaderAt}
	in.ReaderAt, in.Stamp, in.Size = reader, stamp, formats.UnknownSize
	formatstest.Keep(&in, shelf)
	src := recordings.Source{
		Format: &format, Input: in,
		Open: func(_ context.Context, in *formats.Input) error {
			reader.Reads.Add(1)
			in.Size = int64(len(b))
			return nil
		},
		Damage: func(context.Context) (*formats.Problem, error) { return damage, nil },
	}
	o, err := recordings.OpenOne(t.Context(), src, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), o.Dir, "index")
	if err != nil {
		t.Fatal(err)
	}
	got, err := nodes.ReadAll(t.Context(), e.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(got), int(reader.Reads.Load())
}

// A parts is the index of a directory: its files end to end, and how long each is.
type parts struct {
	all  text
	ends map[string]int64
}

func (x *parts) Append(b []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(x.ends)) {
		b = fmt.Appendf(b, "%s %d\n", name, x.ends[name])
	}
	return append(append(b, '\n'), x.all...)
}
func (x *parts) Memory() int64           { return 1 }
func (x *parts) Reach(name string) int64 { return x.ends[name] }

// inFiles makes a format of directories of one of files: each pass reads the new bytes of all files
// in turn, but those of "note".
func inFiles(f formats.Format, passes *[]int64) formats.Format {
	f.Open = func(context.Context, formats.Input) (formats.Head, error) { return text("L"), nil }
	f.ReadIndex = func(_ formats.Input, _ formats.Head, b []byte) (formats.Index, error) {
		ends, all, _ := strings.Cut(string(b), "\n\n")
		x := &parts{text(all), map[string]int64{}}
		for line := range strings.Lines(ends) {
			var name string
			var end int64
			if _, err := fmt.Sscanf(line, "%s %d", &name, &end); err != nil {
				return nil, err
			}
			x.ends[name] = end
		}
		return x, nil
	}
	f.Scan = func(ctx context.Context, in formats.Input, _ formats.Head, earlier formats.Index) (formats.Index, error) {
		x := &parts{ends: map[string]int64{}}
		if earlier != nil {
			x = earlier.(*parts)
		}
		for _, file := range in.Files {
			if file.Name == "note" {
				continue
			}
			*passes = append(*passes, x.ends[file.Name])
			b := make([]byte, file.Stamp.Size-x.ends[file.Name])
			if _, err := file.ReadAt(ctx, b, x.ends[file.Name]); err != nil && err != io.EOF {
				return nil, err
			}
			x.all += text(b)
			x.ends[file.Name] = file.Stamp.Size
		}
		return x, nil
	}
	return f
}

// The index of a directory goes on where each of its files has grown.
func TestDirectory(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		index  string
		passes []int64
	}{
		{"same", map[string]string{"a": "aa", "b": "b", "note": "x"}, "aab", []int64{2, 1}},
		{"grown", map[string]string{"a": "aaA", "b": "bB", "note": "y"}, "aabAB", []int64{2, 1}},
		{"one more", map[string]string{"a": "aa", "b": "b", "c": "c"}, "aabc", []int64{2, 1, 0}},
		{"other", map[string]string{"a": "aa", "b": "c"}, "aac", []int64{0, 0}},
		{"one less", map[string]string{"b": "b"}, "b", []int64{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			shelf := new(nodestest.Shelf)
			indexOfDir(t, shelf, map[string]string{"a": "aa", "b": "b", "note": "x"}, 1, new([]int64))
			var passes []int64
			if got := indexOfDir(t, shelf, c.files, 2, &passes); !strings.HasSuffix(got, "\n\n"+c.index) || !slices.Equal(passes, c.passes) {
				t.Errorf("index %q, passes from %v", got, passes)
			}
			var again []int64
			if got := indexOfDir(t, shelf, c.files, 2, &again); !strings.HasSuffix(got, "\n\n"+c.index) || again != nil {
				t.Errorf("again: index %q, passes from %v", got, again)
			}
		})
	}
}

func indexOfDir(t *testing.T, shelf *nodestest.Shelf, files map[string]string, changed int64, passes *[]int64) string {
	t.Helper()
	c := cache.New(1<<20, shelf)
	defer c.Close()
	fsys := fstest.MapFS{}
	for name, content := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(content)}
	}
	format := inFiles(lines(new([]int64)), passes)
	in := formats.Input{Name: "d", Files: formatstest.Files(fsys), Stamp: formats.Stamp{Changed: changed}}
	formatstest.Keep(&in, shelf)
	o, err := recordings.OpenOne(t.Context(), recordings.Source{Format: &format, Input: in}, c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	x, err := o.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Append(nil))
}

func TestOpenFails(t *testing.T) {
	c := cache.New(1<<20, nil)
	defer c.Close()
	format := lines(new([]int64))
	failed := errors.New("the disk is gone")
	var log bytes.Buffer
	for name, c2 := range map[string]struct {
		src  recordings.Source
		want func(error) bool
	}{
		"damaged": {
			recordings.Source{Format: &format, Input: formatstest.BytesInput("x", []byte("X"), time.Time{})},
			func(err error) bool { return errors.Is(err, formats.ErrCorrupt) },
		},
		"unread": {
			recordings.Source{
				Format: &format, Input: formatstest.BytesInput("x", []byte("X"), time.Time{}), Failure: func() error { return failed },
			},
			func(err error) bool {
				unread := (*formats.UnreadError)(nil)
				return errors.As(err, &unread) && unread.Err == failed
			},
		},
		"panic": {
			recordings.Source{
				Format: &formats.Format{Name: "p", Open: func(context.Context, formats.Input) (formats.Head, error) { panic("oops") }},
			},
			func(err error) bool { return err != nil && bytes.Contains(log.Bytes(), []byte("oops")) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := recordings.OpenOne(t.Context(), c2.src, c, slog.New(slog.NewTextHandler(&log, nil)))
			if o != nil || !c2.want(err) {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}

// Of a recording beside which something else lies by now there is another index, in memory and on
// disk; the earlier tree is stale.
func TestBeside(t *testing.T) {
	disk := new(nodestest.Shelf)
	c := cache.New(0, disk) // remembers nothing
	defer c.Close()
	beside, passes := "one", []int64(nil)
	format := lines(&passes)
	format.Beside = &formats.Beside{Sum: func(formats.Head) string { return beside }}
	in := formatstest.BytesInput("x", []byte("Lab"), time.Unix(1, 0))
	in.Stamp = formats.Stamp{Size: 3, Changed: 3}
	formatstest.Keep(&in, disk)
	store := recordings.NewStore(c, slog.New(slog.DiscardHandler), func(int) recordings.Source {
		return recordings.Source{Format: &format, Input: in}
	})
	open := func() *recordings.Opened {
		o, err := store.Get(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	var earlier *recordings.Opened
	for i, c := range []struct {
		beside string
		passes int
	}{{"one", 1}, {"one", 1}, {"two", 2}, {"two", 2}, {"one", 3}} {
		beside = c.beside
		o := open()
		if _, err := o.Index(t.Context()); err != nil || len(passes) != c.passes {
			t.Errorf("look %d: %d passes, %v", i, len(passes), err)
		}
		if i == 2 {
			if _, err := earlier.Index(t.Context()); !errors.Is(err, nodes.ErrStale) {
				t.Errorf("the earlier tree: %v", err)
			}
		}
		earlier = o
	}
}
