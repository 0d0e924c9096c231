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
	dirs     []string // of the stays
	events   logWriter
	growing  bool // what may still change is held back where a file grows
}

// maxRendered bounds the JSON of one chunk, which for a damaged or hostile recording may be anything.
const maxRendered = 256 << 20

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
	return min(max(blockWeight/(x.chunks[k].weight+1), 1), blockTicks)
}

// A point is a place before a record, from where decoding can go on.
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

// checkLines fails if c, which is chunk k, has too much to be rendered.
func (c *chunk) checkLines(k int) error {
	if c.lines > maxRendered {
		return formats.Errorf(name, c.offset, formats.ErrCorrupt,
			"chunk %d has %d bytes of JSON, more than %d", k, c.lines, maxRendered)
	}
	return nil
}

// enough fails if there is too little memory to render chunk k. A usual one takes no more than every request has; a tick
// of a hostile one may have any number of records, each of some bytes.
func (x *index) enough(ctx context.Context, k int) error {
	c := &x.chunks[k]
	if c.size <= 2*chunkSize {
		return nil
	}
	held, err := formats.Charge(ctx, c.size+2*min(c.lines, maxRendered))
	held.Free()
	return err
}

// chunkStart returns the point at the beginning of chunk k.
func (r *recording) chunkStart(k int) (*point, error) {
	c := &r.idx.chunks[k]
	if err := c.checkLines(k); err != nil {
		return nil, err
	}
	s, dec, err := r.idx.stateAt(k, r.version1)
	if err != nil {
		return nil, fmt.Errorf("index of chunk %d: %w", k, err)
	}
	return &point{c.offset, dec, s}, nil
}

// cursor returns a cursor at p, which is in chunk k.
func (r *recording) cursor(ctx context.Context, p *point, k, window int) *cursor {
	c := &r.idx.chunks[k]
	return &cursor{
		scan:  newScanner(r.src.At(ctx), p.offset, c.offset+c.size, p.dec, window),
		state: p.state.clone(),
	}
}

// from returns a cursor at the start of chunk k that goes on to an offset, where a chunk begins or ends.
func (r *recording) from(ctx context.Context, k int, end int64) (*cursor, error) {
	s, dec, err := r.idx.stateAt(k, r.version1)
	if err != nil {
		return nil, fmt.Errorf("index of chunk %d: %w", k, err)
	}
	return &cursor{scan: newScanner(r.src.At(ctx), r.idx.chunks[k].offset, end, dec, tableWindow), state: s}, nil
}

// tick returns the tick of the next record, or errEnd behind the chunk.
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

// doc returns the document of the i-th tick.
func (b *block) doc(i int) []byte {
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.docs[start:b.ends[i]]
}

// cost is the memory that b keeps alive.
func (b *block) cost() int64 {
	return int64(cap(b.docs) + 8*cap(b.ends) + cap(b.next.state.players)*playerSize + stateSize)
}

const (
	playerSize = int(unsafe.Sizeof(player{}))
	stateSize  = int(unsafe.Sizeof(state{}))
)

// block renders block g of chunk k: its ticks or the states after them. from is a point at or before its first tick.
func (r *recording) block(ctx context.Context, from *point, k, g int, states bool) (*block, error) {
	n := r.idx.blockLen(k)
	ticks := r.idx.ticksOf(k)
	ticks = ticks[g*n : min((g+1)*n, len(ticks))]
	c := r.cursor(ctx, from, k, blockWindow)
	for more := true; more; {
		var err error
		if more, err = c.next(ticks[0] - 1); err != nil {
			return nil, err
		}
	}
	b := &block{ends: make([]int, 0, len(ticks))}
	for _, t := range ticks {
		var err error
		if b.docs, err = r.appendTick(b.docs, c, t, states); err != nil {
			return nil, err
		}
		b.ends = append(b.ends, len(b.docs))
	}
	b.next = c.point()
	return b, nil
}

// appendTick plays tick t and appends its document, or the state behind it from "players" on.
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

// lines renders all ticks of chunk k, one a line.
func (r *recording) lines(ctx context.Context, k int) ([]byte, error) {
	if err := r.idx.enough(ctx, k); err != nil {
		return nil, err
	}
	b := make([]byte, 0, min(r.idx.chunks[k].lines, maxRendered))
	tick := int32(-1)
	err := r.each(ctx, k, func(e *event) {
		switch {
		case tick < 0:
			b = appendTickHead(b, e.tick)
		case tick != e.tick:
			b = appendTickHead(append(b, tickTail...), e.tick)
		default:
			b = append(b, ',')
		}
		tick = e.tick
		b = r.render.appendEvent(b, e)
	})
	return append(b, tickTail...), err
}

// each calls f for every event of chunk k.
func (r *recording) each(ctx context.Context, k int, f func(*event)) error {
	if err := r.idx.enough(ctx, k); err != nil {
		return err
	}
	from, err := r.chunkStart(k)
	if err != nil {
		return err
	}
	c := r.cursor(ctx, from, k, chunkSize)
	for {
		more, err := c.next(math.MaxInt32)
		if err != nil || !more {
			return err
		}
		f(&c.event)
	}
}

// rows renders the rows of one table in chunk k, by stay.
func (r *recording) rows(ctx context.Context, k int, t table) (map[int32][]byte, error) {
	rows := map[int32][]byte{}
	err := r.each(ctx, k, func(e *event) {
		if of, ok := tableOf(e.kind); ok && of == t && e.stay != noStay {
			rows[e.stay] = appendRow(rows[e.stay], e)
		}
	})
	return rows, err
}
