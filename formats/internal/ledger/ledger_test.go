package ledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes/nodestest"
)

// Order sorts paths as a walk finds them.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		paths := rapid.SliceOf(rapid.StringMatching(`[ab](/?[ab.])*`)).Draw(rt, "paths")
		want := slices.Clone(paths)
		slices.SortFunc(want, func(a, b string) int {
			return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
		})
		slices.SortFunc(paths, Order)
		if !slices.Equal(paths, want) {
			rt.Fatalf("%q, want %q", paths, want)
		}
	})
}

func newPages(t *testing.T) *Pages {
	c := cache.New(8<<20, nil)
	t.Cleanup(c.Close)
	return NewPages(c)
}

// recordOf returns a record of which all differs by path and version.
func recordOf(path string, version int) Record {
	rows := fmt.Sprintf("%s-%d", path, version)[version%2:] // of a table of which there is one file
	return Record{
		Path: path, Stamp: formats.Stamp{Size: int64(version), Modified: -5, Nanos: 3, Changed: 7, Born: -1, Inode: 1 << 63},
		Pending: "more of " + path, Line: fmt.Sprintf("{%q: %d}\n", path, version), Outcome: "[]", Format: "rec",
		Tables:  []Table{{"rows", int64(len(path)), 1, []byte("one"), len(rows), []byte(rows)}, {Name: "words", Size: Unknown}},
		Indexed: version%7 == 0, Inner: strings.Contains(path, ".tar/"), Unlisted: version%3 == 0, Open: version%5 == 0,
	}
}

// all returns the records of a list.
func all(t *testing.T, pages *Pages, l *List) (list []Record) {
	t.Helper()
	c := l.Cursor(pages)
	start := 0 // of the rows of a record in those of its block
	for {
		r, err := c.Record(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			return list
		}
		if c.i == 0 {
			start = 0
		}
		one := *r
		if one.Tables = slices.Clone(r.Tables); r.packed() > 0 {
			rows, err := l.Rows(t.Context(), pages, c.block)
			if err != nil {
				t.Fatal(err)
			}
			one.Tables[0].Rows = rows[start:][:one.Tables[0].Packed]
			start += one.Tables[0].Packed
		}
		list = append(list, one)
		c.Next()
	}
}

// listOf returns a list of records in a Sink.
func listOf(sink *Sink, records []Record) *List {
	w := NewWriter(sink)
	for _, r := range records {
		w.Append(r)
	}
	return w.List()
}

// manyRecords returns n records, of which every tenth lies in a directory.
func manyRecords(n int) (list []Record) {
	for i := range n {
		path := fmt.Sprintf("%06d", i)
		if i%10 == 0 {
			path += "/x"
		}
		list = append(list, recordOf(path, i))
	}
	return list
}

// update writes what is there now beside a cursor through what was known, as a scan does.
func update(ctx context.Context, sink *Sink, pages *Pages, old *List, now []Record, stopAfter int) (*List, error) {
	w, c := NewWriter(sink), old.Cursor(pages)
	for i, r := range now {
		if i == stopAfter {
			w.KeepRest(&c)
			break
		}
		if err := c.Seek(ctx, r.Path); err != nil {
			return nil, err
		}
		was, err := c.Record(ctx)
		if err != nil {
			return nil, err
		}
		if was != nil && was.Path == r.Path && was.Stamp == r.Stamp {
			w.Keep(&c)
			c.Next()
			continue
		}
		w.Append(r)
	}
	return w.List(), nil
}

// A list that is written beside an earlier one has what is there now, in memory as on disk, and the
// blocks of the earlier one where nothing changed.
func TestUpdate(t *testing.T) {
	pages := newPages(t)
	disk := cache.NewDisk(t.TempDir(), 64<<20, nil)
	base := manyRecords(5 * blockRecords)
	rapid.Check(t, func(rt *rapid.T) {
		sink := NewSink(disk, "list")
		old := sink.Save(listOf(sink, base), true)
		now := slices.Clone(base)
		for range rapid.IntRange(0, 6).Draw(rt, "changes") {
			i := rapid.IntRange(0, len(now)-1).Draw(rt, "at")
			switch rapid.IntRange(0, 2).Draw(rt, "change") {
			case 0:
				now[i] = recordOf(now[i].Path, 100_000+i)
			case 1:
				now = slices.Delete(now, i, min(i+rapid.IntRange(1, 400).Draw(rt, "gone"), len(now)))
			case 2:
				now = slices.Insert(now, i+1, recordOf(now[i].Path+"+", i))
			}
			if len(now) == 0 {
				return
			}
		}
		slices.SortFunc(now, func(a, b Record) int { return Order(a.Path, b.Path) })
		now = slices.CompactFunc(now, func(a, b Record) bool { return a.Path == b.Path }) // a walk finds a path once
		next, err := update(t.Context(), sink, pages, old, now, -1)
		if err != nil {
			rt.Fatal(err)
		}
		if !reflect.DeepEqual(now, all(t, pages, next)) {
			rt.Fatal("other records")
		}
		if same := next.Same(old); same != reflect.DeepEqual(now, base) {
			rt.Fatalf("the same list: %t", same)
		}
		sink.Save(next, true)
		loaded := Load(disk, "list", func([]Record) bool { return true })
		if !reflect.DeepEqual(now, all(t, pages, loaded)) || loaded.Sum() != next.Sum() || loaded.Lines() != next.Lines() {
			rt.Fatal("other records on disk")
		}
	})
}

// One change takes one new block, and those around it stay.
func TestUpdateKeepsBlocks(t *testing.T) {
	pages, sink := newPages(t), NewSink(nil, "")
	base := manyRecords(20 * blockRecords)
	old := listOf(sink, base)
	now := slices.Clone(base)
	now[7*blockRecords+3] = recordOf(now[7*blockRecords+3].Path, 1<<20)
	next, err := update(t.Context(), sink, pages, old, now, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range next.blocks {
		if kept := b == old.blocks[i]; kept != (i != 7) {
			t.Errorf("block %d is kept: %t", i, kept)
		}
	}
	if next.Sum() == old.Sum() || len(next.blocks) != len(old.blocks) {
		t.Errorf("%d blocks, %d before", len(next.blocks), len(old.blocks))
	}
}

// What a walk that ended early did not come to stays as it was, and is not read.
func TestKeepRest(t *testing.T) {
	pages, sink := newPages(t), NewSink(nil, "")
	base := manyRecords(5 * blockRecords)
	old := listOf(sink, base)
	for _, stop := range []int{0, 1, blockRecords - 1, blockRecords, 3*blockRecords + 5, len(base) - 1} {
		now := slices.Clone(base)
		for i := range now[:stop] {
			now[i] = recordOf(now[i].Path, 1<<20+i)
		}
		next, err := update(t.Context(), sink, pages, old, now, stop)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, pages, next); !reflect.DeepEqual(now, got) {
			t.Errorf("after %d records (-want +got):\n%s", stop, cmp.Diff(now, got))
		}
	}
}

// What was in a container that is another one now does not stay behind it.
func TestKeepRestOfContainer(t *testing.T) {
	pages, sink := newPages(t), NewSink(nil, "")
	base := []Record{recordOf("a", 1), recordOf("b.tar", 2)}
	for i := range 2 * blockRecords {
		base = append(base, recordOf(fmt.Sprintf("b.tar/%06d", i), 3))
	}
	base = append(base, recordOf("c", 4))
	now := []Record{base[0], recordOf("b.tar", 5), base[len(base)-1]}
	next, err := update(t.Context(), sink, pages, listOf(sink, base), now, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all(t, pages, next) {
		if r.Inner {
			t.Fatalf("%s is still there", r.Path)
		}
	}
}

// Blocks without rows are taken over from a saved list into the next one that is saved.
func TestSavedTwice(t *testing.T) {
	disk, pages := cache.NewDisk(t.TempDir(), 16<<20, nil), newPages(t)
	sink := NewSink(disk, "list")
	var base []Record
	for i := range 2 * blockRecords {
		base = append(base, Record{Path: fmt.Sprintf("%06d", i), Line: "{}\n"})
	}
	old := sink.Save(listOf(sink, base), true)
	now := append(slices.Clone(base), Record{Path: "z", Line: "{}\n"})
	next, err := update(t.Context(), sink, pages, old, now, -1)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		next = sink.Save(next, true)
		if got := all(t, pages, Load(disk, "list", nil)); len(got) != len(now) {
			t.Fatalf("%d records on disk, want %d", len(got), len(now))
		}
	}
}

// A list of very many records has its blocks in a file before it is whole, and little in memory.
func TestManyGoToTheFile(t *testing.T) {
	dir := t.TempDir()
	disk := cache.NewDisk(dir, 256<<20, nil)
	sink := NewSink(disk, "list")
	base := manyRecords(nodestest.Times(50_000, 25_000))
	for i := range base {
		base[i].Pending = fmt.Sprintf("%x", sha256.Sum256([]byte(base[i].Path)))
	}
	list := listOf(sink, base)
	if n := list.Cost(); n > mostInMemory+(1<<20) {
		t.Errorf("%d bytes in memory", n)
	}
	saved := sink.Save(list, false)
	if n := saved.Cost(); n > 1<<20 {
		t.Errorf("%d bytes in memory once it is saved", n)
	}
	pages := newPages(t)
	if !reflect.DeepEqual(base, all(t, pages, Load(disk, "list", nil))) {
		t.Error("other records")
	}
	// One that is not kept leaves nothing behind.
	other := NewSink(disk, "other")
	listOf(other, base)
	other.Close()
	if files, _ := filepath.Glob(filepath.Join(dir, "*/*/*")); len(files) != 1 {
		t.Errorf("left behind: %q", files)
	}
}

// Where the file cannot be written all stays in memory.
func TestFullDisk(t *testing.T) {
	pages, base := newPages(t), manyRecords(nodestest.Times(50_000, 10_000))
	for i := range base {
		base[i].Pending = fmt.Sprintf("%x", sha256.Sum256([]byte(base[i].Path)))
	}
	for _, limit := range []int64{0, 3 << 19} {
		sink := NewSink(cache.NewDisk(t.TempDir(), limit, nil), "list")
		saved := sink.Save(listOf(sink, base), true)
		if !reflect.DeepEqual(base, all(t, pages, saved)) {
			t.Errorf("%d bytes: other records", limit)
		}
	}
}

// A saved list is a claim: of a file with any byte changed nothing is taken that was not in it.
func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	disk := cache.NewDisk(dir, 16<<20, nil)
	base := manyRecords(2*blockRecords + 7)
	sink := NewSink(disk, "list")
	var rows []string // of each block
	for i := range base {
		if i%blockRecords == 0 {
			rows = append(rows, "")
		}
		rows[len(rows)-1] += string(base[i].Tables[0].Rows)
	}
	sink.Save(listOf(sink, base), true)
	for i := range base {
		base[i].Tables[0].Rows = nil // they lie beside the records
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*/*/*"))
	if len(files) != 1 {
		t.Fatalf("files: %q", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at/nodestest.Times(64, 4) {
		for _, damaged := range [][]byte{whole[:at], slices.Concat(whole[:at], []byte{whole[at] ^ 0x20}, whole[at+1:])} {
			if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			l := Load(disk, "list", func([]Record) bool { return true })
			for i, b := range l.blocks {
				page, err := b.read()
				if err == nil && !reflect.DeepEqual(page, base[i*blockRecords:][:len(page)]) {
					t.Fatalf("byte %d: block %d has other records", at, i)
				}
				if b, err := b.rows.unpack(); err == nil && string(b) != rows[i] {
					t.Fatalf("byte %d: block %d has other rows", at, i)
				}
			}
		}
	}
}

// FuzzDirectory reads a directory that anybody made, with the checksum that belongs to it.
func FuzzDirectory(f *testing.F) {
	f.Add(listOf(NewSink(nil, ""), manyRecords(3)).directory())
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) {
		if l := readDirectory(b, 1<<20, nil, nil); l != nil {
			l.directory()
		}
	})
}

// FuzzBlock reads a block that anybody made.
func FuzzBlock(f *testing.F) {
	f.Add(encode(manyRecords(3)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		records, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(encode(records))
		if diff := cmp.Diff(records, again); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// A record that is kept while its rows cannot be read any more is one to be made again.
func TestRowsLost(t *testing.T) {
	disk := cache.NewDisk(t.TempDir(), 16<<20, nil)
	base := manyRecords(3)
	sink, pages := NewSink(disk, "list"), newPages(t)
	old := sink.Save(listOf(sink, base), true)
	old.blocks[0].rows.sum[0]++
	w, c := NewWriter(sink), old.Cursor(pages)
	w.Append(recordOf("!", 1))
	for r, err := c.Record(t.Context()); r != nil && err == nil; r, err = c.Record(t.Context()) {
		w.Keep(&c)
		c.Next()
	}
	for _, r := range all(t, pages, w.List()) {
		if lost := r.Path != "!"; r.Open != lost && lost || (r.Tables[0].Packed == 0) != lost {
			t.Errorf("%+v", r)
		}
	}
}
