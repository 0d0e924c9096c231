package columnar

import "math"

// A Batch takes rows value by value, each row from the first column to the last. It keeps them by
// column, or only counts them.
//
// A value goes to the next column, whose type the caller knows.
type Batch struct {
	Columns []Vector
	rows    int
	skip    int // rows to pass over
	limit   int // of rows
	room    int // that rows were given
	next    int // column of the next value
	mode    batchMode

	// Where rows are counted:
	last []int64 // of each column what [Batch.Int32s] counted last
}

// What last has besides values:
const noLast = math.MinInt64 // nothing was counted yet

type batchMode uint8

const (
	counting batchMode = iota
	keeping
	passing // over rows that are not of the group
)

// NewBatch returns a Batch that keeps the rows of a group. It passes over the rows before the
// group, from the start of its chunk on, and those after it.
func NewBatch(columns []Column, g Group) *Batch {
	return NewPlacedBatch(columns, g, func(*Vector, int) {})
}

// NewPlacedBatch is NewBatch for columns of which place puts some where their numbers are to stay.
func NewPlacedBatch(columns []Column, g Group, place func(v *Vector, column int)) *Batch {
	b := NewCounter(columns)
	b.skip, b.limit, b.room = g.Skip, g.Rows, min(g.Rows, maxRows)
	for i := range b.Columns {
		v := &b.Columns[i]
		known := Counts{}
		if g.Columns != nil {
			known = g.Columns[i]
		}
		if place(v, i); v.Origin {
			v.Origins, v.Counts = g.Origins, known
			continue
		}
		v.grow(g.Rows, &known)
	}
	b.begin()
	return b
}

// NewCounter returns a Batch that only counts.
func NewCounter(columns []Column) *Batch {
	b := &Batch{Columns: make([]Vector, len(columns)), last: make([]int64, len(columns))}
	for i, c := range columns {
		b.Columns[i].Column = c
		b.last[i] = noLast
	}
	return b
}

// Rows returns how many whole rows were kept or counted.
func (b *Batch) Rows() int { return b.rows }

// Full reports whether all rows of the group were made.
func (b *Batch) Full() bool { return b.rows == b.limit }

// Reset makes a Batch that counts go on as after so many rows with these counts, nil for none.
func (b *Batch) Reset(rows int, counts []Counts) {
	b.rows = rows
	for i := range b.Columns {
		b.Columns[i].Counts = Counts{}
		if counts != nil {
			b.Columns[i].Counts = counts[i]
		}
		b.last[i] = noLast
	}
}

// begin begins a row.
func (b *Batch) begin() {
	switch {
	case b.limit == 0:
	case b.skip > 0, b.rows == b.limit:
		b.mode = passing
	default:
		b.mode = keeping
	}
}

// end ends a row.
func (b *Batch) end() {
	b.next = 0
	switch {
	case b.mode != passing:
		b.rows++
		if b.rows == b.room && b.mode == keeping {
			b.widen()
		}
	case b.skip > 0:
		b.skip--
	}
	b.begin()
}

// column returns the column of the next value and what to do with that.
func (b *Batch) column() (*Vector, batchMode) {
	v, mode := &b.Columns[b.next], b.mode
	if b.next++; b.next == len(b.Columns) {
		b.end()
	}
	if mode == keeping && v.Nullable {
		v.Valid = append(v.Valid, true)
	}
	return v, mode
}

// Null adds no value to a Nullable column.
func (b *Batch) Null() {
	v, mode := b.column()
	if mode == passing {
		return
	}
	v.Nulls++
	if v.Type == Texts {
		v.Empty++
	}
	if mode != keeping {
		return
	}
	if v.Nullable {
		v.Valid[len(v.Valid)-1] = false
	} else {
		before := v.Len() + len(v.Bools)
		v.Nullable, v.Valid = true, append(appendTrue(make([]bool, 0, max(b.room, before+1)), before), false)
	}
	if v.Type == Texts {
		v.ItemEnds = append(v.ItemEnds, len(v.ValidItems))
	}
}

// AddIf adds a value by a method of b, or null if it is not known.
func AddIf[V any](b *Batch, known bool, add func(V), v V) {
	if !known {
		b.Null()
		return
	}
	add(v)
}

// AddOptional adds a value by a method of b, or null if there is none.
func AddOptional[V any](b *Batch, v *V, add func(V)) {
	if v == nil {
		b.Null()
		return
	}
	add(*v)
}

// Bool adds a value of type Bool.
func (b *Batch) Bool(x bool) {
	if v, mode := b.column(); mode == keeping {
		v.Bools = append(v.Bools, x)
	}
}

// Int32 adds a value of type Int32.
func (b *Batch) Int32(x int32) {
	switch v, mode := b.column(); mode {
	case keeping:
		v.Int32s = append(v.Int32s, x)
	case counting:
		v.Bound(int64(x))
	}
}

// Int32s adds values to as many columns of type Int32, faster than one by one.
func (b *Batch) Int32s(list ...int32) {
	vectors := b.Columns[b.next:][:len(list)]
	switch b.mode {
	case keeping:
		for i, x := range list {
			v := &vectors[i]
			v.Int32s = append(v.Int32s, x)
			if v.Nullable {
				v.Valid = append(v.Valid, true)
			}
		}
	case counting:
		last := b.last[b.next:][:len(list)]
		for i, x := range list {
			if int64(x) != last[i] { // most are as in the row before
				last[i] = int64(x)
				vectors[i].Bound(int64(x))
			}
		}
	}
	if b.next += len(list); b.next == len(b.Columns) {
		b.end()
	}
}

// several returns the columns of the next n values, of which none is the last one.
func (b *Batch) several(n int) []Vector {
	vectors := b.Columns[b.next:][:n]
	b.next += n
	return vectors
}

// Bools adds values to as many columns of type Bool, none of them the last.
func (b *Batch) Bools(list ...bool) {
	vectors := b.several(len(list))
	if b.mode != keeping {
		return
	}
	for i, x := range list {
		v := &vectors[i]
		v.Bools = append(v.Bools, x)
		if v.Nullable {
			v.Valid = append(v.Valid, true)
		}
	}
}

// FitInt32 adds a value of type Int32; one that does not fit is null.
func (b *Batch) FitInt32(x int64) {
	if int64(int32(x)) != x {
		b.Null()
		return
	}
	b.Int32(int32(x))
}

// Int64 adds a value of type Int64 or Time.
func (b *Batch) Int64(x int64) {
	switch v, mode := b.column(); mode {
	case keeping:
		v.Int64s = append(v.Int64s, x)
	case counting:
		v.Bound(x)
	}
}

// Float adds a value of type Float.
func (b *Batch) Float(x float32) {
	switch v, mode := b.column(); mode {
	case keeping:
		v.Floats = append(v.Floats, x)
	case counting:
		v.boundFloat(float64(x))
	}
}

// Floats adds values to as many columns of type Float, none of them the last, faster than one by
// one.
func (b *Batch) Floats(list ...float32) {
	vectors := b.several(len(list))
	switch b.mode {
	case keeping:
		for i, x := range list {
			v := &vectors[i]
			v.Floats = append(v.Floats, x)
			if v.Nullable {
				v.Valid = append(v.Valid, true)
			}
		}
	case counting:
		for i, x := range list {
			vectors[i].boundFloat(float64(x))
		}
	}
}

// Double adds a value of type Double.
func (b *Batch) Double(x float64) {
	switch v, mode := b.column(); mode {
	case keeping:
		v.Doubles = append(v.Doubles, x)
	case counting:
		v.boundFloat(x)
	}
}

// Word adds a value to a column with Words, by its number.
func (b *Batch) Word(n int) {
	if v, mode := b.column(); mode == keeping {
		v.Int32s = append(v.Int32s, int32(n))
	}
}

// Text adds a value of type Text. Each byte that is not UTF-8 becomes U+FFFD.
func (b *Batch) Text(s string) { addText(b, s) }

// Bytes adds a value of type Text, as the method Text does. The caller keeps s.
func (b *Batch) Bytes(s []byte) { addText(b, s) }

// JSON adds a value of type Text that is UTF-8, as what package jsonenc writes is.
func (b *Batch) JSON(s []byte) {
	if b.mode == counting {
		b.LaterText(len(s))
	} else if v, mode := b.column(); mode == keeping {
		v.Text = append(v.roomFor(len(s)), s...)
		v.Ends = append(v.Ends, len(v.Text))
	}
}

func addText[S ~string | ~[]byte](b *Batch, s S) {
	v, mode := b.column()
	switch mode {
	case keeping:
		v.Text = appendValid(v.roomFor(len(s)), s)
		v.Ends = append(v.Ends, len(v.Text))
	case counting:
		v.Counts.Bytes += TextLen(s)
	}
}

// Texts adds a value of type Texts.
func (b *Batch) Texts(list []string) {
	v, mode := b.column()
	if mode == passing {
		return
	}
	v.Items += int64(len(list))
	if len(list) == 0 {
		v.Empty++
	}
	for _, s := range list {
		if mode == counting {
			v.Counts.Bytes += TextLen(s)
			continue
		}
		v.Text = appendValid(v.Text, s)
		v.Ends = append(v.Ends, len(v.Text))
		v.ValidItems = append(v.ValidItems, true)
	}
	if mode == keeping {
		v.ItemEnds = append(v.ItemEnds, len(v.ValidItems))
	}
}
