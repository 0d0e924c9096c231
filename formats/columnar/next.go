package columnar

import "slices"

// Next lets a Batch take so many rows more, behind those that it has and after skip others, which
// may be of another table of the same columns.
func (b *Batch) Next(rows, skip int) {
	b.limit, b.skip = b.rows+rows, skip
	b.begin()
}

// Back makes a Batch what it was when Clone returned old.
func (b *Batch) Back(old *Batch) { *b = *old.Clone() }

// Took says that the columns have n rows more, whose values were put behind theirs.
func (b *Batch) Took(n int) { b.grew(n) }

// AppendRows appends rows of another Vector of the same column, and the values that they have.
// Where the other knows of no null it need not be Nullable.
func (v *Vector) AppendRows(o *Vector, row, endRow, value, endValue int) {
	if v.Nullable {
		if o.Nullable {
			v.Valid = append(v.Valid, o.Valid[row:endRow]...)
		} else {
			v.Valid = appendTrue(v.Valid, endRow-row)
		}
		v.Nulls += int64(endRow - row - (endValue - value))
	}
	switch {
	case v.Type == Texts:
		v.appendLists(o, row, endRow, value)
	case v.Type == Bool:
		v.Bools = append(v.Bools, o.Bools[value:endValue]...)
	case v.Type == Int32, v.Words != nil:
		v.Int32s = append(v.Int32s, o.Int32s[value:endValue]...)
	case v.Type == Int64, v.Type == Time:
		v.Int64s = append(v.Int64s, o.Int64s[value:endValue]...)
	case v.Type == Float:
		v.Floats = append(v.Floats, o.Floats[value:endValue]...)
	case v.Type == Double:
		v.Doubles = append(v.Doubles, o.Doubles[value:endValue]...)
	default:
		v.appendTexts(o, value, endValue)
	}
}

// appendTexts appends texts of another Vector.
func (v *Vector) appendTexts(o *Vector, from, to int) {
	if from == to {
		return
	}
	start := 0
	if from > 0 {
		start = o.Ends[from-1]
	}
	shift := len(v.Text) - start
	v.Text = append(v.roomFor(o.Ends[to-1]-start), o.Text[start:o.Ends[to-1]]...)
	for _, end := range o.Ends[from:to] {
		v.Ends = append(v.Ends, end+shift)
	}
}

// appendLists appends rows of lists. value is how many texts, and text none are null of, come
// before the first one.
func (v *Vector) appendLists(o *Vector, row, endRow, value int) {
	start := o.itemsBefore(row)
	for ; row < endRow; row++ {
		end, before := o.ItemEnds[row], value
		for _, valid := range o.ValidItems[start:end] {
			if v.ValidItems = append(v.ValidItems, valid); valid {
				value++
			}
		}
		v.appendTexts(o, before, value)
		v.ItemEnds = append(v.ItemEnds, len(v.ValidItems))
		if v.Items += int64(end - start); end == start {
			v.Empty++
		}
		start = end
	}
}

// Values returns how many values, and how many texts of lists, rows of a Vector have.
func (v *Vector) Values(row, endRow int) int {
	list := v.Valid
	switch {
	case v.Type == Texts:
		list = v.ValidItems
		row, endRow = v.itemsBefore(row), v.itemsBefore(endRow)
	case !v.Nullable:
		return endRow - row
	}
	n := 0
	for _, valid := range list[row:endRow] {
		if valid {
			n++
		}
	}
	return n
}

// itemsBefore returns how many items the rows of a list before one have.
func (v *Vector) itemsBefore(row int) int {
	if row == 0 {
		return 0
	}
	return v.ItemEnds[row-1]
}

// appendTrue appends true n times.
func appendTrue(list []bool, n int) []bool {
	list = slices.Grow(list, n)
	for range n {
		list = append(list, true)
	}
	return list
}
