// Package parquettest reads for tests the Parquet that package parquet writes, by nothing of that
// package: plain or under zstd.
package parquettest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A Table is a file of Parquet, whole.
type Table struct {
	Columns  []Column
	Groups   []int             // how many rows each row group has
	Metadata map[string]string // of the file
	Footer   int               // bytes of it
}

// A Column is one column of a Table. A value is nil where it is null, else a bool, int32, int64,
// float32, float64, string, time.Time or []any.
type Column struct {
	Name   string
	Type   string // as docs/tree/tables.md writes it
	Values []any
	Bounds [][2]any // of each row group: the least and the greatest value, nil where they are not told
	Nulls  []int    // of each row group
	Pages  []int    // of each row group, with values
	// Dictionary and Differences say of each row group that it has one, and that its numbers are
	// written as these.
	Dictionary, Differences []bool

	physical int64
	optional bool
	list     bool
	time     bool
	path     string
}

// Read reads a file. What is wrong with it ends the test.
func Read(t *testing.T, b []byte) *Table {
	t.Helper()
	if len(b) < 12 || string(b[:4]) != "PAR1" || string(b[len(b)-4:]) != "PAR1" {
		t.Fatal("no PAR1 at both ends")
	}
	table := &Table{Metadata: map[string]string{}, Footer: int(binary.LittleEndian.Uint32(b[len(b)-8:]))}
	end := len(b) - 8 - table.Footer
	footer := &thrift{b[end : len(b)-8]}
	meta := footer.object()
	if len(footer.b) > 0 {
		t.Fatalf("%d bytes after the footer", len(footer.b))
	}
	table.schema(t, meta.list(2))
	if n := len(meta.list(7)); n != len(table.Columns) {
		t.Errorf("%d column orders", n)
	}
	for _, m := range meta.list(5) {
		table.Metadata[m.(object).text(1)] = m.(object).text(2)
	}
	at := int64(4)
	for _, g := range meta.list(4) {
		start := begin(g.(object))
		skip(t, b, at, start)
		at = table.group(t, b, g.(object), start)
	}
	if len(table.Columns) > 0 && table.Columns[0].Name == "recording" && table.Metadata["recfs.source"] != "" {
		at += int64(len(b[at:end]) - len(bytes.TrimLeft(b[at:end], "\x00"))) // so many as any path may need
	}
	var manifest, length int64 // of a part
	if n, _ := fmt.Sscan(table.Metadata["recfs.manifest"], &manifest, &length); n == 2 && manifest+length == int64(end) {
		end = int(manifest)
	}
	skip(t, b, at, int64(end))
	if rows := meta.int(3); rows != int64(table.Rows()) {
		t.Errorf("%d rows in the footer, %d in the groups", rows, table.Rows())
	}
	return table
}

// Show is the nodestest.Show of tables.
func Show(t *testing.T, name string, content []byte) []byte {
	if !strings.HasSuffix(name, ".parquet") {
		return nil
	}
	return Read(t, content).Text()
}

// Rows returns how many rows there are.
func (t *Table) Rows() (n int) {
	for _, g := range t.Groups {
		n += g
	}
	return n
}

// Text shows a table as text: its metadata, its columns, and a line a row.
func (t *Table) Text() []byte {
	var b strings.Builder
	for _, key := range []string{"recfs.format", "recfs.table", "recfs.source"} {
		if value, ok := t.Metadata[key]; ok {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	fmt.Fprintf(&b, "row groups: %d\n", t.Groups)
	for i := range t.Columns {
		c := &t.Columns[i]
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
		for g, bounds := range c.Bounds {
			if bounds[0] != nil {
				fmt.Fprintf(&b, "; %v to %v", text(bounds[0]), text(bounds[1]))
			}
			if c.Nulls[g] > 0 {
				fmt.Fprintf(&b, "; nulls: %d", c.Nulls[g])
			}
		}
		b.WriteByte('\n')
	}
	for row := range t.Rows() {
		for i := range t.Columns {
			b.WriteString(text(t.Columns[i].Values[row]))
			b.WriteByte("\t\n"[min(1, (i+1)/len(t.Columns))])
		}
	}
	return []byte(b.String())
}

// text shows a value.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case time.Time:
		return v.Format("2006-01-02T15:04:05.999999Z")
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// schema reads the columns.
func (t *Table) schema(tb testing.TB, elements []any) {
	types := []string{0: "BOOLEAN", 1: "INT32", 2: "INT64", 4: "FLOAT", 5: "DOUBLE", 6: "text"}
	for i := 1; i < len(elements); i++ {
		e := elements[i].(object)
		c := Column{Name: e.text(4), optional: e.int(3) == 1, path: e.text(4)}
		if _, leaf := e[1]; !leaf {
			c.list = true
			e = elements[i+2].(object)
			c.path += ".list.element"
			i += 2
		}
		c.physical = e.int(1)
		c.Type = types[c.physical]
		if _, c.time = e.object(10)[8]; c.time {
			c.Type = "TIMESTAMP"
		}
		if c.list {
			c.Type = "LIST of " + c.Type
		}
		if c.optional {
			c.Type += "?"
		}
		t.Columns = append(t.Columns, c)
	}
	if n := elements[0].(object).int(5); n != int64(len(t.Columns)) {
		tb.Errorf("%d columns, the schema says %d", len(t.Columns), n)
	}
}

// group reads a row group, which begins at a place, and returns where it ends.
func (t *Table) group(tb testing.TB, b []byte, g object, at int64) int64 {
	tb.Helper()
	rows, plain := g.int(3), int64(0)
	t.Groups = append(t.Groups, int(rows))
	for i, chunk := range g.list(1) {
		c, meta := &t.Columns[i], chunk.(object).object(3)
		if off := meta.int(9); off < at || c.path != path(meta.list(3)) {
			tb.Errorf("the chunk of %s at %d: %v", c.path, at, meta)
		}
		values, size := c.chunk(tb, b[at:at+meta.int(7)], meta.int(4))
		if meta.int(6) != size {
			tb.Errorf("%s has pages of %d bytes, not %d", c.Name, size, meta.int(6))
		}
		if int64(len(values)) != rows {
			tb.Errorf("%s has %d values, not %d", c.Name, len(values), rows)
		}
		c.Values = append(c.Values, values...)
		c.statistics(tb, meta.object(12), values)
		at += meta.int(7)
		plain += size
	}
	if g.int(2) != plain {
		tb.Errorf("a row group of %d bytes, not %d", plain, g.int(2))
	}
	return at
}

// skip passes over the zeros between a row group and what follows it, which begins a block.
func skip(tb testing.TB, b []byte, at, next int64) {
	tb.Helper()
	if at != next && (next < at || next%4096 != 0 || next-at >= 4096 || len(bytes.Trim(b[at:next], "\x00")) > 0) {
		tb.Errorf("a row group ends at %d, and what follows it begins at %d", at, next)
	}
}

// begin returns where a row group begins.
func begin(g object) int64 {
	first := g.list(1)[0].(object).object(3)
	if dictionary, ok := first[11]; ok {
		return dictionary.(int64)
	}
	return first.int(9)
}

func path(list []any) string {
	var names []string
	for _, n := range list {
		names = append(names, n.(string))
	}
	return strings.Join(names, ".")
}

// statistics reads those of values. Bounds that are said to be exact have to be those of the
// values.
func (c *Column) statistics(tb testing.TB, s object, values []any) {
	tb.Helper()
	var bounds [2]any
	if _, ok := s[6]; ok && c.physical == 6 {
		bounds = [2]any{s.text(6), s.text(5)}
	} else if ok {
		p := page{b: []byte(s.text(6) + s.text(5)), c: c}
		bounds = [2]any{p.plain(), p.plain()}
	}
	c.Bounds, c.Nulls = append(c.Bounds, bounds), append(c.Nulls, int(s.int(3)))
	exact := bounds[0] != nil && c.physical != 4 && c.physical != 5
	if exact != (s[7] == true) || exact != (s[8] == true) {
		tb.Errorf("%s is between %v, exactly: %v and %v", c.Name, bounds, s[7], s[8])
	}
	if want := [2]any{slices.MinFunc(values, least), slices.MaxFunc(values, most)}; exact && bounds != want {
		tb.Errorf("%s is between %v, exactly, and not %v", c.Name, want, bounds)
	}
}

// least compares values for the least one, most for the greatest. Null is neither.
func least(a, b any) int { return compare(a, b, 1) }
func most(a, b any) int  { return compare(a, b, -1) }

func compare(a, b any, null int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return null
	case b == nil:
		return -null
	}
	switch a := a.(type) {
	case int32:
		return cmp.Compare(a, b.(int32))
	case int64:
		return cmp.Compare(a, b.(int64))
	case string:
		return cmp.Compare(a, b.(string))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	return 0 // of what has no exact bounds
}

// chunk reads the pages of a column chunk, and returns how many bytes they have without
// compression.
func (c *Column) chunk(tb testing.TB, b []byte, codec int64) (values []any, size int64) {
	tb.Helper()
	var words []any
	pages, encoding := 0, 0
	for len(b) > 0 {
		t := &thrift{b}
		head := t.object()
		size += int64(len(b)-len(t.b)) + head.int(2)
		p := page{b: t.b[:head.int(3)], c: c}
		b = t.b[head.int(3):]
		if codec == zstdCodec {
			p.b = unpack(tb, p.b)
		}
		if int64(len(p.b)) != head.int(2) {
			tb.Errorf("%s has a page of %d bytes, not %d", c.Name, len(p.b), head.int(2))
		}
		if head.int(1) == 2 {
			for range head.object(7).int(1) {
				words = append(words, p.plain())
			}
			continue
		}
		pages++
		encoding = int(head.object(5).int(2))
		values = append(values, p.values(int(head.object(5).int(1)), encoding, words)...)
	}
	c.Pages, c.Dictionary, c.Differences = append(c.Pages, pages), append(c.Dictionary, words != nil), append(c.Differences, encoding == deltaEncoding)
	return values, size
}

const (
	zstdCodec     = 6
	deltaEncoding = 5 // DELTA_BINARY_PACKED
)

func unpack(tb testing.TB, b []byte) []byte {
	tb.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		tb.Fatal(err)
	}
	defer z.Close()
	if b, err = z.DecodeAll(b, nil); err != nil {
		tb.Fatal(err)
	}
	return b
}
