package columnar

import "slices"

// Len returns how many values there are that are no flags.
func (v *Vector) Len() int {
	return len(v.Int32s) + len(v.Int64s) + len(v.Floats) + len(v.Doubles) + len(v.Ends) // of one type only
}

// TextAt returns a text.
func (v *Vector) TextAt(i int) []byte {
	if i == 0 {
		return v.Text[:v.Ends[0]]
	}
	return v.Text[v.Ends[i-1]:v.Ends[i]]
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

// roomFor returns the text with room for n bytes more: where there is none, for all that was
// counted, but for no more than three times what came.
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

// Pass says that n of the rows that the Batch passes over do not come.
func (b *Batch) Pass(n int) {
	b.skip -= n
	b.begin()
}
