package teehistorian

import (
	"context"
	"errors"
	"math"

	"recfs/formats/columnar"
)

// fill adds the rows of a table from the start of a chunk on, until b is full. The last of them is
// before end.
func (r *recording) fill(ctx context.Context, b *columnar.Batch, table, chunk int, end int64, begun startTime) error {
	c, err := r.from(ctx, chunk, end, tableWindow)
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
	case !e.kind.isHot():
		rest = r.render.appendRest(rest[:0], e)
		eventRow(b, e, &c.state, begun, rest)
	}
	return rest
}

// finishRow adds a finish.
func (x *index) finishRow(b *columnar.Batch, f *finishEvent, start startTime) {
	b.Int64(int64(f.tick))
	start.add(b, f.tick)
	addNumber(b, f.stay, f.stay != noStay)
	addNumber(b, f.id, !f.team)
	addNumber(b, f.id, f.team)
	if f.name > 0 {
		b.Text(x.texts.list[f.name-1])
	} else {
		b.Null()
	}
	b.Double(float64(f.time) / ticksPerSecond)
	b.Int64(int64(f.tick) - int64(f.time))
}

// stayRow adds a stay.
func (r *recording) stayRow(b *columnar.Batch, i int, begun startTime) {
	s := r.idx.stays[i]
	b.Int32(int32(i))
	b.Text(r.dirs[i])
	b.Int32(s.cid)
	addOptional(b, s.name(), b.Text)
	addOptional(b, s.clan, b.Text)
	addOptional(b, s.protocol.text(), b.Text)
	addOptional(b, s.version, b.Int32)
	addOptional(b, s.versionStr, b.Text)
	b.Int64(int64(s.first))
	tick := func(n int32) { b.Int64(int64(n)) }
	addOptional(b, s.join, tick)
	addOptional(b, s.drop, tick)
	addOptional(b, s.reason, b.Text)
	for _, n := range [...]int64{s.lives, s.rows[positionTable], s.rows[inputTable], s.rows[commandTable]} {
		b.Int32(int32(min(n, math.MaxInt32)))
	}
	begun.add(b, s.first)
}

func addOptional[V any](b *columnar.Batch, v *V, add func(V)) {
	if v == nil {
		b.Null()
	} else {
		add(*v)
	}
}
