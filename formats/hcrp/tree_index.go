package hcrp

import (
	"bytes"
	"context"
	"fmt"

	"recfs/formats"
	"recfs/nodes"
)

// index.json is made in three pieces, as a long recording has many chunks: all before their table,
// its rows, and the problems.
type (
	indexHead struct {
		formats.IndexHead
		Schema *string    `json:"schema"`
		Hint   string     `json:"hint,omitempty"`
		Totals totalsJSON `json:"totals"`
	}
	totalsJSON struct {
		Chunks       int              `json:"chunks"`
		Ticks        int64            `json:"ticks"`
		Stored       int64            `json:"stored"`
		Size         int64            `json:"size"`
		EmptyTicks   *int64           `json:"empty_ticks"`
		Events       *int64           `json:"events"`
		EventsByName map[string]int64 `json:"events_by_name"`
	}
	indexTail struct {
		Problems []formats.Problem `json:"problems"`
	}
)

// rowsPerPiece is how many rows of the table are made at once: some 160 KiB of text. An index of 64
// MiB has five million rows, which are 800 MiB.
const rowsPerPiece = 1024

// An indexText is index.json. Its rows are made when they are read, as a long recording has many.
type indexText struct {
	r          eventReader
	index      *index
	head, tail []byte
	pieces     []int64 // bytes of each piece of the rows between them
}

// newIndexText makes head and tail, and learns the sizes of the rows. damage is that of the stream that the
// recording was read from.
func newIndexText(r eventReader, x *index, damage *formats.Problem) (*indexText, error) {
	t := &indexText{r: r, index: x}
	end := r.end()
	doc := indexHead{
		IndexHead: formats.IndexHead{
			Format: formatName, Complete: x.complete, Finished: end == endCompacted || end == endFinished, End: end,
		},
		Hint: r.schema.hint(x), Totals: t.totals(),
	}
	if r.schema != nil {
		doc.Schema = &r.schema.Name
	}
	problems := doc.Damaged(listOf(r.allProblems(x.problems)), damage)
	head, err := nodes.MarshalIndented(doc)
	if err != nil {
		return nil, err
	}
	tail, err := nodes.MarshalIndented(indexTail{problems})
	if err != nil {
		return nil, err
	}
	between := "],"
	if r.Chunks() > 0 {
		between = "\n  ],"
	}
	t.head = append(bytes.TrimSuffix(head, []byte("\n}\n")), ",\n  \"chunks\": ["...)
	t.tail = append([]byte(between), tail[1:]...) // without its brace
	for i := 0; i < r.Chunks(); i += rowsPerPiece {
		t.pieces = append(t.pieces, int64(len(t.rows(i))))
	}
	return t, nil
}

// weight returns the bytes that the text keeps alive.
func (t *indexText) weight() int64 { return int64(cap(t.head) + cap(t.tail) + 8*cap(t.pieces)) }

// open returns the whole text.
func (t *indexText) open() nodes.Content {
	p := nodes.NewPieces(func(_ context.Context, i int) ([]byte, error) {
		switch i {
		case 0:
			return t.head, nil
		case len(t.pieces) + 1:
			return t.tail, nil
		}
		return t.rows((i - 1) * rowsPerPiece), nil
	})
	p.Add(int64(len(t.head)))
	for _, n := range t.pieces {
		p.Add(n)
	}
	p.Add(int64(len(t.tail)))
	return p
}

// totals sums up the index entries and, if a schema fits, what the pass found.
func (t *indexText) totals() totalsJSON {
	x, sum := t.index, totalsJSON{Chunks: t.r.Chunks()}
	var events int64
	for i := range t.r.Chunks() {
		e := t.r.Entry(i)
		sum.Ticks += max(e.Ticks, 0)
		sum.Stored += max(e.Stored, 0)
		sum.Size += max(e.Size, 0)
		events += int64(max(x.rows[i].events, 0))
	}
	if t.r.schema != nil {
		sum.EmptyTicks, sum.Events, sum.EventsByName = &x.empty, &events, x.names
	}
	return sum
}

// rows returns rows of the table of chunks from one on.
func (t *indexText) rows(from int) (b []byte) {
	for i := from; i < min(from+rowsPerPiece, t.r.Chunks()); i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		b = t.appendRow(b, i)
	}
	return b
}

func (t *indexText) appendRow(b []byte, i int) []byte {
	e, p, n := t.r.Entry(i), t.r.place(i), t.index.rows[i]
	b = fmt.Appendf(b, `{"chunk":%d,"first_tick":%d,"last_tick":%d,"ticks":%d`, i, e.Start, e.Last(), e.Ticks)
	if t.r.segmented {
		b = fmt.Appendf(b, `,"segment":%d`, p.segment)
	}
	b = fmt.Appendf(b, `,"offset":%d,"stored":%d,"size":%d,"snapshot":%t,"flags":%d`, p.offset, e.Stored, e.Size, e.Snapshot(), e.Flags)
	if n == unreadable || t.r.schema == nil {
		return append(b, `,"records":null,"events":null}`...)
	}
	return fmt.Appendf(b, `,"records":%d,"events":%d}`, n.records, n.events)
}
