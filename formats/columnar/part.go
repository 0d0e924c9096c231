package columnar

import "slices"

// partRows are the rows of a part: a multiple of eight that the processor's cache has room for.
const partRows = 1 << 12

// NewParts returns a Batch as NewBatch does that forgets its rows, a part at a time: take is called before, and at the end
// when there are some that it has not seen. The numbers of columns that place has Placed it does not forget.
func NewParts(columns []Column, g Group, place func(*Vector, int), take func(*Batch)) *Batch {
	b := NewCounter(columns)
	b.skip, b.limit = g.Skip, g.Rows
	for i := range b.Columns {
		v := &b.Columns[i]
		if place(v, i); !v.Placed {
			v.grow(min(g.Rows, partRows), &Counts{})
		} else if v.Nullable {
			v.Valid = make([]bool, 0, min(g.Rows, partRows))
		}
	}
	b.take = func() { take(b) }
	b.begin()
	return b
}

// give gives a part away.
func (b *Batch) give() {
	b.take()
	b.whole = false
	for i := range b.Columns {
		b.Columns[i].forget()
	}
}

// End gives the last part away.
func (b *Batch) End() {
	if b.whole || b.rows%partRows > 0 {
		b.give()
	}
}

// Len returns how many values there are that are no flags.
func (v *Vector) Len() int {
	return len(v.Int32s) + len(v.Int64s) + len(v.Floats) + len(v.Doubles) + len(v.Ends) // of one type only
}

// forget forgets the values of a column.
func (v *Vector) forget() {
	v.Valid, v.Bools = v.Valid[:0], v.Bools[:0]
	if v.Placed {
		return
	}
	v.Int32s, v.Int64s, v.Floats, v.Doubles = v.Int32s[:0], v.Int64s[:0], v.Floats[:0], v.Doubles[:0]
	v.Text, v.Ends, v.ValidItems, v.ItemEnds = v.Text[:0], v.Ends[:0], v.ValidItems[:0], v.ItemEnds[:0]
}

// Room returns how many rows the group, or a part of it, still lacks, 0 while rows are passed over. Up to so many
// without a null may be put behind the values of the columns, where Spare gives them room, in place of adding them
// value by value.
func (b *Batch) Room() int {
	if b.mode != keeping {
		return 0
	}
	if b.whole {
		b.give()
	}
	if b.take != nil {
		return min(b.limit-b.rows, partRows-b.rows%partRows)
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

// roomFor returns the text with room for n bytes more: where there is none, for all that was counted, but for no more
// than three times what came.
func (v *Vector) roomFor(n int) []byte {
	old := len(v.Text)
	if n <= cap(v.Text)-old {
		return v.Text
	}
	return slices.Grow(v.Text, max(n, int(min(v.counted-int64(old), 3*int64(old)))))
}

// Spare returns the room behind the values of a column, for n at most.
func Spare[V int32 | int64](list []V, n int) []V {
	return list[len(list):min(len(list)+n, cap(list))]
}

// Appended says that the columns, which are all of type Int32 and Int64, have n rows more.
func (b *Batch) Appended(n int) {
	if n == 0 {
		return // a part that is whole is still to be given away
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
	b.whole = b.take != nil && b.rows%partRows == 0
	b.begin()
}

// Pass says that n of the rows that the Batch passes over do not come.
func (b *Batch) Pass(n int) {
	b.skip -= n
	b.begin()
}
