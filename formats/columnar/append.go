package columnar

import (
	"math"
	"slices"
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
		at[i] = o.Columns[i].present(0, row)
	}
	b.Pass(row)
	for row < o.rows && !b.Full() {
		end := row + min(b.Room(), o.rows-row)
		for i := range at {
			v, from := &b.Columns[i], &o.Columns[i]
			values := from.present(row, end)
			if v.Nullable {
				if from.Nullable {
					v.Valid = append(v.Valid, from.Valid[row:end]...)
				} else {
					v.Valid = appendTrue(v.Valid, end-row)
				}
				v.Nulls += int64(end - row - values)
			}
			v.add(from, at[i], at[i]+values)
			at[i] += values
		}
		b.grew(end - row)
		row = end
	}
}

// appendTrue appends true n times.
func appendTrue(list []bool, n int) []bool {
	list = slices.Grow(list, n)
	for range n {
		list = append(list, true)
	}
	return list
}

// present returns how many of some rows have a value.
func (v *Vector) present(row, end int) int {
	if v.Nulls == 0 {
		return end - row
	}
	n := 0
	for _, valid := range v.Valid[row:end] {
		if valid {
			n++
		}
	}
	return n
}

// add adds values of o from one on, up to another.
func (v *Vector) add(o *Vector, from, to int) {
	switch {
	case v.Type == Bool:
		v.Bools = append(v.Bools, o.Bools[from:to]...)
	case v.Type == Int32, v.Words != nil:
		v.Int32s = append(v.Int32s, o.Int32s[from:to]...)
	case v.Type == Int64, v.Type == Time:
		v.Int64s = append(v.Int64s, o.Int64s[from:to]...)
	case v.Type == Float:
		v.Floats = append(v.Floats, o.Floats[from:to]...)
	case v.Type == Double:
		v.Doubles = append(v.Doubles, o.Doubles[from:to]...)
	case from < to:
		start := o.textStart(from)
		for _, end := range o.Ends[from:to] {
			v.Ends = append(v.Ends, len(v.Text)+end-start)
		}
		v.Text = append(v.Text, o.Text[start:o.Ends[to-1]]...)
	}
}

// textStart returns where a text begins.
func (v *Vector) textStart(i int) int {
	if i == 0 {
		return 0
	}
	return v.Ends[i-1]
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
