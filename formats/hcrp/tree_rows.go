package hcrp

import (
	"context"
	"fmt"
	"sort"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// entryCost is about how much memory an entry of tracks/ takes.
const entryCost = 256

// trackList returns tracks/, and what it takes in memory.
func (rec *recording) trackList(x *index) (nodes.Dir, int64) {
	var entries []nodes.Entry
	for i := range x.tracks {
		t := &x.tracks[i]
		name := fmt.Sprintf("entity-%d.csv", t.Entity)
		if t.Life > 1 {
			name = fmt.Sprintf("entity-%d-%d.csv", t.Entity, t.Life)
		}
		entries = append(entries, nodes.Entry{Name: name, Grows: rec.Grows, File: rec.Text("tracks", i, rec.trackText(i))})
	}
	return nodes.List(entries...), int64(len(entries)) * entryCost
}

// trackText is the file of the i-th track.
func (rec *recording) trackText(i int) func(context.Context, *index) (*views.Text, error) {
	return func(_ context.Context, x *index) (*views.Text, error) {
		return rec.rowsText(x, trackHead, x.tracks[i].Pieces, func(x *index, p *replay, out *[]byte) observer {
			t := &x.tracks[i]
			return &placementRows{replay: p, lives: map[int64][]*track{t.Entity: {t}}, row: func(n int64, p *placement) {
				*out = appendTrackRow(*out, n, &p.pos, nil)
			}}
		}), nil
	}
}

// ghostText is export/ghost.csv.
func (rec *recording) ghostText(_ context.Context, x *index) (*views.Text, error) {
	var pieces []piece
	for i := range x.ranges {
		if n := x.ranges[i].Ghost; n > 0 {
			pieces = append(pieces, piece{i, n})
		}
	}
	return rec.rowsText(x, ghostHead, pieces, func(_ *index, p *replay, out *[]byte) observer {
		return &ghostRows{replay: p, out: out}
	}), nil
}

// A rowsPart is a part of a CSV file: the tick ranges from begin up to end, which are played
// together.
type rowsPart struct{ begin, end int }

// rowsPerFile is how many bytes of rows a part of a CSV file has at most, if it is of more than one
// tick range.
const rowsPerFile = 1 << 20

// rowsText is a CSV file: a head, then the rows of pieces. The observer that watch makes appends
// them to out. Each part of the file begins at a checkpoint, unless a stretch has too many rows.
func (rec *recording) rowsText(x *index, head string, pieces []piece, watch func(x *index, p *replay, out *[]byte) observer) *views.Text {
	sizes, parts, last := []int64{int64(len(head))}, []rowsPart{{}}, -2
	for _, p := range pieces {
		k, n := x.stretch(p.Range), len(parts)-1
		if k != last || sizes[n]+p.Size > rowsPerFile {
			parts, sizes, n = append(parts, rowsPart{begin: p.Range}), append(sizes, 0), n+1
		}
		sizes[n], parts[n].end, last = sizes[n]+p.Size, p.Range+1, k
	}
	return &views.Text{N: len(parts), Sizes: sizes, Cost: int64(16 * cap(parts)), Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		if i == 0 {
			return views.Part{Bytes: []byte(head)}, nil
		}
		x, err := rec.Index(ctx)
		if err != nil {
			return views.Part{}, err
		}
		out := make([]byte, 0, sizes[i])
		err = rec.playback(x).walk(ctx, parts[i].begin, parts[i].end, func(p *replay) observer { return watch(x, p, &out) }, nil)
		return views.Part{Bytes: out}, err
	}}
}

// markersText is markers.json, a part for each tick range that has some.
func (rec *recording) markersText(_ context.Context, x *index) (*views.Text, error) {
	var ranges []int
	for i := range x.ranges {
		if x.ranges[i].Markers > 0 {
			ranges = append(ranges, i)
		}
	}
	list := &views.List{
		Document: func(context.Context) (any, error) {
			return struct {
				Markers []struct{} `json:"markers"`
			}{[]struct{}{}}, nil
		},
		Key: "markers", N: len(ranges), Cost: int64(8 * cap(ranges)),
		Append: func(ctx context.Context, b []byte, part int) ([]byte, error) {
			x, err := rec.Index(ctx)
			if err != nil {
				return nil, err
			}
			err = rec.eachMarker(ctx, x, ranges[part], 0, func(m *marker) bool {
				b = m.appendLine(b)
				return true
			})
			return b, err
		},
	}
	return list.Text(), nil
}

// eachMarker calls fn for the markers of a tick range from a tick on, until it returns false.
func (rec *recording) eachMarker(ctx context.Context, x *index, number int, from int64, fn func(*marker) bool) error {
	r := &x.ranges[number]
	if r.Markers == 0 {
		return nil
	}
	list := x.markers.between(max(r.First, from), r.Last)
	if x.markers.many {
		c, err := rec.chunks.Get(ctx, int(r.Chunk))
		if err != nil {
			return err
		}
		list = c.markers(max(r.First, from), r.Last)
	}
	list(fn)
	return nil
}

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

// tables declares the tables.
func (rec *recording) tables() []views.Table[index] {
	return []views.Table[index]{
		{Name: positionsTable, Columns: positionsColumns, Groups: func(x *index) []columnar.Group { return x.positionRows.Groups() }, Fill: rec.fillPositions},
		{Name: eventsTable, Columns: eventsColumns, Groups: func(x *index) []columnar.Group { return x.eventRows.Groups() }, Fill: rec.fillEvents},
		{Name: markersTable, Columns: markersColumns, Groups: func(x *index) []columnar.Group { return x.markerRows.Groups() }, Fill: rec.fillMarkers},
	}
}

// tablePass returns a pass for the rows of a table. It remembers the bodies, as the next table is
// made of them, too.
func (rec *recording) tablePass(quiet bool) *pass {
	p := newPass(rec.Reader, quiet)
	p.expand = func(ctx context.Context, i int) ([]byte, error) {
		if body, ok := rec.bodies.Peek(i); ok {
			return body, nil
		}
		body, err := rec.Body(ctx, i)
		if err == nil {
			rec.bodies.Put(i, body, int64(cap(body)))
		}
		return body, err
	}
	return p
}

// fillEvents adds the events of whole chunks, in the order of ticks. A chunk that had no rows when
// they were counted has none.
func (rec *recording) fillEvents(ctx context.Context, x *index, b *columnar.Batch, chunk, _ int) error {
	bodies := rec.tablePass(false)
	defer bodies.end()
	for ; chunk < x.progress.chunks && !b.Full(); chunk++ {
		i := int(rec.byTick[chunk])
		if x.rows[i] == unreadable {
			continue
		}
		c, err := bodies.decode(ctx, i)
		if err != nil {
			return err
		}
		c.addEvents(b, i, func() {})
	}
	return nil
}

// rowsFrom returns the first tick whose rows count for a chunk in the order of ticks, and its tick
// range: see [indexer.countTo].
func (rec *recording) rowsFrom(x *index, chunk int) (first int64, number int, err error) {
	switch {
	case chunk >= len(rec.byTick):
		return 0, 0, nodes.ErrStale
	case chunk > 0:
		first = rec.Entry(int(rec.byTick[chunk])).Start
	}
	return first, sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].Last >= first }), nil
}

// fillPositions plays tick ranges from where a chunk begins.
func (rec *recording) fillPositions(ctx context.Context, x *index, b *columnar.Batch, from, _ int) error {
	first, number, err := rec.rowsFrom(x, from)
	if err != nil {
		return err
	}
	bodies := rec.tablePass(true)
	defer bodies.end()
	play := rec.playback(x)
	play.places, play.decode = true, bodies.decode
	return play.walk(ctx, number, len(x.ranges), func(p *replay) observer {
		return &placementRows{replay: p, lives: x.lives(1), first: first, row: func(n int64, p *placement) { positionRow(b, n, p) }}
	}, func() bool { return !b.Full() })
}

func (rec *recording) fillMarkers(ctx context.Context, x *index, b *columnar.Batch, chunk, _ int) error {
	first, number, err := rec.rowsFrom(x, chunk)
	for ; err == nil && number < len(x.ranges) && !b.Full(); number++ {
		err = rec.eachMarker(ctx, x, number, first, func(m *marker) bool {
			m.row(b)
			return !b.Full()
		})
	}
	return err
}
