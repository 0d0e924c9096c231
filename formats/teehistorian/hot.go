package teehistorian

import (
	"encoding/binary"
	"math"
	"math/bits"

	"recfs/formats/columnar"
)

// What a hotRun takes: differences of players that have a stay and are known, as most records are. It knows them by
// their first bytes, and leaves the rest to the decoder.
const (
	oneByte   = 0x40 // ids from here on, and all that are negative, are written otherwise
	inputByte = 0x44 // INPUT_DIFF
)

// A hotRun goes through records of the frequent kinds that stand next to each other in a window.
type hotRun struct {
	b          []byte
	tick, last int32 // of the decoder
	state      *state
}

// run begins a hotRun at the next record.
func (c *cursor) run() hotRun {
	s := c.scan
	return hotRun{s.buf[s.pos:], s.dec.tick, s.dec.last, &c.state}
}

// end ends a hotRun: the next record is the one that it stopped at.
func (c *cursor) end(r *hotRun) {
	s := c.scan
	s.pos = len(s.buf) - len(r.b)
	s.dec.tick, s.dec.last = r.tick, r.last
}

// player returns the player whose id is in one byte, nil if it has no stay.
func (r *hotRun) player(id byte) *player {
	if id < oneByte {
		if place := r.state.slots[id]; place != 0 {
			if p := &r.state.players[place-1]; p.stay != noStay {
				return p
			}
		}
	}
	return nil
}

// follow advances the tick to that of a PLAYER_DIFF. ok is false if there is none.
func (r *hotRun) follow(id byte) (ok bool) {
	if int32(id) <= r.last {
		if r.tick == math.MaxInt32 {
			return false
		}
		r.tick++
	}
	r.last = int32(id)
	return true
}

// inputSize returns the length of the INPUT_DIFF that b begins with, 0 if it is an unusual one. In a usual one,
// of the first three components each has as many bytes as it needs, and of the rest each has one.
func inputSize(b []byte) int {
	ends := ^binary.LittleEndian.Uint64(b[2:]) & 0x80_8080_8080_8080 // no int of six bytes fits beside two others
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

// positionRun adds the rows of PLAYER_DIFFs up to a record of another kind, passing over INPUT_DIFFs: those change
// nothing that positions have.
func (c *cursor) positionRun(b *columnar.Batch) {
	room := b.Room()
	xs, ys := columnar.Spare(b.Columns[3].Int32s, room), columnar.Spare(b.Columns[4].Int32s, room)
	room = min(len(xs), len(ys))
	ticks := columnar.Spare(b.Columns[0].Int64s, room)
	cids, stays := columnar.Spare(b.Columns[1].Int32s, room), columnar.Spare(b.Columns[2].Int32s, room)
	r := c.run()
	n := 0
	for n < min(len(ticks), len(cids), len(stays), len(xs), len(ys)) && len(r.b) >= maxFixed {
		id := r.b[0]
		if id == inputByte {
			size := inputSize(r.b)
			if size == 0 || r.player(r.b[1]) == nil {
				break
			}
			r.b = r.b[size:]
			continue
		}
		p := r.player(id)
		x, y, size := readTwo(binary.LittleEndian.Uint64(r.b[1:]))
		if p == nil || !p.alive || size == 0 || !r.follow(id) {
			break
		}
		p.x, p.y = p.x+x, p.y+y
		ticks[n], cids[n], stays[n], xs[n], ys[n] = int64(r.tick), int32(id), p.stay, p.x, p.y
		r.b = r.b[1+size:]
		n++
	}
	c.end(&r)
	b.Appended(n)
}

// inputRun adds the rows of INPUT_DIFFs up to a record of another kind, passing over PLAYER_DIFFs, whose tick alone
// matters to inputs.
func (c *cursor) inputRun(b *columnar.Batch) {
	var values [inputs][]int32
	room := b.Room()
	for i := range values {
		values[i] = columnar.Spare(b.Columns[3+i].Int32s, room)
		room = min(room, len(values[i]))
	}
	ticks := columnar.Spare(b.Columns[0].Int64s, room)
	cids, stays := columnar.Spare(b.Columns[1].Int32s, room), columnar.Spare(b.Columns[2].Int32s, room)
	r := c.run()
	e := &c.event.record
	n := 0
	for n < min(len(ticks), len(cids), len(stays), room) && len(r.b) >= maxFixed {
		id := r.b[0]
		if id != inputByte {
			_, _, size := readTwo(binary.LittleEndian.Uint64(r.b[1:]))
			if r.player(id) == nil || size == 0 || !r.follow(id) {
				break
			}
			r.b = r.b[1+size:]
			continue
		}
		p := r.player(r.b[1])
		if p == nil || !p.open || !p.hasInput {
			break
		}
		size := decodeInput(r.b, 2, e)
		ticks[n], cids[n], stays[n] = int64(r.tick), p.cid, p.stay
		for i := range values {
			p.input[i] += e.input[i]
			values[i][n] = p.input[i]
		}
		r.b = r.b[size:]
		n++
	}
	c.end(&r)
	b.Appended(n)
}
