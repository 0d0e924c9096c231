package hcrp

import (
	"context"
	"sort"

	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

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
		c.addEvents(b, i)
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
