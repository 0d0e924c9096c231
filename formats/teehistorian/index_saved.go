package teehistorian

import (
	"maps"
	"math"
	"slices"

	"github.com/google/uuid"

	"recfs/formats"
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

// maxSize bounds the length of a part of a file in a saved index. An index has so few parts that
// their sum cannot overflow.
const maxSize = 1 << 40

// check compares the values of a decoded index with each other and with the size of the source, so
// that no other code needs to doubt them.
func (x *index) check(size int64) error {
	switch {
	case x.bytes < x.start, size != formats.UnknownSize && x.bytes > size:
		return x.wrong("the end")
	case x.end != endFinished && x.end != endUnfinished && x.end != endCut && x.end != endDamaged:
		return x.wrong("how the records end")
	case len(x.stays) > 2*maxStays || int(x.tail.stays) != len(x.stays):
		return x.wrong("the number of stays")
	}
	for _, t := range x.rows {
		if t.Chunks() != max(len(x.chunks), 1) {
			return x.wrong("the chunks of a table")
		}
	}
	for _, p := range x.problems {
		if p.Offset < 0 {
			return x.wrong("the place of a problem")
		}
	}
	for i := range x.finishes {
		f := &x.finishes[i]
		if f.stay < noStay || int(f.stay) >= len(x.stays) || f.name > x.texts.settled || i > 0 && f.tick < x.finishes[i-1].tick {
			return x.wrong("a finish")
		}
	}
	if err := x.checkChunks(); err != nil {
		return err
	}
	return x.checkStays()
}

func (x *index) wrong(what string) error {
	return formats.Corrupt(name, 0, "index: %s cannot be", what)
}

// checkChunks checks the chunks, which follow each other up to the end.
func (x *index) checkChunks() error {
	offset, tick, stays := x.start, int32(-1), int32(0)
	for i := range x.chunks {
		c := &x.chunks[i]
		switch {
		case c.size <= 0 || c.size > x.bytes-offset:
			return x.wrong("the size of a chunk")
		case c.first <= tick, c.count <= 0, int64(c.count) > c.size:
			return x.wrong("the ticks of a chunk")
		case c.lines > maxSize:
			return x.wrong("the length of what a chunk shows")
		}
		if err := x.checkCheckpoint(&c.checkpoint, stays, texts{list: x.texts.list[:x.texts.settled]}); err != nil {
			return err
		}
		offset, tick, stays = offset+c.size, c.last, c.checkpoint.stays
	}
	if len(x.chunks) > 0 && offset != x.bytes {
		return x.wrong("the end of the last chunk")
	}
	return x.checkCheckpoint(&x.tail, stays, x.texts)
}

// checkCheckpoint checks a checkpoint that comes after so many stays and refers to these texts.
func (x *index) checkCheckpoint(c *checkpoint, stays int32, texts texts) error {
	if c.stays < stays || int(c.stays) > len(x.stays) {
		return x.wrong("the stays of a checkpoint")
	}
	r := indexfile.NewReader(name, c.players)
	for r.Len() > 0 {
		p := player{cid: int32(r.Uint(maxClients - 1)), stay: noStay}
		if list := x.byClient[p.cid]; len(list) > 0 && list[0] < c.stays {
			p.stay = list[0]
		}
		p.code(indexfile.Codec{R: r}, &texts)
	}
	return r.Err()
}

// checkStays compares the totals of the stays with the sums over all chunks.
func (x *index) checkStays() error {
	sums := make([][tables]int64, len(x.stays))
	var list []activity
	for i := range x.chunks {
		c := &x.chunks[i]
		var err error
		if list, err = readChunkActivity(list[:0], c.activity); err != nil {
			return err
		}
		last := int32(-1)
		for k := range list {
			a := &list[k]
			if a.stay <= last || int(a.stay) >= len(x.stays) {
				return x.wrong("the activity of a stay")
			}
			last = a.stay
			s := x.stays[a.stay]
			if i < int(s.firstChunk) || i > int(s.lastChunk) {
				return x.wrong("the chunks of a stay")
			}
			for t, n := range a.bytes {
				if n > maxSize {
					return x.wrong("the length of a table")
				}
				sums[a.stay][t] += n
			}
		}
	}
	for i, s := range x.stays {
		if sums[i] != s.bytes || s.firstChunk < -1 || s.firstChunk >= 0 && int(s.lastChunk) >= len(x.chunks) {
			return x.wrong("the tables of a stay")
		}
	}
	return x.checkTail()
}

// checkTail checks the activity of the last chunk, which is taken out of the stays again when the
// recording has grown.
func (x *index) checkTail() error {
	last := int32(-1)
	for i := range x.activity {
		a := &x.activity[i]
		if a.stay <= last || int(a.stay) >= len(x.stays) || len(x.chunks) == 0 {
			return x.wrong("the activity of the last chunk")
		}
		last = a.stay
		s := x.stays[a.stay]
		for t := range tables {
			if a.rows[t] > s.rows[t] || a.bytes[t] > s.bytes[t] {
				return x.wrong("the activity of the last chunk")
			}
		}
	}
	return nil
}
