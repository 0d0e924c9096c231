package hcrp

import (
	"context"
	"fmt"

	"recfs/formats"
	"recfs/formats/views"
)

type (
	indexDocument struct {
		formats.IndexHead
		Schema   *string           `json:"schema"`
		Hint     string            `json:"hint,omitempty"`
		Totals   totalsJSON        `json:"totals"`
		Chunks   []struct{}        `json:"chunks"` // the list
		Problems []formats.Problem `json:"problems"`
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
)

// rowsPerPart is how many rows of the table of chunks are made at once: some 160 KiB of text. An
// index of 64 MiB has five million rows, which are 800 MiB.
const rowsPerPart = 1024

// indexText is index.json. Its rows are made when they are read, as a long recording has many.
func (rec *recording) indexText(ctx context.Context, x *index) (*views.Text, error) {
	damage, err := rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	list := views.Elements("chunks", rec.Chunks(), rowsPerPart, func(ctx context.Context, b []byte, i, end int) ([]byte, error) {
		x, err := rec.Index(ctx)
		for ; i < end && err == nil; i++ {
			b = rec.appendRow(append(b, views.NextElement...), x, i)
		}
		return b, err
	})
	list.Document = func(ctx context.Context) (any, error) {
		x, err := rec.Index(ctx)
		if err != nil {
			return nil, err
		}
		return rec.indexDocument(x, damage), nil
	}
	return list.Text(), nil
}

// indexDocument returns index.json without its table of chunks. damage is that of the stream that
// the recording was read from.
func (r *Reader) indexDocument(x *index, damage *formats.Problem) *indexDocument {
	end := r.end()
	doc := &indexDocument{
		IndexHead: formats.IndexHead{
			Format: formatName, Complete: x.complete, Finished: end == endCompacted || end == endFinished, End: end,
		},
		Hint: r.schema.hint(x), Totals: r.totals(x), Chunks: []struct{}{},
	}
	if r.schema != nil {
		doc.Schema = &r.schema.Name
	}
	doc.Problems = doc.Damaged(r.allProblems(x.problems), damage)
	return doc
}

// totals sums up the index entries and, if a schema fits, what the pass found.
func (r *Reader) totals(x *index) totalsJSON {
	sum := totalsJSON{Chunks: r.Chunks(), Ticks: r.totalTicks(), Size: r.bodyBytes()}
	var events int64
	for i := range r.Chunks() {
		sum.Stored += max(r.Entry(i).Stored, 0)
		events += int64(max(x.rows[i].events, 0))
	}
	if r.schema != nil {
		sum.EmptyTicks, sum.Events, sum.EventsByName = &x.empty, &events, x.names
	}
	return sum
}

func (r *Reader) appendRow(b []byte, x *index, i int) []byte {
	e, p, n := r.Entry(i), r.place(i), x.rows[i]
	b = fmt.Appendf(b, `{"chunk":%d,"first_tick":%d,"last_tick":%d,"ticks":%d`, i, e.Start, e.Last(), e.Ticks)
	if r.segmented {
		b = fmt.Appendf(b, `,"segment":%d`, p.segment)
	}
	b = fmt.Appendf(b, `,"offset":%d,"stored":%d,"size":%d,"snapshot":%t,"flags":%d`, p.offset, e.Stored, e.Size, e.Snapshot(), e.Flags)
	if n == unreadable || r.schema == nil {
		return append(b, `,"records":null,"events":null}`...)
	}
	return fmt.Appendf(b, `,"records":%d,"events":%d}`, n.records, n.events)
}
