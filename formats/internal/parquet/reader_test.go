package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/parquettest"
	"recfs/nodes/nodestest"
)

func newReader(t testing.TB, file []byte) *parquet.Reader {
	t.Helper()
	f, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A span is rows of a row group from one to another.
type span struct{ row, end int }

// rewrite writes spans of the row groups of a file anew, or copies all of a group whose spans are
// nil.
func rewrite(t testing.TB, columns []columnar.Column, f *parquet.Reader, spans func(group int) []span) []byte {
	t.Helper()
	z, err := parquet.NewEncoder(1)
	if err != nil {
		t.Fatal(err)
	}
	var out written
	w, err := z.NewWriter(&out, columns)
	for g := range f.Groups() {
		list := spans(g)
		if list == nil {
			if err := w.Copy(f, g); err != nil {
				t.Fatal(err)
			}
			continue
		}
		all, err := f.ReadRows(g, 0, columns)
		if err != nil {
			t.Fatal(err)
		}
		b := columnar.NewBatch(columns, columnar.Group{Rows: all.Rows(), Columns: make([]columnar.Counts, len(columns))})
		for _, s := range list {
			b.Next(s.end-s.row, s.row)
			b.Append(all)
		}
		if err := w.Append(b.Rows(), b.Columns); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReader reads what was written, of every type and encoding, and writes it again: whole groups
// as they lie there, and parts of others.
func TestReader(t *testing.T) {
	rows := rowsOf(2000)
	var chunks [][]row
	for c := range slices.Chunk(rows, 700) {
		chunks = append(chunks, c)
	}
	var groups []columnar.Group
	for i, c := range chunks {
		groups = append(groups, columnar.Group{Rows: len(c), Chunk: i, Columns: make([]columnar.Counts, len(allTypes))})
	}
	table := columnar.NewTable("all", allTypes, groups, func(_ context.Context, b *columnar.Batch, chunk int) error {
		for _, r := range chunks[chunk] {
			r.add(b)
		}
		return nil
	})
	f := newReader(t, compress(t, table))
	if !f.Same(allTypes) || f.Groups() != 3 || f.Rows(2) != 600 {
		t.Fatalf("%d row groups of %v", f.Groups(), f.Columns)
	}
	again := rewrite(t, allTypes, f, func(g int) []span {
		return [][]span{{{1, 3}, {3, 3}, {5, 700}}, nil, {{0, 8}, {590, 600}}}[g]
	})
	compare(t, again, slices.Concat(rows[1:3], rows[5:1408], rows[1990:]))
}

// TestReaderPages reads columns of many pages, and numbers that rise.
func TestReaderPages(t *testing.T) {
	nodestest.Long(t)
	random := rand.New(rand.NewPCG(1, 2))
	numbers := make([]int64, nodestest.Times(300_000, 150_000))
	for i := range numbers {
		numbers[i] = random.Int64()
	}
	for name, number := range map[string]func(i int) (int64, bool){
		"nulls": func(i int) (int64, bool) { return numbers[i], i%7 != 3 },
		"rises": func(i int) (int64, bool) { return int64(i*20 + i%7), true },
		"again": func(i int) (int64, bool) { return numbers[i] % 100, i%5 > 0 },
	} {
		file := compress(t, textTable(len(numbers), func(i int) string { return fmt.Sprintf("%x", numbers[i]%3000) }, number))
		f := newReader(t, file)
		again := rewrite(t, f.Columns, f, func(int) []span { return []span{{0, 100_000}, {100_001, len(numbers)}} })
		want, got := parquettest.Read(t, file), parquettest.Read(t, again)
		for i, c := range want.Columns {
			if !slices.EqualFunc(slices.Delete(c.Values, 100_000, 100_001), got.Columns[i].Values, sameValue) {
				t.Errorf("%s: column %s is another one", name, c.Name)
			}
		}
	}
}

// FuzzReader holds that no file makes the reader fail otherwise than by an error, or take more
// memory than what it reads can give.
// TestDifferencesOfOthers holds that differences are none of what has no whole numbers, whatever a
// footer says of its type.
func TestDifferencesOfOthers(t *testing.T) {
	good := compress(t, numberTable(numbers{200, steadily}))
	const int32Type, floatType, textType = "\x02", "\x08", "\x0c"
	for _, typ := range []string{int32Type, floatType, textType} {
		file := bytes.Replace(good, []byte("\x15"+int32Type+"\x25\x00\x18\x05int32"), []byte("\x15"+typ+"\x25\x00\x18\x05int32"), 1)
		r := newReader(t, file)
		_, err := r.ReadRows(0, 0, r.Columns[:1])
		if (err == nil) != (typ == int32Type) || bytes.Equal(file, good) != (typ == int32Type) {
			t.Errorf("type %q, %v: %v", typ, r.Columns[0], err)
		}
	}
}

func FuzzReader(f *testing.F) {
	good := compress(f, tableOf(rowsOf(50)))
	f.Add(good)
	f.Add(compress(f, tableOf(nil)))
	f.Add([]byte("PAR1PAR1"))
	f.Add([]byte("PAR1\x15\x00\x00\x01\x00\x00\x00PAR1"))
	f.Add([]byte(strings.Repeat("\x1c", 40) + "\x20\x00\x00\x00PAR1"))
	f.Add([]byte("PAR1\x59\x1c\x08\x67\x00\x00\x00\x07\x00\x00\x00PAR1")) // a pair with field -52
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)))
		if bytes.Equal(file, good) && (err != nil || r.Metadata["recfs.table"] != "all") {
			t.Errorf("metadata %v, %v", r.Metadata, err)
		}
		if err != nil {
			return
		}
		for g := range r.Groups() {
			for i, c := range r.Columns {
				b, err := r.ReadRows(g, i, r.Columns[i:i+1])
				if err != nil {
					continue
				}
				if v := &b.Columns[0]; max(v.Len(), len(v.Bools)) > r.Rows(g) && c.Type != columnar.Texts {
					t.Errorf("%s has %d values in %d rows", c.Name, v.Len(), r.Rows(g))
				}
			}
		}
	})
}
