package teehistorian

import (
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// The saved index. The comment of each function has the layout that it writes and reads. Numbers
// are varints unless it says otherwise. "text", "blob", "bool" and "[…]", a value that may be
// missing, are those of indexfile.

// The fewest bytes that an element of each list takes, by the layouts below.
const (
	minExtension = 1 + 1
	minText      = 1
	minStay      = 15 + 2*tables
	minFinish    = 1 + 1 + 1 + 1 + 1 + 1
	minPractice  = 1 + 1 + 1
	minChunk     = 6 + 1 + minCheckpoint + 1
	minActivity  = 1 + 2*tables
	minLines     = 1 + 1

	minCheckpoint = 1 + 1 + 1
)

// Append appends the saved form of an index.
func (x *index) Append(b []byte) []byte { return indexfile.Append(b, x.code) }

// decodeIndex reads what Append wrote.
func decodeIndex(b []byte) (*index, error) {
	x := &index{}
	err := indexfile.Read(name, b, x.code)
	offset, ordinal := x.start, 0
	for i := range x.chunks {
		c := &x.chunks[i]
		c.offset, c.ordinal = offset, ordinal
		offset += c.size
		ordinal += c.count
	}
	for i := range x.finishes {
		x.finishes[i].tell(x.stays)
	}
	x.sortStays()
	return x, err
}

// code writes or reads an index.
//
//	| start | bytes | end text | records | anomalies | kinds × 12 |
//	| count | extension … | count | problem … | count | text … | settled texts |
//	| count | stay … |
//	| count | practice change … | count | lines … | count | chunk … | count | finish … |
//	| tail checkpoint | last zigzag | count | activity … |
//
// extension: | event text | number |
// practice change: | offset | team zigzag | on bool |
// lines: | size | packed blob |
// finish: | tick | time zigzag | stay zigzag | id zigzag | name | team bool |
func (x *index) code(c indexfile.Codec) {
	c.Values(&x.start, &x.bytes, &x.end, &x.records, &x.anomalies)
	codeSizes(c, x.counts.kinds[:])
	x.counts.code(c)
	c.Problems(&x.problems)
	indexfile.List(c, &x.texts.list, minText, func(s *string) { c.Values(s) })
	indexfile.Uint(c, &x.texts.settled, len(x.texts.list))
	shared := interner{}
	indexfile.List(c, &x.stays, minStay, func(s **stay) {
		if c.R != nil {
			*s = &stay{}
		}
		(*s).code(c, shared)
	})
	indexfile.List(c, &x.practice, minPractice, func(p *practiceChange) { c.Values(&p.offset, &p.team, &p.on) })
	indexfile.List(c, &x.lines, minLines, func(g *lineGroup) { c.Values(&g.size, &g.packed) })
	indexfile.List(c, &x.chunks, minChunk, func(k *chunk) { k.code(c) })
	indexfile.List(c, &x.finishes, minFinish, func(f *finishEvent) {
		codeTick(c, &f.tick)
		c.Values(&f.time, &f.stay, &f.id, &f.name, &f.team)
	})
	x.tail.code(c)
	c.Values(&x.tail.last)
	indexfile.List(c, &x.activity, minActivity, func(a *activity) {
		codeTick(c, &a.stay)
		codeSizes(c, a.rows[:])
		codeSizes(c, a.bytes[:])
	})
	for t := range x.rows {
		rowcount.Code(c, &x.rows[t], rowColumns[t])
	}
}

func codeSizes(c indexfile.Codec, list []int64) {
	for i := range list {
		c.Values(&list[i])
	}
}

// codeTick writes or reads a number of 31 bits, such as a tick.
func codeTick(c indexfile.Codec, v *int32) { indexfile.Uint(c, v, math.MaxInt32) }

// code writes or reads the counts of extensions.
func (n *counts) code(c indexfile.Codec) {
	events := slices.Sorted(maps.Keys(n.extensions))
	if c.R != nil {
		n.extensions = map[string]int64{}
	}
	indexfile.List(c, &events, minExtension, func(event *string) {
		count := n.extensions[*event]
		if c.Values(event, &count); c.R != nil {
			n.extensions[*event] = count
		}
	})
}

// code of a stay:
//
//	| cid | first chunk zigzag | last chunk zigzag | protocol | count | name text … | named |
//	| [clan text] | [version zigzag] | [version text] | connection blob | first |
//	| [join zigzag] | [drop zigzag] | [reason text] | lives | rows × tables | bytes × tables |
func (s *stay) code(c indexfile.Codec, shared interner) {
	text := func(s *string) {
		if c.Values(s); c.R != nil {
			*s = shared.text(*s)
		}
	}
	number := func(v *int32) { c.Values(v) }
	indexfile.Uint(c, &s.cid, maxClients-1)
	c.Values(&s.firstChunk, &s.lastChunk)
	indexfile.Uint(c, &s.protocol, math.MaxUint8)
	indexfile.List(c, &s.names, minText, text)
	codeTick(c, &s.named)
	indexfile.Optional(c, &s.clan, text)
	indexfile.Optional(c, &s.version, number)
	indexfile.Optional(c, &s.versionStr, text)
	if c.Values(&s.connection); c.R != nil && len(s.connection) != 0 && len(s.connection) != len(uuid.UUID{}) {
		c.R.Fail("a connection of %d bytes", len(s.connection))
	}
	codeTick(c, &s.first)
	indexfile.Optional(c, &s.join, number)
	indexfile.Optional(c, &s.drop, number)
	indexfile.Optional(c, &s.reason, text)
	c.Values(&s.lives)
	codeSizes(c, s.rows[:])
	codeSizes(c, s.bytes[:])
}

// code of a chunk:
//
//	| size | first tick | last tick | count | lines | weight | ticks blob | checkpoint | activity blob |
func (k *chunk) code(c indexfile.Codec) {
	c.Values(&k.size)
	codeTick(c, &k.first)
	codeTick(c, &k.last)
	c.Values(&k.count, &k.lines, &k.weight, &k.ticks)
	k.checkpoint.code(c)
	c.Values(&k.activity)
	if c.W != nil {
		return
	}
	ticks, ok := decodeTicks(k.ticks, k.first, k.count)
	if !ok || len(ticks) == 0 || ticks[0] != k.first || ticks[len(ticks)-1] != k.last || !slices.IsSorted(ticks) {
		c.R.Fail("the ticks of a chunk")
	}
}

// code of a checkpoint:
//
//	| tick | stays | players blob, see writePlayers |
func (p *checkpoint) code(c indexfile.Codec) {
	codeTick(c, &p.tick)
	codeTick(c, &p.stays)
	c.Values(&p.players)
}

// writeChunkActivity writes what a chunk holds for its stays, in ascending order, up to the end:
//
//	| stay - stay before | bytes × tables |
func writeChunkActivity(w *indexfile.Writer, list []activity) {
	last := int32(0)
	for i := range list {
		a := &list[i]
		w.Uint(uint64(a.stay - last))
		last = a.stay
		codeSizes(indexfile.Codec{W: w}, a.bytes[:])
	}
}

// readChunkActivity appends what writeChunkActivity wrote to list.
func readChunkActivity(list []activity, b []byte) ([]activity, error) {
	r := indexfile.NewReader(name, b)
	last := uint64(0)
	for r.Len() > 0 {
		var a activity
		last += r.Uint(math.MaxInt32)
		a.stay = int32(last)
		codeSizes(indexfile.Codec{R: r}, a.bytes[:])
		list = append(list, a)
	}
	return list, r.Err()
}

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	n := 0
	for i := range x.chunks {
		c := &x.chunks[i]
		n += len(c.ticks) + len(c.checkpoint.players) + len(c.activity) + 160
	}
	for i := range x.stays {
		n += 296 + 16*len(x.stays[i].names) + 8*cap(x.stays[i].finishes)
	}
	for _, s := range x.texts.list {
		n += 3*len(s) + 64 // there, in the map and in a stay
	}
	for _, t := range x.rows {
		n += int(t.Cost())
	}
	for i := range x.lines {
		n += len(x.lines[i].packed) + 48
	}
	return int64(n + 96*len(x.problems) + 24*len(x.practice) + 32*cap(x.finishes))
}
