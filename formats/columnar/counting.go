package columnar

import "slices"

// Clone returns a Batch that counts on from where b is, without b.
func (b *Batch) Clone() *Batch {
	c := *b
	c.Columns, c.last = slices.Clone(b.Columns), slices.Clone(b.last)
	return &c
}

// Nulls adds no value to as many Nullable columns, none of them the last and none of type Texts,
// faster than one by one.
func (b *Batch) Nulls(n int) {
	if b.mode != counting {
		for range n {
			b.Null()
		}
		return
	}
	for i := b.next; i < b.next+n; i++ {
		b.Columns[i].Nulls++
	}
	b.next += n
}

// Counts returns what was counted of each column.
func (b *Batch) Counts() []Counts {
	list := make([]Counts, len(b.Columns))
	for i := range list {
		list[i] = b.Columns[i].Counts
	}
	return list
}

// Later counts a number that is not known before its row is made.
func (b *Batch) Later() { b.column() }

// LaterText counts a text of n bytes of UTF-8 that is not made before its row.
func (b *Batch) LaterText(n int) {
	v, _ := b.column()
	v.Counts.Bytes += int64(n)
}

// Add counts rows that were counted elsewhere.
func (b *Batch) Add(rows int, counts []Counts) {
	for i := range b.Columns {
		b.Columns[i].Counts.Add(&counts[i], b.Columns[i].Type)
	}
	b.rows += rows
}
