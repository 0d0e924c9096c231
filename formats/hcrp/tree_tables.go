package hcrp

import (
	"context"
	"fmt"
	"sort"

	"recfs/formats/columnar"
	"recfs/nodes"
)

// makers returns what makes the tables.
func (rec *recording) makers() (list []columnar.Maker) {
	for _, name := range []string{positionsTable, eventsTable, markersTable} {
		list = append(list, columnar.Maker{Name: name, Make: func(ctx context.Context) (columnar.Table, error) {
			return rec.table(ctx, name)
		}})
	}
	return list
}

// table returns a table by its name.
func (rec *recording) table(ctx context.Context, table string) (columnar.Table, error) {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return columnar.Table{}, err
	}
	switch table {
	case positionsTable:
		return columnar.NewTable(table, positionsColumns, x.positionRows.Groups(), rec.fillPositions), nil
	case eventsTable:
		return columnar.NewTable(table, eventsColumns, x.eventRows.Groups(), rec.fillEvents), nil
	case markersTable:
		return columnar.NewTable(table, markersColumns, x.markerRows.Groups(), rec.fillMarkers), nil
	}
	return columnar.Table{}, fmt.Errorf("there is no table %q", table)
}

// tablePass returns a pass for the rows of a table. It remembers the bodies, of which the next table is made, too.
func (rec *recording) tablePass(quiet bool) *pass {
	p := beginPass(rec.eventReader, quiet)
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

// fillEvents makes the events of whole chunks, in the order of ticks. What had no rows when they were
// counted has none.
func (rec *recording) fillEvents(ctx context.Context, b *columnar.Batch, chunk int) error {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return err
	}
	bodies := rec.tablePass(false)
	defer bodies.leave()
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

// rowsFrom returns the first tick whose rows count for a chunk in the order of ticks, and its tick range: see
// [indexer.countTo].
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
func (rec *recording) fillPositions(ctx context.Context, b *columnar.Batch, from int) error {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return err
	}
	first, number, err := rec.rowsFrom(x, from)
	if err != nil {
		return err
	}
	bodies := rec.tablePass(true)
	defer bodies.leave()
	play := rec.playback(x)
	play.places, play.decode = true, bodies.decode
	p, err := play.before(ctx, number)
	if err != nil {
		return err
	}
	rows := placementRows{replay: p, lives: x.lives(), batch: b, first: first}
	for ; number < len(x.ranges) && !b.Full(); number++ {
		err := play.play(ctx, p, number, x.ranges[number].Last, func(c *chunk) observer {
			rows.chunk = c
			return &rows
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lives returns the tracks of each entity, one after the other.
func (x *index) lives() map[int64][]*track {
	lives := map[int64][]*track{}
	for i := range x.tracks {
		t := &x.tracks[i]
		lives[t.Entity] = append(lives[t.Entity], t)
	}
	return lives
}

// placementRows makes the rows of positions.
type placementRows struct {
	replay *replay
	lives  map[int64][]*track
	chunk  *chunk
	batch  *columnar.Batch
	first  int64       // tick that has rows
	placed []placement // in this tick
}

func (w *placementRows) event(t *tick, k int, placed bool) {
	if !placed || t.n < w.first {
		return
	}
	e, at := &w.chunk.events[k], moment{t.n, k - t.first}
	lives := w.lives[e.entity]
	i := sort.Search(len(lives), func(i int) bool { return at.before(lives[i].From) }) - 1
	if i >= 0 && at.before(lives[i].To) {
		w.placed = append(w.placed, placement{entity: e.entity, life: lives[i].Life, pos: w.replay.positions[e.entity]})
	}
}

func (w *placementRows) tick(n int64) {
	list := lastPlacements(w.placed)
	for i := range list {
		positionRow(w.batch, n, &list[i])
	}
	w.placed = w.placed[:0]
}

func (rec *recording) fillMarkers(ctx context.Context, b *columnar.Batch, chunk int) error {
	x, err := rec.tree.Index(ctx)
	if err != nil {
		return err
	}
	first, number, err := rec.rowsFrom(x, chunk)
	for ; err == nil && number < len(x.ranges) && !b.Full(); number++ {
		err = rec.eachMarker(ctx, x, number, first, func(m *marker) bool {
			m.row(b)
			return !b.Full()
		})
	}
	return err
}
