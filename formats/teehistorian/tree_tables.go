package teehistorian

import (
	"context"
	"errors"
	"math"

	"recfs/formats/columnar"
	"recfs/formats/internal/rowcount"
	"recfs/formats/views"
	"recfs/nodes"
)

// rowTables are the tables of the recording.
func (t *tree) rowTables() []views.Table[index] {
	list := make([]views.Table[index], rowTables)
	for n := range list {
		list[n] = views.Table[index]{
			Name: rowTableNames[n], Columns: rowColumns[n],
			Groups: func(x *index) []columnar.Group { return x.rows[n].Groups() },
			Fill: func(ctx context.Context, x *index, b *columnar.Batch, chunk, end int) error {
				r, err := t.get(ctx)
				if err != nil {
					return err
				}
				return stale(r.fill(ctx, b, n, chunk, x.chunkStart(end), t.start))
			},
		}
	}
	list[playersTable].Groups = t.stayGroups
	list[playersTable].Fill = func(ctx context.Context, _ *index, b *columnar.Batch, _, _ int) error {
		r, err := t.get(ctx)
		for i := 0; err == nil && i < len(r.idx.stays); i++ {
			r.stayRow(b, i, t.start)
		}
		return err
	}
	return list
}

// chunkStart returns where chunk k begins, or the records end.
func (x *index) chunkStart(k int) int64 {
	if k >= len(x.chunks) {
		return x.bytes
	}
	return x.chunks[k].offset
}

// fill adds the rows of a table from the start of a chunk on, until b is full. The last of them is
// before end.
func (r *recording) fill(ctx context.Context, b *columnar.Batch, table, chunk int, end int64, begun startTime) error {
	c, err := r.from(ctx, chunk, end)
	if err != nil {
		return err
	}
	var rest []byte
	hot := newHotTable(&c.state)
	for {
		switch table {
		case positionsTable:
			c.positionRun(b, &hot)
		case inputsTable:
			c.inputRun(b)
		}
		if b.Full() {
			return nil
		}
		if err := c.scan.next(&c.event.record); err != nil {
			if errors.Is(err, errEnd) {
				return nil
			}
			return err
		}
		if table == positionsTable {
			hot.apply(&c.state, &c.event)
		} else {
			c.state.apply(&c.event)
		}
		rest = r.addRow(b, table, c, begun, rest)
	}
}

// addRow adds the row that the event at c has in a table, if it has one. It returns rest, memory to
// use.
func (r *recording) addRow(b *columnar.Batch, table int, c *cursor, begun startTime, rest []byte) []byte {
	e := &c.event
	switch of, ok := tableOf(e.kind); {
	case table == positionsTable:
		if ok && of == positionTable && e.stay != noStay {
			positionRow(b, e)
		}
	case table == inputsTable:
		if ok && of == inputTable && e.stay != noStay {
			inputRow(b, e)
		}
	case e.kind.isHot():
	case table == eventsTable:
		rest = r.render.appendRest(rest[:0], e)
		eventRow(b, e, &c.state, begun, rest)
	default:
		finishRow(b, e, begun)
	}
	return rest
}

// stayGroups counts the stays.
func (t *tree) stayGroups(x *index) []columnar.Group {
	r := &recording{idx: x, dirs: x.dirs(nodes.SafeName)}
	c := rowcount.New(rowColumns[playersTable])
	for i := range x.stays {
		r.stayRow(c.Batch, i, t.start)
		c.EndRow()
	}
	return c.Groups()
}

// stayRow adds a stay.
func (r *recording) stayRow(b *columnar.Batch, i int, begun startTime) {
	s := r.idx.stays[i]
	b.Int32(int32(i))
	b.Text(r.dirs[i])
	b.Int32(s.cid)
	if n := len(s.names); n > 0 {
		b.Text(s.names[n-1])
	} else {
		b.Null()
	}
	addText(b, s.clan)
	if s.protocol == unknownProtocol {
		b.Null()
	} else {
		b.Text(s.protocol.String())
	}
	if s.version == nil {
		b.Null()
	} else {
		b.Int32(*s.version)
	}
	addText(b, s.versionStr)
	b.Int64(int64(s.first))
	addTick(b, s.joinTick())
	addTick(b, s.dropTick())
	addText(b, s.reason)
	for _, n := range [...]int64{s.lives, s.rows[positionTable], s.rows[inputTable], s.rows[commandTable]} {
		b.Int32(int32(min(n, math.MaxInt32)))
	}
	begun.add(b, s.first)
}

func addText(b *columnar.Batch, s *string) {
	if s == nil {
		b.Null()
		return
	}
	b.Text(*s)
}

func addTick(b *columnar.Batch, tick *int32) {
	if tick == nil {
		b.Null()
		return
	}
	b.Int64(int64(*tick))
}
