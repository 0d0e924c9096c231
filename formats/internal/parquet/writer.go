package parquet

import (
	"context"
	"io"

	"recfs/cache"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// A Writer writes a file as it is exported, row group by row group: pages under zstd, dictionaries
// of values that come again, and bounds of texts, too.
//
//	PAR1 | row group … | bytes of the caller | footer | length of the footer u32 | PAR1
type Writer struct {
	z      *Encoder
	out    io.WriterAt
	size   int64 // so far
	table  columnar.Table
	groups [][]chunk
}

// NewWriter begins a file of rows of these columns.
func (z *Encoder) NewWriter(out io.WriterAt, columns []columnar.Column) (*Writer, error) {
	w := &Writer{z: z, out: out, table: columnar.Table{Columns: columns}}
	_, err := w.Write([]byte(Magic))
	return w, err
}

// Write writes bytes that are of no row group. The footer tells nothing of them.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.out.WriteAt(b, w.size)
	if err == nil {
		w.size += int64(n)
	}
	return n, err
}

// Size returns how many bytes there are so far.
func (w *Writer) Size() int64 { return w.size }

// Append writes a row group. Of one that failed nothing is there.
func (w *Writer) Append(rows int, columns []columnar.Vector) error {
	m := w.z.memory()
	defer w.z.spare(m)
	m.out = m.out[:0]
	chunks := make([]chunk, len(columns))
	for i := range columns {
		chunks[i] = chunk{column: &w.table.Columns[i], values: rows, offset: w.size + int64(len(m.out)), codec: zstdCodec}
		if err := w.z.column(m, &chunks[i], &columns[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(m.out)
	if err == nil {
		w.add(rows, chunks)
	}
	return err
}

func (w *Writer) add(rows int, chunks []chunk) {
	w.table.Groups = append(w.table.Groups, columnar.Group{Rows: rows})
	w.groups = append(w.groups, chunks)
}

// Copy writes a row group of another file of the same columns as it lies there.
func (w *Writer) Copy(f *Reader, group int) error {
	g := &f.groups[group]
	chunks := make([]chunk, len(g.chunks))
	shift := w.size - g.start
	for i, c := range g.chunks {
		c.column, c.offset = &w.table.Columns[i], c.offset+shift
		chunks[i] = c
	}
	if _, err := io.CopyBuffer(w, io.NewSectionReader(f.r, g.start, g.end-g.start), make([]byte, pageSize)); err != nil {
		return err
	}
	w.add(g.rows, chunks)
	return nil
}

// A Mark is how far a Writer had come.
type Mark struct {
	size   int64
	groups int
}

// Mark returns how far w has come.
func (w *Writer) Mark() Mark { return Mark{w.size, len(w.groups)} }

// Cut takes back what was written since a Mark.
func (w *Writer) Cut(m Mark) {
	w.size, w.groups, w.table.Groups = m.size, w.groups[:m.groups], w.table.Groups[:m.groups]
}

// Close writes the footer, and returns how many bytes the file has: what was cut may lie behind
// them.
func (w *Writer) Close(metadata ...Pair) (size int64, err error) {
	_, err = w.Write(makeFooter(&w.table, func(_ []chunk, i int) []chunk { return w.groups[i] }, metadata))
	return w.size, err
}

// WriteTable writes the file of a table as it is exported, and returns how many bytes it has. Rows
// that are not those that were counted are [nodes.ErrStale].
func (z *Encoder) WriteTable(ctx context.Context, c *cache.Cache, out io.WriterAt, t *columnar.Table, metadata ...Pair) (size int64, err error) {
	w, err := z.NewWriter(out, t.Columns)
	if err != nil {
		return 0, err
	}
	for i := range t.Groups {
		err := w.Make(ctx, c, ValuesSize(t, i), func(ctx context.Context) ([]columnar.Vector, int, error) {
			b, err := t.Rows(ctx, i)
			if want := t.Groups[i].Rows; err == nil && b.Rows() != want {
				err = nodes.SizeError(int64(want), int64(b.Rows()))
			}
			return b.Columns, b.Rows(), err
		})
		if err != nil {
			return 0, err
		}
	}
	return w.Close(metadata...)
}

// Make writes a row group, which rows makes, with the memory that it takes in a request of c: it
// may be made again with more. Of one without rows nothing is written. The values of the rows take
// about n bytes.
func (w *Writer) Make(ctx context.Context, c *cache.Cache, n int64, rows func(ctx context.Context) ([]columnar.Vector, int, error)) error {
	const besides = 2 << 20 // what decoding and encoding take
	n = 3*n + besides       // rows are there twice where a list grows, and the dictionary of a column
	return c.Do(ctx, n, func(ctx context.Context) error {
		held, err := cache.Charge(ctx, n)
		if err != nil {
			return err
		}
		defer held.Free()
		columns, count, err := rows(ctx)
		if err != nil || count == 0 {
			return err
		}
		return w.Append(count, columns)
	})
}
