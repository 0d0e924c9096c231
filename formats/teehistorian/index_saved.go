package teehistorian

import (
	"math"

	"github.com/google/uuid"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
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
		offset += c.Size
		ordinal += c.Count
	}
	for i := range x.finishes {
		x.finishes[i].tell(x.stays)
	}
	x.sortStays()
	return x, err
}

// code writes or reads an index: its values, of which structs have their exported fields, then the
// rows of its tables.
func (x *index) code(c indexfile.Codec) {
	for _, v := range []any{
		&x.start, &x.bytes, &x.end, &x.records, &x.anomalies, &x.counts, &x.problems, &x.texts, &x.stays, &x.practice,
		&x.lines, &x.chunks, &x.finishes, &x.tail,
	} {
		c.Whole(v)
	}
	for t := range x.rows {
		rowcount.Code(c, &x.rows[t], rowColumns[t])
	}
}

// code writes or reads what a chunk holds for a stay.
func (a *activity) code(c indexfile.Codec) {
	indexfile.Uint(c, &a.stay, math.MaxInt32)
	for t := range tables {
		indexfile.Uint(c, &a.rows[t], math.MaxInt64)
		indexfile.Uint(c, &a.bytes[t], math.MaxInt64)
	}
}

// activities appends what a chunk holds for its stays, in ascending order, to list.
func (k *chunk) activities(list []activity) ([]activity, error) {
	r := indexfile.NewReader(name, k.Activity)
	for r.Len() > 0 {
		list = append(list, activity{})
		list[len(list)-1].code(indexfile.Codec{R: r})
	}
	return list, r.Err()
}

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	n := 2048
	for i := range x.chunks {
		c := &x.chunks[i]
		n += len(c.Ticks) + len(c.Checkpoint.Players) + len(c.Activity) + 160
	}
	for i := range x.stays {
		n += 296 + 16*len(x.stays[i].Names) + 8*cap(x.stays[i].finishes)
	}
	for _, s := range x.texts.List {
		n += 3*len(s) + 64 // there, in the map and in a stay
	}
	for _, t := range x.rows {
		n += int(t.Cost())
	}
	for i := range x.lines {
		n += len(x.lines[i].Packed) + 48
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
	case x.start < 0, x.bytes < x.start, size != formats.UnknownSize && x.bytes > size:
		return x.wrong("the end")
	case x.end != endFinished && x.end != endUnfinished && x.end != endCut && x.end != endDamaged:
		return x.wrong("how the records end")
	case len(x.stays) > 2*maxStays || int(x.tail.Stays) != len(x.stays):
		return x.wrong("the number of stays")
	case len(x.counts) != len(eventWords) || uint(x.texts.Settled) > uint(len(x.texts.List)):
		return x.wrong("a number of names")
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
	for _, g := range x.lines {
		if uint64(g.Size) > maxSize {
			return x.wrong("the length of lines")
		}
	}
	tick := int32(0)
	for _, f := range x.finishes {
		if f.Stay < noStay || int(f.Stay) >= len(x.stays) || f.Name > x.texts.Settled || f.Tick < tick {
			return x.wrong("a finish")
		}
		tick = f.Tick
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
		case c.Size <= 0 || c.Size > x.bytes-offset:
			return x.wrong("the size of a chunk")
		case c.First <= tick, c.Count <= 0, int64(c.Count) > c.Size, !c.endsWithTick(c.Last):
			return x.wrong("the ticks of a chunk")
		case uint64(c.Lines) > maxSize, c.Weight < 0:
			return x.wrong("the length of what a chunk shows")
		}
		if err := x.checkCheckpoint(&c.Checkpoint, stays, texts{List: x.texts.List[:x.texts.Settled]}); err != nil {
			return err
		}
		offset, tick, stays = offset+c.Size, c.Last, c.Checkpoint.Stays
	}
	if len(x.chunks) > 0 && offset != x.bytes {
		return x.wrong("the end of the last chunk")
	}
	return x.checkCheckpoint(&x.tail, stays, x.texts)
}

// endsWithTick reports whether the ticks are possible, and this is the last.
func (k *chunk) endsWithTick(last int32) bool {
	ticks, ok := decodeTicks(k.Ticks, k.First, k.Count)
	return ok && ticks[len(ticks)-1] == last
}

// checkCheckpoint checks a checkpoint that comes after so many stays and refers to these texts.
func (x *index) checkCheckpoint(c *checkpoint, stays int32, texts texts) error {
	if c.Tick < 0 || c.Stays < stays || int(c.Stays) > len(x.stays) {
		return x.wrong("the stays of a checkpoint")
	}
	r := indexfile.NewReader(name, c.Players)
	for r.Len() > 0 {
		p := player{cid: int32(r.Uint(maxClients - 1)), stay: noStay}
		if list := x.byClient[p.cid]; len(list) > 0 && list[0] < c.Stays {
			p.stay = list[0]
		}
		p.code(indexfile.Codec{R: r}, &texts)
	}
	return r.Err()
}

// checkStays compares the totals of the stays with the sums over all chunks.
func (x *index) checkStays() error {
	sums := make([]activity, len(x.stays))
	var list []activity
	for i := range x.chunks {
		var err error
		if list, err = x.chunks[i].activities(list[:0]); err != nil {
			return err
		}
		last := int32(-1)
		for _, a := range list {
			if a.stay <= last || int(a.stay) >= len(x.stays) {
				return x.wrong("the activity of a stay")
			}
			last = a.stay
			if s := x.stays[a.stay]; i < int(s.FirstChunk) || i > int(s.LastChunk) {
				return x.wrong("the chunks of a stay")
			}
			for t := range tables {
				if a.bytes[t] > maxSize || a.rows[t] > a.bytes[t] {
					return x.wrong("the length of a table")
				}
				sums[a.stay].rows[t] += a.rows[t]
				sums[a.stay].bytes[t] += a.bytes[t]
			}
		}
	}
	for i, s := range x.stays {
		switch {
		case uint32(s.CID) >= maxClients || len(s.Connection) != 0 && len(s.Connection) != len(uuid.UUID{}):
			return x.wrong("the client of a stay")
		case sums[i].rows != s.Rows || sums[i].bytes != s.Bytes || s.FirstChunk < -1 || s.FirstChunk >= 0 && int(s.LastChunk) >= len(x.chunks):
			return x.wrong("the tables of a stay")
		}
	}
	return nil
}
