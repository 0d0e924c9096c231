package teehistorian

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"recfs/formats/columnar"
)

// fill adds the rows of a table from the start of a chunk until b is full, or up to the offset
// end.
func (r *recording) fill(ctx context.Context, b *columnar.Batch, table, chunk int, end int64, begun startTime) error {
	c, err := r.cursor(ctx, nil, chunk, end, tableWindow)
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

// addRow adds the row of the event at c to a table, if it has one there. rest is memory to use, and
// is returned.
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
	b.Int64(int64(f.Tick))
	start.add(b, f.Tick)
	columnar.AddIf(b, f.Stay != noStay, b.Int32, f.Stay)
	columnar.AddIf(b, !f.Team, b.Int32, f.ID)
	columnar.AddIf(b, f.Team, b.Int32, f.ID)
	if f.Name > 0 {
		b.Text(x.texts.List[f.Name-1])
	} else {
		b.Null()
	}
	b.Double(float64(f.Time) / ticksPerSecond)
	b.Int64(int64(f.Tick) - int64(f.Time))
}

// stayRow adds a stay.
func (r *recording) stayRow(b *columnar.Batch, i int, begun startTime) {
	s := r.idx.stays[i]
	b.Int32(int32(i))
	b.Text(r.dirs[i])
	b.Int32(s.CID)
	columnar.AddOptional(b, s.name(), b.Text)
	columnar.AddOptional(b, s.Clan, b.Text)
	columnar.AddOptional(b, s.Protocol.text(), b.Text)
	columnar.AddOptional(b, s.Version, b.Int32)
	columnar.AddOptional(b, s.VersionStr, b.Text)
	b.Int64(int64(s.First))
	tick := func(n int32) { b.Int64(int64(n)) }
	columnar.AddOptional(b, s.Join, tick)
	columnar.AddOptional(b, s.Drop, tick)
	columnar.AddOptional(b, s.Reason, b.Text)
	for _, n := range [...]int64{s.Lives, s.Rows[positionTable], s.Rows[inputTable], s.Rows[commandTable]} {
		b.Int32(int32(min(n, math.MaxInt32)))
	}
	begun.add(b, s.First)
}

// The loops below take what most records are: differences of players that have a stay and are
// known. They recognise these by their first bytes, and leave the rest to the decoder.
const (
	oneByte   = 0x40 // ids from here on, and negative ones, look different
	inputByte = 0x44 // INPUT_DIFF
)

// hot returns the player whose id is in one byte, nil if it has no stay.
func (s *state) hot(id byte) *player {
	if id < oneByte {
		if place := s.slots[id]; place != 0 {
			if p := &s.players[place-1]; p.stay != noStay {
				return p
			}
		}
	}
	return nil
}

// A clock is what a PLAYER_DIFF advances: the tick, and the last id in it. Like all that the loops
// below change with each record, it is a value, which can be in registers.
type clock struct{ tick, last int32 }

// follow returns the clock after a PLAYER_DIFF.
func (c clock) follow(id byte) clock {
	if int32(id) <= c.last {
		c.tick++
	}
	c.last = int32(id)
	return c
}

// run returns the window, the place of the next record in it, and its clock.
func (c *cursor) run() (buf []byte, pos int, at clock) {
	s := c.scan
	return s.buf, s.pos, clock{s.dec.tick, s.dec.last}
}

// end ends a run that added rows. The next record is the one at pos.
func (c *cursor) end(pos int, at clock, b *columnar.Batch, rows int) {
	c.scan.pos = pos
	c.scan.dec.tick, c.scan.dec.last = at.tick, at.last
	b.Appended(rows)
}

// spare returns room for equally many rows in the first three columns, and sets values to that in
// the others.
func spare(b *columnar.Batch, values [][]int32) (ticks []int64, cids, stays []int32) {
	room := b.Room()
	for i := range b.Columns {
		v := &b.Columns[i]
		room = min(room, max(cap(v.Int32s), cap(v.Int64s))-v.Len())
	}
	for i := range values {
		values[i] = columnar.Spare(b.Columns[3+i].Int32s, room)
	}
	return columnar.Spare(b.Columns[0].Int64s, room), columnar.Spare(b.Columns[1].Int32s, room), columnar.Spare(b.Columns[2].Int32s, room)
}

// inputSize returns the length of the INPUT_DIFF that b begins with, 0 if it is an unusual one. In
// a usual one, only the first three components may have more than a byte.
func inputSize(b []byte) int {
	ends := ^binary.LittleEndian.Uint64(b[2:]) & 0x80_8080_8080_8080 // the last bytes of ints
	ends &= ends - 1
	ends &= ends - 1
	last := bits.TrailingZeros64(ends)
	if last == 64 {
		return 0
	}
	n := 2 + last/8 + 1
	if binary.LittleEndian.Uint64(b[n:])&0x80_8080_8080_8080 != 0 {
		return 0
	}
	return n + inputs - 3
}

// A hotTable has all that positions need of the players whose ids have one byte, close together and
// by id. Its positions are newer than those in the state.
type hotTable struct {
	stays   uint64 // by id, a bit each: it has a stay
	alive   uint64 // and a character
	players [oneByte]struct{ x, y, stay int32 }
}

func newHotTable(s *state) (h hotTable) {
	for i := range s.players {
		h.load(&s.players[i], true)
	}
	return h
}

// load copies a player. at says that its position is not older than the one here.
func (h *hotTable) load(p *player, at bool) {
	if uint32(p.cid) >= oneByte || p.stay == noStay {
		return
	}
	bit := uint64(1) << p.cid
	h.stays |= bit
	h.alive &^= bit
	if p.alive {
		h.alive |= bit
	}
	own := &h.players[p.cid]
	own.stay = p.stay
	if at {
		own.x, own.y = p.x, p.y
	}
}

// apply follows a record that is not part of a run, as apply of the state does. It does not decode
// messages, as no position depends on them.
func (h *hotTable) apply(s *state, e *event) {
	if p := s.lookup(e.cid); e.kind == playerDiff && p != nil && e.cid < oneByte && p.stay != noStay {
		p.x, p.y = h.players[e.cid].x, h.players[e.cid].y
	}
	if e.kind == netMessage {
		e.player, e.stay, e.effect = nil, noStay, effect{}
		s.touch(e, e.cid, true)
	} else {
		s.apply(e)
	}
	if e.player != nil {
		t, ok := tableOf(e.kind)
		h.load(e.player, ok && t == positionTable)
	}
}

// positionRun adds the rows of PLAYER_DIFFs up to a record of another kind, passing over
// INPUT_DIFFs: those change nothing that positions have. Where each int has one byte, as in most
// records, the processor need not know the size of a record before it begins the next.
func (c *cursor) positionRun(b *columnar.Batch, h *hotTable) {
	const long = 0x80_8080_8080_8080_80 // the bits which say that an int goes on
	var values [2][]int32
	ticks, cids, stays := spare(b, values[:])
	buf, pos, at := c.run()
	ticks = ticks[:min(int64(len(ticks)), math.MaxInt32-int64(at.tick))] // a record takes one tick at most
	cids, stays, xs, ys := cids[:len(ticks)], stays[:len(ticks)], values[0][:len(ticks)], values[1][:len(ticks)]
	n := 0
	for n < len(ticks) && len(buf)-pos >= maxFixed {
		w := binary.LittleEndian.Uint64(buf[pos:])
		id := byte(w)
		if id >= oneByte {
			if cid := byte(w >> 8); id != inputByte || cid >= oneByte || h.stays>>cid&1 == 0 {
				break
			}
			if (w>>16|binary.LittleEndian.Uint64(buf[pos+4:]))&long == 0 {
				pos += 2 + inputs
				continue
			}
			size := inputSize(buf[pos:])
			if size == 0 {
				break
			}
			pos += size
			continue
		}
		if h.alive>>id&1 == 0 {
			break
		}
		p := &h.players[id]
		if w&0x8080_00 == 0 {
			p.x, p.y = p.x+byteInt(w>>8), p.y+byteInt(w>>16)
			pos += 3
		} else {
			w >>= 8
			y, size := cutTwo(w)
			if size == 0 {
				break
			}
			p.x, p.y = p.x+shortInt(uint32(w)), p.y+shortInt(uint32(y))
			pos += 1 + size
		}
		at = at.follow(id)
		ticks[n], cids[n], stays[n], xs[n], ys[n] = int64(at.tick), int32(id), p.stay, p.x, p.y
		n++
	}
	c.end(pos, at, b, n)
}

// inputRun adds the rows of INPUT_DIFFs up to a record of another kind, passing over PLAYER_DIFFs,
// whose tick alone matters to inputs.
func (c *cursor) inputRun(b *columnar.Batch) {
	var values [inputs][]int32
	ticks, cids, stays := spare(b, values[:])
	s, e := &c.state, &c.event.record
	buf, pos, at := c.run()
	n := 0
	for n < len(ticks) && len(buf)-pos >= maxFixed && at.tick < math.MaxInt32 {
		rest := buf[pos:]
		id := rest[0]
		if id != inputByte {
			_, size := cutTwo(binary.LittleEndian.Uint64(rest[1:]))
			if s.hot(id) == nil || size == 0 {
				break
			}
			at = at.follow(id)
			pos += 1 + size
			continue
		}
		p := s.hot(rest[1])
		if p == nil || !p.open || !p.hasInput {
			break
		}
		pos += decodeInput(rest, 2, e)
		ticks[n], cids[n], stays[n] = int64(at.tick), p.cid, p.stay
		for i := range values {
			p.input[i] += e.input[i]
			values[i][n] = p.input[i]
		}
		n++
	}
	c.end(pos, at, b, n)
}
