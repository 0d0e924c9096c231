package teehistorian

import (
	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
)

// rowCounters are those of the tables whose rows follow from records.
type rowCounters [rowTables]*rowcount.Counter

// newRowCounters returns counters of no rows.
func newRowCounters() (c rowCounters) {
	for t := range c {
		c[t] = rowcount.New(rowColumns[t])
	}
	return c
}

// endChunk ends a chunk in all tables.
func (c *rowCounters) endChunk() {
	for _, t := range c {
		t.EndChunk()
	}
}

// A hotRows counts the rows of a table that nearly all records have. It gathers them for its
// Counter.
type hotRows struct {
	*rowcount.Counter
	left        int // how many more it may gather
	room        int // left when it began to
	first, last int32
	nulls       int64
}

// row counts a row.
func (h *hotRows) row(tick int32) {
	if h.left == 0 {
		h.begin(tick)
	}
	h.left--
	h.last = tick
}

// null says that the row counted last has nothing but tick, cid and stay.
func (h *hotRows) null() { h.nulls++ }

// begin begins to gather rows.
func (h *hotRows) begin(tick int32) {
	h.flush()
	h.first, h.room = tick, h.Room()
	h.left = h.room
}

// flush counts what was gathered.
func (h *hotRows) flush() {
	if n := h.room - h.left; n > 0 {
		counts := make([]columnar.Counts, len(h.Columns))
		for i := range counts {
			if h.Columns[i].Nullable {
				counts[i].Nulls = h.nulls
			}
		}
		counts[0] = columnar.Counts{Min: int64(h.first), Max: int64(h.last), Bounded: true}
		h.Add(n, counts)
	}
	h.room, h.left, h.nulls = 0, 0, 0
}
