package example

import (
	"maps"
	"math"
	"slices"

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
	if !x.sound(h.(*header).size(), in.Size) {
		return nil, formats.ErrOther
	}
	return x, nil
}

// code writes or reads an index.
//
//	| reach | last | ended bool | count | problem … | count | tick - tick before … | scores |
//	| rowcount.Counter | count | chunk … |
//
// A chunk is | offset | end | first | lines | size | scores |.
func (x *index) code(c indexfile.Codec) {
	c.Values(&x.reach, &x.last, &x.ended)
	c.Whole(&x.problems)
	before := int64(0)
	indexfile.List(c, &x.ticks, 1, func(t *int64) {
		step := *t - before
		if indexfile.Uint(c, &step, math.MaxInt32); c.R != nil {
			*t = before + step
		}
		before = *t
	})
	codeScores(c, &x.scores)
	rowcount.Code(c, &x.rows, columns)
	indexfile.List(c, &x.chunks, 6, func(k *chunk) {
		c.Values(&k.offset, &k.end, &k.first)
		indexfile.Uint(c, &k.lines, chunkLines)
		c.Values(&k.size)
		codeScores(c, &k.before)
	})
}

// codeScores writes or reads the scores of players.
//
//	| count | player text, score zigzag … |
func codeScores(c indexfile.Codec, scores *map[string]int32) {
	players := slices.Sorted(maps.Keys(*scores))
	if c.R != nil {
		*scores = map[string]int32{}
	}
	indexfile.List(c, &players, 2, func(player *string) {
		score := (*scores)[*player]
		if c.Values(player, &score); c.R != nil {
			(*scores)[*player] = score
		}
	})
}

// sound reports whether the numbers of a saved index can be of a log of this size: chunks lie one
// after the other between the header and what was read, and each shows no more than its lines can.
func (x *index) sound(header, size int64) bool {
	const most = 6*maxLine + 64 // bytes of a line in JSON: \u00XX for each byte, and the keys
	at, tick := header, int64(0)
	for i := range x.chunks {
		c := &x.chunks[i]
		if c.offset < at || c.end <= c.offset || c.first < tick || c.lines == 0 || c.size > int64(c.lines)*most {
			return false
		}
		at, tick = c.end, c.first
	}
	if len(x.ticks) > 0 && (len(x.chunks) == 0 || x.ticks[0] < x.chunks[0].first) {
		return false
	}
	ordered := slices.IsSortedFunc(x.ticks, func(a, b int64) int { return int(min(max(a-b, -1), 1)) })
	return x.reach >= at && x.reach <= size && x.last >= tick && ordered && x.rows.Chunks() <= max(len(x.chunks), 1)
}
