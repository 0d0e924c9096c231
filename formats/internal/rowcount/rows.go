package rowcount

import (
	"slices"

	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
)

// WriteRows writes the rows that a batch has kept, one after the other, and calls end after each.
// Their columns have neither words nor lists.
//
//	row: | bits of the columns that are null | value … |
//
// value: a number zigzag, a text, a flag u8, or the bytes of a Float or Double
func WriteRows(w *indexfile.Writer, b *columnar.Batch, end func()) {
	at := make([]int, len(b.Columns)) // the next value of each column
	nulls := make([]byte, (len(at)+7)/8)
	for row := range b.Rows() {
		clear(nulls)
		for i := range b.Columns {
			if v := &b.Columns[i]; v.Nullable && !v.Valid[row] {
				nulls[i/8] |= 1 << (i % 8)
			}
		}
		for _, bits := range nulls {
			w.U8(bits)
		}
		for i := range b.Columns {
			if nulls[i/8]>>(i%8)&1 == 0 {
				writeValue(w, &b.Columns[i], at[i])
				at[i]++
			}
		}
		end()
	}
}

func writeValue(w *indexfile.Writer, v *columnar.Vector, i int) {
	switch v.Type {
	case columnar.Bool:
		w.Bool(v.Bools[i])
	case columnar.Int32:
		w.Int(int64(v.Int32s[i]))
	case columnar.Int64, columnar.Time:
		w.Int(v.Int64s[i])
	case columnar.Float:
		w.F32(v.Floats[i])
	case columnar.Double:
		w.F64(v.Doubles[i])
	default:
		w.Blob(v.TextAt(i))
	}
}

// ReadRows adds so many rows, as they were written, to a batch.
func ReadRows(r *indexfile.Reader, b *columnar.Batch, rows int) {
	nulls := make([]byte, (len(b.Columns)+7)/8)
	for ; rows > 0 && r.Err() == nil; rows-- {
		copy(nulls, r.Bytes(len(nulls)))
		for i := range b.Columns {
			if nulls[i/8]>>(i%8)&1 == 1 {
				b.Null()
				continue
			}
			switch b.Columns[i].Type {
			case columnar.Bool:
				b.Bool(r.Bool())
			case columnar.Int32:
				b.Int32(r.Int32())
			case columnar.Int64, columnar.Time:
				b.Int64(r.Int())
			case columnar.Float:
				b.Float(r.F32())
			case columnar.Double:
				b.Double(r.F64())
			default:
				b.Bytes(r.Bytes(r.Count(1)))
			}
		}
	}
}

// CodeCounts writes or reads what is known of rows: a group, any column of which may have nulls.
func CodeCounts(c indexfile.Codec, columns []columnar.Column, g *columnar.Group) {
	columns = slices.Clone(columns)
	for i := range columns {
		columns[i].Nullable = true
	}
	codeGroup(c, columns, g)
}
