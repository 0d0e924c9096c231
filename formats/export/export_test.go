package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/datafile"
	"recfs/formats/echo"
	"recfs/formats/export"
	"recfs/formats/hcrp"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/testing/parquettest"
	"recfs/formats/nethack"
	"recfs/formats/teehistorian"
	"recfs/nodes"
)

// everything wants each table.
func everything(string) bool { return true }

// A target is a directory to export to, and an archive to export.
type target struct {
	*export.Exporter
	t    *testing.T
	dir  string
	root nodes.Dir
}

func newTarget(t *testing.T, source string, c *cache.Cache, list ...formats.Format) *target {
	t.Helper()
	dir := t.TempDir()
	x, err := export.New(dir, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &target{x, t, dir, archive.New(formatstest.OpenLocal(t, source), list, c, archive.Options{})}
}

// export exports the recording at a path.
func (x *target) export(ctx context.Context, at string) []export.File {
	x.t.Helper()
	e, err := nodes.Lookup(x.t.Context(), x.root, at)
	if err != nil {
		x.t.Fatal(err)
	}
	r, ok := archive.RecordingOf(e.Dir)
	if !ok {
		x.t.Fatalf("%s is no recording", at)
	}
	files, err := x.Export(ctx, export.Recording{Recording: r, Path: at, Mode: 0o640}, everything)
	if err != nil {
		x.t.Fatal(err)
	}
	return files
}

// left returns all files below the directory, and what others do not see among them.
func (x *target) left() (files []string) {
	x.t.Helper()
	err := filepath.WalkDir(x.dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return files
}

func read(t *testing.T, name string) *parquettest.Table {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return parquettest.Read(t, b)
}

// TestSamples holds that a file has the columns, rows and bounds of the one in the tree, and is not
// written again.
func TestSamples(t *testing.T) {
	x := newTarget(t, "../../testdata/archive", formatstest.NewCache(t),
		hcrp.New(hcrp.Options{}), datafile.New(datafile.Options{}), nethack.Format, teehistorian.Format, echo.NewButter(echo.Options{}))
	for at, want := range map[string]int{
		"teehistorian/reload-20.1.teehistorian": 5, "butter/arena_v1_gzip.butter": 3, "nethack/small.nhgame": 3, "datafile/maps/new.map": 3,
		"hcrp/design-snapshot.hcrp": 3, "hcrp/run-finished": 3,
	} {
		files := x.export(t.Context(), at)
		if len(files) != want {
			t.Errorf("%s: %d tables, want %d", at, len(files), want)
		}
		for _, f := range files {
			if f.Err != nil || f.Same {
				t.Fatalf("%s: %s: %v, same %v", at, f.Table, f.Err, f.Same)
			}
			e, err := nodes.Lookup(t.Context(), x.root, at+"/tables/"+f.Table+".parquet")
			if err != nil {
				t.Fatal(err)
			}
			b, err := nodes.ReadAll(t.Context(), e.File)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, parquettest.Read(t, b), read(t, f.File))
			if info, err := os.Stat(f.File); err != nil || info.Size() != *f.Size || info.Mode()&0o777 != 0o640 {
				t.Errorf("%s: %v of %d bytes, %v", f.File, info.Mode(), f.Size, err)
			}
		}
		for _, f := range x.export(t.Context(), at) {
			if !f.Same {
				t.Errorf("%s: %s was written again, %v", at, f.Table, f.Err)
			}
		}
	}
}

// compare compares an exported table with that of the tree.
func compare(t *testing.T, want, got *parquettest.Table) {
	t.Helper()
	name := got.Metadata["recfs.path"] + " " + got.Metadata["recfs.table"]
	for _, key := range []string{"recfs.table", "recfs.format", "recfs.source"} {
		if got.Metadata[key] == "" || got.Metadata[key] != want.Metadata[key] {
			t.Errorf("%s: %s %q, want %q", name, key, got.Metadata[key], want.Metadata[key])
		}
	}
	origins := len(got.Columns) - len(want.Columns)
	if origins < 1 || origins > 2 || !slices.Equal(got.Groups, want.Groups) {
		t.Fatalf("%s: %d columns, row groups %v; want %d and %v", name, len(got.Columns), got.Groups, len(want.Columns), want.Groups)
	}
	for i, c := range want.Columns {
		g := got.Columns[origins+i]
		if g.Name != c.Name || g.Type != c.Type || !slices.Equal(g.Nulls, c.Nulls) || !cmp.Equal(g.Values, c.Values, equalFloats) {
			t.Errorf("%s: column %s %s is another one", name, c.Name, c.Type)
		}
		for k, bounds := range c.Bounds {
			if bounds[0] != nil && !cmp.Equal(bounds, g.Bounds[k]) {
				t.Errorf("%s: %s is between %v, not %v", name, c.Name, g.Bounds[k], bounds)
			}
		}
	}
}

var equalFloats = cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })

// A whole is all bytes of a recording of the format that rec makes.
type whole []byte

func (w whole) Append(b []byte) []byte { return append(b, w...) }
func (w whole) Memory() int64          { return int64(len(w)) }
func (w whole) Reach(string) int64     { return int64(len(w)) }

// null is the byte whose row has no value.
const null = 'e'

// rec is a format of files whose table has a row for each byte, which rows makes. It may have nulls
// if it has any.
func rec(variant string, rows func(ctx context.Context, w whole, group int) error) formats.Format {
	readAll := func(ctx context.Context, in formats.Input) (whole, error) {
		b := make([]byte, in.Size)
		if in.Size == 0 {
			return b, nil
		}
		_, err := in.ReadAt(ctx, b, 0)
		return b, err
	}
	return formats.Format{
		Name: "rec", Extensions: []string{".rec"}, Variant: variant,
		Open:     func(ctx context.Context, in formats.Input) (formats.Head, error) { return readAll(ctx, in) },
		ReadHead: func(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) { return whole(saved), nil },
		Scan: func(ctx context.Context, in formats.Input, _ formats.Head, _ formats.Index) (formats.Index, error) {
			return readAll(ctx, in)
		},
		ReadIndex: func(_ formats.Input, _ formats.Head, saved []byte) (formats.Index, error) { return whole(saved), nil },
		Summary: func(context.Context, formats.Recording, formats.Index) (formats.Summary, error) {
			return formats.Summary{Complete: true}, nil
		},
		Tree: func(r formats.Recording, _ *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			w := r.Head.(whole)
			half := len(w) / 2
			count := func(w []byte) []columnar.Counts {
				return []columnar.Counts{{Nulls: int64(bytes.Count(w, []byte{null}))}}
			}
			groups := []columnar.Group{
				{Rows: half, Columns: count(w[:half])}, {Rows: len(w) - half, Chunk: 1, Columns: count(w[half:])},
			}
			columns := columnar.Required(columnar.Int64, "byte")
			columns[0].Nullable = bytes.IndexByte(w, null) >= 0
			groups = slices.DeleteFunc(groups, func(g columnar.Group) bool { return g.Rows == 0 })
			list := []columnar.Maker{columnar.NewMaker("bytes", columns,
				func(context.Context) ([]columnar.Group, error) { return groups, nil },
				func(ctx context.Context, b *columnar.Batch, chunk int) error {
					for _, x := range w[chunk*half:] {
						columnar.AddIf(b, x != null, b.Int64, int64(x))
					}
					return rows(ctx, w, chunk)
				})}
			return nodes.List(), func() []columnar.Maker { return list }
		},
	}
}

func noError(context.Context, whole, int) error { return nil }

func put(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// bytesOf returns the rows of an exported file of the format rec.
func bytesOf(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	for _, v := range read(t, name).Columns[2].Values {
		b.WriteByte(byteOf(v))
	}
	return b.String()
}

// TestUnchanged tells what has other bytes, or was made otherwise, from what only has another
// stamp.
func TestUnchanged(t *testing.T) {
	source := t.TempDir()
	name := filepath.Join(source, "a.rec")
	c := formatstest.NewCache(t)
	plain, other := newTarget(t, source, c, rec("", noError)), newTarget(t, source, c, rec("other", noError))
	other.Exporter = plain.Exporter
	step := func(what, want string, same bool, x *target) string {
		t.Helper()
		files := x.export(t.Context(), "a.rec")
		if len(files) != 1 || files[0].Err != nil || files[0].Same != same {
			t.Fatalf("%s: %+v", what, files)
		}
		if got := bytesOf(t, files[0].File); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
		return files[0].File
	}
	put(t, name, "first")
	file := step("new", "first", false, plain)
	step("again", "first", true, plain)
	put(t, name+"x", "first")
	if err := os.Rename(name+"x", name); err != nil {
		t.Fatal(err)
	}
	step("another file of the same bytes", "first", true, plain)
	put(t, name, "other")
	step("other bytes", "other", false, plain)
	step("other options", "other", false, other)
	step("the first options", "other", false, plain)
	besides := rec("", noError)
	besides.Beside = &formats.Beside{Sum: func(formats.Head) string { return "a schema" }}
	withSchema := newTarget(t, source, c, besides)
	withSchema.Exporter = plain.Exporter
	step("a schema beside it", "other", false, withSchema)
	step("the same schema", "other", true, withSchema)
	step("no schema", "other", false, plain)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, string(b[:len(b)-3]))
	step("a damaged file", "other", false, plain)
	if left := plain.left(); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
}

// TestFailure leaves what was there before, and no half file, when a table cannot be made or the
// export is interrupted.
func TestFailure(t *testing.T) {
	for name, interrupt := range map[string]bool{"failure": false, "interrupted": true} {
		cancel := func() {}
		source := t.TempDir()
		x := newTarget(t, source, formatstest.NewCache(t), rec("", func(_ context.Context, w whole, group int) error {
			if group == 1 && strings.HasPrefix(string(w), "bad") {
				cancel()
				return errors.New("no rows")
			}
			return nil
		}))
		put(t, filepath.Join(source, "a.rec"), "good")
		before := x.export(t.Context(), "a.rec")
		put(t, filepath.Join(source, "a.rec"), "bad now")
		put(t, filepath.Join(source, "b.rec"), "bad ever")
		for _, at := range []string{"a.rec", "b.rec"} {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if interrupt {
				cancel = stop
			}
			if files := x.export(ctx, at); len(files) != 1 || files[0].Err == nil {
				t.Errorf("%s: %s: %+v", name, at, files)
			}
		}
		if left := x.left(); !slices.Equal(left, []string{before[0].File}) || bytesOf(t, left[0]) != "good" {
			t.Errorf("%s: left %q", name, left)
		}
	}
}

// TestMemory makes rows again that take more memory than was asked for, and writes them once.
func TestMemory(t *testing.T) {
	source := t.TempDir()
	c := cache.New(1<<20, nil)
	t.Cleanup(c.Close)
	short := 0
	x := newTarget(t, source, c, rec("", func(ctx context.Context, _ whole, _ int) error {
		held, err := formats.Charge(ctx, 20<<20)
		if err != nil {
			short++
		}
		held.Free()
		return err
	}))
	put(t, filepath.Join(source, "a.rec"), "rows")
	files := x.export(t.Context(), "a.rec")
	if files[0].Err != nil || bytesOf(t, files[0].File) != "rows" || short == 0 {
		t.Errorf("%+v, %d refusals", files, short)
	}
	if now, peak := c.Work(); now != 0 || peak < 20<<20 {
		t.Errorf("%d bytes are held, %d were", now, peak)
	}
}

// TestNotOpen passes on why a recording does not open.
func TestNotOpen(t *testing.T) {
	x := newTarget(t, "../../testdata/archive", formatstest.NewCache(t), formats.Format{
		Name: "none", Extensions: []string{".milk"},
		Open: func(context.Context, formats.Input) (formats.Head, error) {
			return nil, formats.Corrupt("none", 7, "no")
		},
	})
	e, err := nodes.Lookup(t.Context(), x.root, "butter/old.milk")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := archive.RecordingOf(e.Dir)
	bad := (*archive.NotOpenError)(nil)
	if _, err := x.Export(t.Context(), export.Recording{Recording: r}, everything); !errors.As(err, &bad) || bad.Offset != 7 {
		t.Error(err)
	}
}

// TestShards holds that each path is in one shard, and that they are of about one size.
func TestShards(t *testing.T) {
	const paths, shards = 7000, 7
	var sizes [shards]int
	for i := range paths {
		in := 0
		for k := range shards {
			if (export.Shard{I: k + 1, N: shards}).Has(fmt.Sprint("day/", i)) {
				in++
				sizes[k]++
			}
		}
		if in != 1 {
			t.Fatalf("path %d is in %d shards", i, in)
		}
	}
	for _, n := range sizes {
		if n < paths/shards*8/10 {
			t.Errorf("shards of %v", sizes)
		}
	}
}
