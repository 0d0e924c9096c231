package columnar

import "slices"

// Clone returns a Batch that counts on from where b is, without b.
func (b *Batch) Clone() *Batch {
	c := *b
	c.Columns, c.last = slices.Clone(b.Columns), slices.Clone(b.last)
	return &c
}

// Nulls adds no value to as many Nullable columns, none of them the last and none of type Texts, faster than one by one.
func (b *Batch) Nulls(n int) {
	if b.mode != counting {
		for range n {
			b.Null()
		}
		return
	}
	for i := b.next; i < b.next+n; i++ {
		b.last[i] = null
		b.Columns[i].Nulls++
	}
	b.next += n
}

// Later counts a number that is not known before its row is made.
func (b *Batch) Later() { b.column() }

// LaterText counts a text of n bytes of UTF-8 that is not made before its row.
func (b *Batch) LaterText(n int) {
	b.last[b.next] = int64(n)
	v, _ := b.column()
	v.Counts.Bytes += int64(n)
}

// Again counts the next n values of a row, which are as in the row before, one of the group. Of their columns only those
// of texts may be null.
func (b *Batch) Again(n int) {
	end := b.next + n
	for _, i := range b.texts {
		if i < b.next || i >= end {
			continue
		}
		if n := b.last[i]; n == null {
			b.Columns[i].Nulls++
		} else {
			b.Columns[i].Counts.Bytes += n
		}
	}
	if b.next = end; end == len(b.Columns) {
		b.end()
	}
}
