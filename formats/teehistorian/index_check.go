package teehistorian

import (
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

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
