package example

import (
	"math"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is kept on disk: see code.
func (x *index) Append(b []byte) []byte { return indexfile.Append(b, x.code) }

// readIndex reads what Append of an index wrote.
func readIndex(in formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	x := &index{}
	if err := indexfile.Read(name, saved, x.code); err != nil {
		return nil, err
	}
	if !x.sound(int64(len(h.(*header).raw)), in.Size) {
		return nil, formats.ErrOther
	}
	return x, nil
}

// code writes or reads an index.
//
//	| reach | ended bool, broken bool | problem … | count, tick - tick before … |
//	| count, (player text, points zigzag) … | rowcount.Counter | count, chunk … |
//
// A chunk is | offset | stored | size | CRC-32 | first | records | lines | damaged bool |.
func (x *index) code(c indexfile.Codec) {
	c.Values(&x.reach, &x.ended, &x.broken)
	c.Whole(&x.problems)
	before := int64(0)
	indexfile.List(c, &x.ticks, 1, func(t *int64) {
		step := *t - before
		if indexfile.Uint(c, &step, maxTick); c.R != nil {
			*t = before + step
		}
		before = *t
	})
	indexfile.List(c, &x.scores, 2, func(s *standing) {
		if c.Values(&s.Player, &s.Points); c.R != nil {
			s.PlayerHex = formats.HexOf(s.Player)
		}
	})
	rowcount.Code(c, &x.rows, changesColumns)
	number := 0
	indexfile.List(c, &x.chunks, 8, func(k *chunk) {
		k.number = number
		c.Values(&k.offset)
		indexfile.Uint(c, &k.stored, maxChunk)
		indexfile.Uint(c, &k.size, maxChunk)
		indexfile.Uint(c, &k.crc, math.MaxUint32)
		c.Values(&k.first, &k.records, &k.lines, &k.damaged)
		number++
	})
}

// sound reports whether a saved index can be of a log with a header and a size: ticks are in order,
// chunks lie one after the other, and none shows more than its bytes can.
func (x *index) sound(header, size int64) bool {
	const most = 8*math.MaxUint8 + 64 // bytes of a line: a name as \u00XX and in hex, and the keys
	for i := 1; i < len(x.ticks); i++ {
		if x.ticks[i] <= x.ticks[i-1] {
			return false
		}
	}
	at, first := header, 0
	for i := range x.chunks {
		c := &x.chunks[i]
		if c.offset != at || !c.possible() || c.first < first || c.records > maxRecords || c.lines > int64(c.records)*most {
			return false
		}
		at, first = c.end(), c.first
	}
	if first > len(x.ticks) || len(x.ticks) > 0 && (len(x.chunks) == 0 || x.chunks[0].first > 0) || x.last() > maxTick {
		return false
	}
	if x.ended || x.broken {
		at += frameHead
	}
	return x.reach == at && at <= size && x.rows.Chunks() == max(len(x.chunks), 1)
}
