package columnar

import "slices"

// A Vector is the values of a column. Of its slices the one of its type has a value for each row
// that is not null.
type Vector struct {
	Column
	Counts
	Valid   []bool // of each row of a Nullable column: it is not null
	Bools   []bool
	Int32s  []int32 // of Int32, and the numbers of Words
	Int64s  []int64 // of Int64 and Time
	Floats  []float32
	Doubles []float64
	Text    []byte   // of Text and Texts, end to end
	Ends    []int    // in Text, of each text
	Origins []Origin // in place of values
	counted int64    // bytes of Text in the group
	Placed  bool     // the numbers lie where they are to stay, with room for all that were counted
	// Of Texts: of each item, null or not, that it is not null, and after which item each row ends.
	ValidItems []bool
	ItemEnds   []int
}

// maxRoom bounds the room for text that is made beforehand: counts may come from a saved index, and
// prove nothing. Most groups have less, 128 bytes a row.
const maxRoom = 128 * GroupRows

// maxRows bounds the rows that room is made for. Most groups have up to a chunk more than
// GroupRows.
const maxRows = GroupRows + GroupRows/2

// grow makes room for what was counted.
func (v *Vector) grow(rows int, c *Counts) {
	rows = min(rows, maxRows)
	if v.Nullable {
		v.Valid = make([]bool, 0, rows)
	}
	n := max(rows-int(c.Nulls), 0)
	switch {
	case v.Placed:
	case v.Type == Bool:
		v.Bools = make([]bool, 0, n)
	case v.Type == Int32, v.Words != nil:
		v.Int32s = make([]int32, 0, n)
	case v.Type == Int64, v.Type == Time:
		v.Int64s = make([]int64, 0, n)
	case v.Type == Float:
		v.Floats = make([]float32, 0, n)
	case v.Type == Double:
		v.Doubles = make([]float64, 0, n)
	default:
		v.counted = c.Bytes
		v.Text, v.Ends = make([]byte, 0, min(c.Bytes, maxRoom)), make([]int, 0, n)
	}
}

// Measure finds the least and the greatest of the values that were kept. Those that are only
// counted are measured as they come.
func (v *Vector) Measure() {
	switch v.Type {
	case Int32:
		boundAll(&v.Counts, v.Int32s)
	case Int64, Time:
		boundAll(&v.Counts, v.Int64s)
	case Float:
		for _, x := range v.Floats {
			v.boundFloat(float64(x))
		}
	case Double:
		for _, x := range v.Doubles {
			v.boundFloat(x)
		}
	}
}

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

// roomFor returns the text with room for n bytes more: where there is none, for all that was
// counted, but for no more than three times what came.
func (v *Vector) roomFor(n int) []byte {
	old := len(v.Text)
	if n <= cap(v.Text)-old {
		return v.Text
	}
	return slices.Grow(v.Text, max(n, int(min(v.counted-int64(old), 3*int64(old)))))
}

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
