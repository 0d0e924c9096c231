package teehistorian

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"recfs/formats"
)

// A recording decodes stretches of a source that was indexed.
type recording struct {
	src      formats.Input
	idx      *index
	version1 bool
	render   renderer
	events   logWriter
	dirs     []string // of the stays
	growing  bool     // lines that may still change are held back
}

// longLines is the size of the lines of a chunk from which the document of its last tick, the only
// one that can be long, is made while it is read. Usual chunks have two to four MiB of lines.
const longLines = 8 << 20

// blockWindow is how many bytes are read at a time for a few ticks.
const blockWindow = 16 << 10

// tableWindow is how many bytes are read at a time for the rows of a group, which has about 1 MiB.
const tableWindow = 64 << 10

// blockTicks is how many ticks are rendered together, fewer if there is much to show of each.
const blockTicks = 32

// blockWeight is how many players and teams may be rendered together, over all ticks of a block.
const blockWeight = 4096

// blockLen is the number of ticks in the blocks of chunk k.
func (x *index) blockLen(k int) int {
	return min(max(blockWeight/(x.chunks[k].Weight+1), 1), blockTicks)
}

// A point is a place before a record from which decoding can go on.
type point struct {
	offset int64
	dec    decoder
	state  state
}

// A cursor goes through the records of one chunk.
type cursor struct {
	scan   *scanner
	state  state
	event  event
	before decoder // of the record in event
	ready  bool    // event holds the next record, not applied yet
}

// isLong reports whether the document of the last tick may be long.
func (c *chunk) isLong() bool { return c.Lines > longLines }

// held is about how much memory it takes to decode the records of a chunk. With a long record, that
// is more than every request has.
func (c *chunk) held() int64 {
	if c.Size <= 2*chunkSize {
		return 0
	}
	return 4 * min(c.Size, maxRecord)
}

// enough returns an error if there is too little memory to decode chunk k and for n bytes that are
// made of it.
func (x *index) enough(ctx context.Context, k int, n int64) error {
	if c := &x.chunks[k]; c.Size > 2*chunkSize {
		return formats.Claim(ctx, c.held()+2*n)
	}
	return nil
}

// cursor returns a cursor at a point in chunk k, nil for its beginning, that goes on to the offset
// end, at which a chunk ends.
func (r *recording) cursor(ctx context.Context, from *point, k int, end int64, window int) (*cursor, error) {
	if from != nil {
		return &cursor{scan: newScanner(r.src.At(ctx), from.offset, end, from.dec, window), state: from.state.clone()}, nil
	}
	s, dec, err := r.idx.stateAt(k, r.version1)
	if err != nil {
		return nil, fmt.Errorf("index of chunk %d: %w", k, err)
	}
	return &cursor{scan: newScanner(r.src.At(ctx), r.idx.chunks[k].offset, end, dec, window), state: s}, nil
}

// in returns a cursor at a point in chunk k that goes on to the end of the chunk.
func (r *recording) in(ctx context.Context, k int, from *point, window int) (*cursor, error) {
	return r.cursor(ctx, from, k, r.idx.chunkStart(k+1), window)
}

// tick returns the tick of the next record, or errEnd after the chunk.
func (c *cursor) tick() (int32, error) {
	if !c.ready {
		c.before = c.scan.dec
		if err := c.scan.next(&c.event.record); err != nil {
			return 0, err
		}
		c.ready = true
	}
	return c.event.tick, nil
}

// next applies the next record if it belongs to a tick up to last.
func (c *cursor) next(last int32) (bool, error) {
	t, err := c.tick()
	if errors.Is(err, errEnd) {
		return false, nil
	}
	if err != nil || t > last {
		return false, err
	}
	c.state.apply(&c.event)
	c.ready = false
	return true, nil
}

// skip applies the records before a tick.
func (c *cursor) skip(tick int32) error {
	for {
		if more, err := c.next(tick - 1); err != nil || !more {
			return err
		}
	}
}

// point returns where the cursor is.
func (c *cursor) point() *point {
	if c.ready {
		return &point{c.event.offset, c.before, c.state}
	}
	return &point{c.scan.position(), c.scan.dec, c.state}
}

// A block holds what is shown of some successive ticks of a chunk.
type block struct {
	docs []byte
	ends []int // of each tick in docs
	next *point
}

const (
	playerSize = int(unsafe.Sizeof(player{}))
	stateSize  = int(unsafe.Sizeof(state{}))
)

// docs renders ticks of chunk k, without a long one, or the states after them, and calls fn with
// each: of a state without its head. It goes on from a point at or before the first of them, nil
// for the beginning of the chunk, and returns the point behind them.
func (r *recording) docs(ctx context.Context, from *point, k, first, end, window int, states bool, fn func(tick int32, doc []byte) error) (*point, error) {
	if err := r.idx.enough(ctx, k, longLines); err != nil {
		return nil, err
	}
	ticks := r.idx.ticksOf(k)[first:end]
	if c := &r.idx.chunks[k]; !states && c.isLong() && ticks[len(ticks)-1] == c.Last {
		ticks = ticks[:len(ticks)-1]
	}
	c, err := r.in(ctx, k, from, window)
	if err == nil && len(ticks) > 0 {
		err = c.skip(ticks[0])
	}
	var b []byte
	for i := 0; err == nil && i < len(ticks); i++ {
		if b, err = r.appendTick(b[:0], c, ticks[i], states); err == nil {
			err = fn(ticks[i], b)
		}
	}
	if err != nil {
		return nil, err
	}
	return c.point(), nil
}

// appendTick plays tick t and appends its document, or that of the state after it, from "players"
// on.
func (r *recording) appendTick(b []byte, c *cursor, t int32, states bool) ([]byte, error) {
	if !states {
		b = append(appendDocumentHead(b, t), eventsHead...)
	}
	for first := true; ; {
		more, err := c.next(t)
		if err != nil {
			return nil, err
		}
		switch {
		case !more && states:
			return appendState(b, &c.state), nil
		case !more:
			return append(b, documentTail...), nil
		case !states:
			b = r.render.appendEvent(appendElement(b, &first), &c.event)
		}
	}
}

// A jsonLines renders ticks, one a line.
type jsonLines struct {
	render *renderer
	open   bool // the line of tick is
	tick   int32
}

// append appends an event.
func (l *jsonLines) append(b []byte, e *event) []byte {
	if l.open && l.tick == e.tick {
		return l.render.appendEvent(append(b, ','), e)
	}
	b = appendTickHead(l.end(b), e.tick)
	l.open, l.tick = true, e.tick
	return l.render.appendEvent(b, e)
}

// end ends the line that is open.
func (l *jsonLines) end(b []byte) []byte {
	if l.open {
		b = append(b, tickTail...)
	}
	l.open = false
	return b
}

// each calls f for every event of chunk k in the ticks up to last, of which n bytes are made.
func (r *recording) each(ctx context.Context, k int, last int32, n int64, f func(*event)) error {
	if err := r.idx.enough(ctx, k, n); err != nil {
		return err
	}
	c, err := r.in(ctx, k, nil, chunkSize)
	if err != nil {
		return err
	}
	for {
		more, err := c.next(last)
		if err != nil || !more {
			return err
		}
		f(&c.event)
	}
}

// rows renders the rows of one table in chunk k, by stay. Together they are shorter than the lines.
func (r *recording) rows(ctx context.Context, k int, t table) (map[int32][]byte, error) {
	rows := map[int32][]byte{}
	err := r.each(ctx, k, math.MaxInt32, r.idx.chunks[k].Lines, func(e *event) {
		if of, ok := tableOf(e.kind); ok && of == t && e.stay != noStay {
			rows[e.stay] = appendRow(rows[e.stay], e)
		}
	})
	return rows, err
}

// partSize is the number of bytes of records that a part of a text is made of. Most chunks have one
// part.
const partSize = 2 * chunkSize

// parts is how many parts a text of the records of a chunk has.
func (c *chunk) parts() int { return int((c.Size + partSize - 1) / partSize) }

// A partPlace is the place at which a part of a text begins.
type partPlace struct {
	*point
	lines jsonLines
	first bool // no event of the document comes before it
}

// part appends part i of the lines of chunk k up to the tick last, or of the document of that tick,
// to b. It begins at p, and sets p to its end.
func (r *recording) part(ctx context.Context, b []byte, p *partPlace, k, i int, last int32, document bool) ([]byte, error) {
	chunk := &r.idx.chunks[k]
	if document && i == 0 {
		b = append(appendDocumentHead(b, last), eventsHead...)
	}
	end := min(chunk.offset+int64(i+1)*partSize, chunk.offset+chunk.Size)
	c, err := r.in(ctx, k, p.point, chunkSize)
	if err != nil {
		return nil, err
	}
	for more := true; more && c.scan.position() < end; {
		if more, err = c.next(last); err != nil {
			return nil, err
		}
		switch {
		case !more:
		case !document:
			b = p.lines.append(b, &c.event)
		case c.event.tick == last:
			b = r.render.appendEvent(appendElement(b, &p.first), &c.event)
		}
	}
	p.point = c.point()
	switch {
	case i < chunk.parts()-1:
		return b, nil
	case document:
		return append(b, documentTail...), nil
	}
	return p.lines.end(b), nil
}
