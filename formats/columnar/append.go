package columnar

import (
	"math"
	"unsafe"
)

// NewRows returns a Batch that keeps all rows, for [Batch.Append], and has room for some. It is the
// row behind them that makes more, and the first null of a column that makes it a Nullable one.
func NewRows(columns []Column, room int) *Batch {
	b := NewCounter(columns)
	b.limit, b.room = math.MaxInt, room+1
	for i := range b.Columns {
		b.Columns[i].Nullable = false
		b.Columns[i].grow(room, &Counts{Bytes: shortText * int64(room)})
	}
	b.begin()
	return b
}

// shortText is for how many bytes of a text there is room. A name has some ten.
const shortText = 8

// Append adds the rows that o has kept, of the same columns, none of which has lists.
func (b *Batch) Append(o *Batch) {
	row := min(b.skip, o.rows)
	at := make([]int, len(o.Columns)) // the next value of each column
	for i := range at {
		at[i] = o.Columns[i].Values(0, row)
	}
	b.Pass(row)
	for row < o.rows && !b.Full() {
		end := row + min(b.Room(), o.rows-row)
		for i := range at {
			next := at[i] + o.Columns[i].Values(row, end)
			b.Columns[i].AppendRows(&o.Columns[i], row, end, at[i], next)
			at[i] = next
		}
		b.grew(end - row)
		row = end
	}
}

// AppendIf adds the rows of o that keep says, one by one. values has the number of the value that
// each column goes on with.
func (b *Batch) AppendIf(o *Batch, keep func(row int, values []int) bool) {
	values, next := make([]int, len(o.Columns)), make([]int, len(o.Columns))
	for row := range o.rows {
		for i := range next {
			next[i] = values[i] + o.Columns[i].Values(row, row+1)
		}
		if keep(row, values) {
			for i := range next {
				b.Columns[i].AppendRows(&o.Columns[i], row, row+1, values[i], next[i])
			}
			b.grew(1)
		}
		values, next = next, values
	}
}

// Size returns how many bytes of memory the rows have that are kept, and their columns.
func (b *Batch) Size() (n int64) {
	n = int64(len(b.Columns)) * int64(unsafe.Sizeof(Vector{}))
	for i := range b.Columns {
		v := &b.Columns[i]
		n += int64(cap(v.Valid) + cap(v.Bools) + cap(v.Text) + cap(v.ValidItems))
		n += 4 * int64(cap(v.Int32s)+cap(v.Floats))
		n += 8 * int64(cap(v.Int64s)+cap(v.Doubles)+cap(v.Ends)+cap(v.ItemEnds))
	}
	return n
}
