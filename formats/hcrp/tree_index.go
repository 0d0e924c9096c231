package hcrp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

type headerDocument struct {
	formats.HeaderHead
	Form     string             `json:"form"`
	Finished *bool              `json:"finished,omitempty"`
	Source   formats.SourceInfo `json:"source"`
	Header   headerJSON         `json:"header"`
	Problems []formats.Problem  `json:"problems"`
}

func (rec *recording) headerDocument(context.Context) (any, error) {
	r := rec.reader
	doc := headerDocument{
		HeaderHead: formats.HeaderHead{
			Format: formatName, FormatVersion: strconv.Itoa(r.Header.Version), Layout: string(r.Header.Layout),
		},
		Form: "compacted", Source: rec.src.Info(), Header: r.Header.json(), Problems: listOf(r.Problems),
	}
	if r.segmented {
		doc.Form, doc.Finished = "segmented", &r.Finished
	}
	return doc, nil
}

// listOf makes JSON show an empty list, not null.
func listOf[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// index.json is made in three pieces, as a long recording has many chunks: all
// in front of their table, its rows, and the problems.
type (
	indexHead struct {
		formats.IndexHead
		Schema *string    `json:"schema"`
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

// rowsPerPiece is how many rows of the table are made at once.
const rowsPerPiece = 1024

// An index is index.json but for its rows.
type indexText struct {
	head, tail []byte
	rows       []int64 // bytes of each piece of rows
}

func (rec *recording) loadIndexText(ctx context.Context, _ struct{}) (*indexText, int64, error) {
	s, err := rec.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	r := rec.reader
	end := r.end()
	doc := indexHead{
		IndexHead: formats.IndexHead{
			Format: formatName, Complete: s.index.complete, Finished: end == endCompacted || end == endFinished, End: end,
		},
		Totals: totalsJSON{Chunks: r.Chunks()},
	}
	t := &doc.Totals
	var events int64
	var sizes []int64
	for i := 0; i < r.Chunks(); i += rowsPerPiece {
		for k := i; k < min(i+rowsPerPiece, r.Chunks()); k++ {
			e := r.Entry(k)
			t.Ticks += max(e.Ticks, 0)
			t.Stored += max(e.Stored, 0)
			t.Size += max(e.Size, 0)
			events += int64(max(s.index.rows[k].events, 0))
		}
		sizes = append(sizes, int64(len(rec.indexRows(s.index, i))))
	}
	if rec.schema != nil {
		doc.Schema, t.EmptyTicks, t.Events, t.EventsByName = &rec.schema.Name, &s.index.empty, &events, s.index.names
	}
	x := &indexText{}
	if x.head, err = nodes.MarshalIndented(doc); err != nil {
		return nil, 0, err
	}
	if x.tail, err = nodes.MarshalIndented(indexTail{listOf(r.allProblems(s.index.problems))}); err != nil {
		return nil, 0, err
	}
	x.head = append(bytes.TrimSuffix(x.head, []byte("\n}\n")), ",\n  \"chunks\": ["...)
	between := "],"
	if len(sizes) > 0 {
		between = "\n  ],"
	}
	x.tail = append([]byte(between), x.tail[1:]...) // without its brace
	x.rows = sizes
	return x, int64(cap(x.head) + cap(x.tail) + 8*cap(x.rows)), nil
}

// openIndex opens index.json.
func (rec *recording) openIndex(ctx context.Context) (nodes.Content, error) {
	x, err := rec.indexText.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	s, err := rec.index(ctx)
	if err != nil {
		return nil, err
	}
	p := nodes.NewPieces(func(_ context.Context, i int) ([]byte, error) {
		switch i {
		case 0:
			return x.head, nil
		case len(x.rows) + 1:
			return x.tail, nil
		}
		return rec.indexRows(s.index, (i-1)*rowsPerPiece), nil
	})
	p.Add(int64(len(x.head)))
	for _, n := range x.rows {
		p.Add(n)
	}
	p.Add(int64(len(x.tail)))
	return p, nil
}

// indexRows returns rows of the table of chunks from one on.
func (rec *recording) indexRows(s *index, from int) (b []byte) {
	for i := from; i < min(from+rowsPerPiece, rec.reader.Chunks()); i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		b = rec.appendIndexRow(b, i, s.rows[i])
	}
	return b
}

func (rec *recording) appendIndexRow(b []byte, i int, n row) []byte {
	e, p := rec.reader.Entry(i), rec.reader.place(i)
	b = fmt.Appendf(b, `{"chunk":%d,"first_tick":%d,"last_tick":%d,"ticks":%d`, i, e.Start, e.Last(), e.Ticks)
	if rec.reader.segmented {
		b = fmt.Appendf(b, `,"segment":%d`, p.segment)
	}
	b = fmt.Appendf(b, `,"offset":%d,"stored":%d,"size":%d,"snapshot":%t,"flags":%d`, p.offset, e.Stored, e.Size, e.Snapshot(), e.Flags)
	if n == unreadable || rec.schema == nil {
		return append(b, `,"records":null,"events":null}`...)
	}
	return fmt.Appendf(b, `,"records":%d,"events":%d}`, n.records, n.events)
}

// How a recording ends (docs/tree/hcrp.md section 3).
const (
	endCut        = "cut"        // bytes that header or index name are missing
	endCompacted  = "compacted"  // one file, written when the recording was over
	endFinished   = "finished"   // segments with the marker
	endUnfinished = "unfinished" // segments without it: still running, or crashed
)

// end says how the recording ends.
func (r *Reader) end() string {
	cut := slices.ContainsFunc(r.Problems, func(p formats.Problem) bool {
		switch p.Code {
		case codeIndexTruncated, codeMetadataTruncated, codeOutOfFile, codeSegmentTruncated, codeSegmentMissing:
			return true
		}
		return false
	})
	switch {
	case cut:
		return endCut
	case !r.segmented:
		return endCompacted
	case r.Finished:
		return endFinished
	}
	return endUnfinished
}

// allProblems returns the problems known at once and those of the index: what
// is not about one chunk first, then chunk by chunk.
func (r *Reader) allProblems(indexed []formats.Problem) []formats.Problem {
	n := len(r.Problems) - r.chunkProblems
	chunks := slices.Concat(r.Problems[n:], indexed)
	slices.SortStableFunc(chunks, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	return append(slices.Clip(r.Problems[:n]), chunks...)
}

// An indexed is an index and the directories that it gives.
type indexed struct {
	index  *index
	ticks  *nodes.Series
	states *nodes.Series
	tracks nodes.Dir
}

func (rec *recording) index(ctx context.Context) (*indexed, error) {
	return rec.indexes.Get(ctx, struct{}{})
}

func (rec *recording) newIndexes(c *cache.Cache) *cache.Memo[struct{}, *indexed] {
	m := cache.NewMemo(c, func(ctx context.Context, _ struct{}) (*indexed, int64, error) {
		s, err := rec.makeIndex(ctx)
		if err != nil {
			return nil, 0, err
		}
		return rec.show(s), s.weight(), nil
	})
	name := func(struct{}) string {
		if rec.src.ID == "" || rec.reader.bodies() < worthSaving {
			return ""
		}
		return rec.src.ID + "-" + formatName + "-" + rec.variant()
	}
	return m.Durable(name,
		func(s *indexed) []byte { return s.index.pack(rec.reader.byTick) },
		func(ctx context.Context, _ struct{}, b []byte) (*indexed, int64, error) {
			s, err := rec.resumeIndex(ctx, b)
			if err != nil {
				return nil, 0, err
			}
			return rec.show(s), s.weight(), nil
		})
}

// worthSaving is how many bytes of bodies a recording has whose index is worth
// a file on disk: to read one takes as long as to index so much.
const worthSaving = 64 << 10

// bodies returns the bytes of all chunks, as far as the index can be believed.
func (r *Reader) bodies() (n int64) {
	for i := range r.Chunks() {
		n += max(r.Entry(i).Size, 0)
	}
	return n
}

func (rec *recording) show(s *index) *indexed {
	v := &indexed{index: s}
	v.ticks = tickSeries(s.ticks, rec.tickFile, nil)
	v.states = tickSeries(s.ticks, rec.stateFile, rec.hasState)
	v.tracks = rec.trackList(v)
	return v
}
