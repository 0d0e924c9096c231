package teehistorian

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// Rows that runs of records gave are those of the records one by one.
func TestHotRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { holdHotRows(rt, draw(rt).b) })
	if !testing.Short() {
		holdHotRows(t, readBusy(t))
	}
}

func holdHotRows(t rapid.TB, b []byte) {
	t.Helper()
	in := formatstest.BytesInput("x.teehistorian", b, time.Unix(1, 0))
	src := in.At(context.Background())
	h, err := readHeader(context.Background(), src, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := buildIndex(src, in.Size, h)
	if err != nil {
		t.Fatal(err)
	}
	r, start := &recording{src: in, idx: x, version1: h.version1}, h.began
	for _, n := range []int{positionsTable, inputsTable} {
		fast := tableOfIndex(t, in, h, x, n)
		slow := columnar.NewTable(fast.Name, fast.Columns, fast.Groups, func(ctx context.Context, b *columnar.Batch, chunk int) error {
			c, err := r.cursor(ctx, nil, chunk, x.bytes, tableWindow)
			for err == nil && !b.Full() {
				if err = c.scan.next(&c.event.record); err == nil {
					c.state.apply(&c.event)
					r.addRow(b, n, c, start, nil)
				}
			}
			if errors.Is(err, errEnd) {
				return nil
			}
			return err
		})
		for i := range fast.Groups {
			if got, want := made(t, fast, i), made(t, slow, i); !bytes.Equal(got, want) {
				t.Fatalf("%s: row group %d is another one", fast.Name, i)
			}
		}
	}
}

// tableOfIndex returns a table of a recording by its number.
func tableOfIndex(t rapid.TB, in formats.Input, h *header, x *index, n int) columnar.Table {
	t.Helper()
	rec := formats.Recording{Input: in, Head: h, Index: func(context.Context) (formats.Index, error) { return x, nil }}
	_, makers := newTree(rec, cache.New(1<<20, nil), Options{})
	table, err := makers()[1+n].Make(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// made returns a row group of a table.
func made(t rapid.TB, table columnar.Table, group int) []byte {
	t.Helper()
	l, err := parquet.NewLayout(table)
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Make(context.Background(), group, nil)
	if err != nil {
		t.Fatalf("%s: %v", table.Name, err)
	}
	return b
}

// All row groups of a table together read each byte of the records once.
func TestRowsReadOnce(t *testing.T) {
	long := newRepeated(t, 8<<20)
	src := long.source()
	h, err := readHeader(t.Context(), src.At(t.Context()), 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := buildIndex(src.At(t.Context()), src.Size, h)
	if err != nil {
		t.Fatal(err)
	}
	count := &nodestest.Counted{ReaderAt: long}
	src.ReaderAt = count
	for _, n := range []int{positionsTable, inputsTable} {
		table := tableOfIndex(t, src, h, x, n)
		if len(table.Groups) < 3 {
			t.Fatalf("%s: %d row groups", table.Name, len(table.Groups))
		}
		count.Bytes.Store(0)
		for i := range table.Groups {
			made(t, table, i)
		}
		if got, records := count.Bytes.Load(), x.bytes-h.start; got > records {
			t.Errorf("%s: %d bytes are read of %d", table.Name, got, records)
		}
	}
}

// Two ints read at once are those read one by one.
func TestReadTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 8+maxInt, 8+maxInt).Draw(t, "bytes")
		first, p := readInt(b, 0)
		second, q := readInt(b, p)
		want := q
		if p > 2 || q-p > 2 {
			want = 0
		}
		switch x, y, n := readTwo(binary.LittleEndian.Uint64(b)); {
		case n != want:
			t.Fatalf("%x: %d bytes, want %d", b, n, want)
		case n > 0 && (x != first || y != second):
			t.Fatalf("%x: %d and %d, want %d and %d", b, x, y, first, second)
		}
	})
}

// An index that is in use is not given up for the rows that are made of it: it would be made again
// for each row group.
func TestIndexInUseIsKept(t *testing.T) {
	nodestest.Long(t)
	long := newRepeated(t, 24<<20)
	src := long.source()
	count := &nodestest.Counted{ReaderAt: long}
	src.ReaderAt = count
	c := cache.New(32<<20, nil)
	defer c.Close()
	root, err := formatstest.Open(t.Context(), Format, src, c)
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, "tables/inputs.parquet")
	if err != nil {
		t.Fatal(err)
	}
	content, err := e.File.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<20)
	for at := int64(0); at < content.Size(); at += int64(len(b)) {
		if _, err := content.ReadAt(t.Context(), b, at); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		runtime.GC()
	}
	if got, once := count.Bytes.Load(), src.Size; got > 2*once+1<<20 {
		t.Errorf("%d bytes are read of %d, for the index and the rows", got, once)
	}
}
