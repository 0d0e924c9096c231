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
		at[i] = o.Columns[i].Values(0, row)
	}
	b.skip -= row
	b.begin()
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

// Room returns how many rows the group still lacks, 0 while rows are passed over. Up to so many
// without a null may be put behind the values of the columns, where Spare gives them room, in place
// of adding them value by value.
func (b *Batch) Room() int {
	if b.mode != keeping {
		return 0
	}
	return b.limit - b.rows
}

// widen makes room for as many rows as there are, which append would do in many steps.
func (b *Batch) widen() {
	n := min(b.rows, b.limit-b.rows)
	b.room += n
	for i := range b.Columns {
		v := &b.Columns[i]
		v.Valid, v.Bools, v.Ends = wider(v.Valid, n), wider(v.Bools, n), wider(v.Ends, n)
		if v.Placed {
			continue
		}
		v.Int32s, v.Int64s, v.Floats, v.Doubles = wider(v.Int32s, n), wider(v.Int64s, n), wider(v.Floats, n), wider(v.Doubles, n)
	}
}

// wider returns a list with room for n more, or for none where nothing came.
func wider[V any](list []V, n int) []V {
	if len(list) == 0 {
		return list
	}
	return slices.Grow(list, n)
}

// Spare returns the room behind the values of a column, for n at most.
func Spare[V int32 | int64](list []V, n int) []V {
	return list[len(list):min(len(list)+n, cap(list))]
}

// Appended says that the columns, which are all of type Int32 and Int64, have n rows more.
func (b *Batch) Appended(n int) {
	if n == 0 {
		return
	}
	for i := range b.Columns {
		v := &b.Columns[i]
		switch v.Type {
		case Int32:
			v.Int32s = v.Int32s[:len(v.Int32s)+n]
		case Int64:
			v.Int64s = v.Int64s[:len(v.Int64s)+n]
		}
		if v.Nullable {
			old := len(v.Valid)
			v.Valid = slices.Grow(v.Valid, n)[:old+n]
			v.Valid[old] = true
			for k := 1; k < n; k *= 2 { // copies of what is there, the faster the longer
				copy(v.Valid[old+k:], v.Valid[old:old+k])
			}
		}
	}
	b.grew(n)
}

// grew says that the Batch has n rows more.
func (b *Batch) grew(n int) {
	b.rows += n
	b.begin()
}

// Next lets a Batch take so many rows more, behind those that it has and after skip others, which
// may be of another table of the same columns.
func (b *Batch) Next(rows, skip int) {
	b.limit, b.skip = b.rows+rows, skip
	b.begin()
}

// Took says that the columns have n rows more, whose values were put behind theirs.
func (b *Batch) Took(n int) { b.grew(n) }
