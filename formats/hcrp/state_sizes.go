package hcrp

import (
	"context"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// What laying out a document adds to its compact JSON.
var (
	memberSpace  = space(`{"a":0,"b":0}`) - space(`{"a":0}`)
	listSpace    = space(`{"a":[{}]}`) - space(`{"a":[]}`) // of the first element
	elementSpace = space(`{"a":[{},{}]}`) - space(`{"a":[{}]}`)
	tickSpace    = space(`{"tick":0,"time_ms":0,"events":[{}]}`)

	bareEntity = len((&entity{}).append(nil, 0)) - len("0") - 7*len("null") // with neither its id nor what is null
	bareBlock  = len(appendBlock(nil, blockAt{}, nil)) - 3*len("0") - len("null")

	emptyState = int64(len(document(newWorld().appendState(appendStateHead(nil, 0, 0)))) - len(appendStateHead(nil, 0, 0)))
)

func space(compact string) int64 { return int64(len(document([]byte(compact))) - len(compact)) }

// documentSize returns the size of the document of a tick, which has an event at least.
func (t *tick) documentSize() int64 {
	n := int64(t.line.end-t.line.start) + tickSpace + int64(t.last-t.first-1)*elementSpace
	if t.cut {
		n += memberSpace
	}
	return n
}

// docSizes are the sizes of the listed documents of successive tick ranges.
type docSizes struct {
	first int64    // place of the first one among the listed
	sizes []uint32 // 0: the document has to be made to learn it, or why it is unknown
}

// of returns the size of the i-th listed document, 0 if it is not known.
func (s *docSizes) of(i int64) int64 { return int64(s.sizes[i-s.first]) }

// set notes the size of the i-th listed document.
func (s *docSizes) set(i, size int64) {
	if size <= math.MaxUint32 {
		s.sizes[i-s.first] = uint32(size)
	}
}

// newSizes makes room for those of the ranges from begin on and before end. The memory is charged until it is freed.
func (x *index) newSizes(ctx context.Context, begin, end int) (*docSizes, *formats.Held, error) {
	first := x.ticks.search(x.ranges[begin].First)
	n := x.ticks.search(x.ranges[end-1].Last+1) - first
	held, err := formats.Charge(ctx, 4*n)
	if err != nil {
		return nil, nil, err
	}
	return &docSizes{first, make([]uint32, n)}, held, nil
}

// tickSizes decodes the chunk of a tick range for the sizes of its ticks. chunksOf returns the chunks that may have a
// tick: an earlier one may have a part of it, which is shown then.
func (t *playback) tickSizes(ctx context.Context, number int, chunksOf func(n int64) []int) (*docSizes, error) {
	x := t.index
	s, held, err := x.newSizes(ctx, number, number+1)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	r := &x.ranges[number]
	if r.Hole {
		return s, nil
	}
	c, err := t.decode(ctx, int(r.Chunk))
	if err != nil {
		return nil, err
	}
	for i := range c.ticks {
		tick := &c.ticks[i]
		place, listed := x.ticks.find(tick.n)
		if listed && tick.n >= r.First && tick.n <= r.Last && slices.Index(chunksOf(tick.n), int(r.Chunk)) == 0 {
			s.set(place, tick.documentSize())
		}
	}
	return s, nil
}

// stateSizes plays stretch k once for the sizes of its states.
func (t *playback) stateSizes(ctx context.Context, k int) (*docSizes, error) {
	x := t.index
	begin, end := x.first(k), x.first(k+1)
	s, held, err := x.newSizes(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	p, err := t.start(k)
	m := &stateMeter{replay: p, ticks: x.ticks, out: s, entities: elements[int64]{of: map[int64]int{}}, blocks: elements[blockAt]{of: map[blockAt]int{}}}
	for i := begin; err == nil && i < end; i++ {
		err = t.play(ctx, p, i, x.ranges[i].Last, func(c *chunk) observer {
			m.begin(&x.ranges[i], c)
			return m
		})
	}
	return s, err
}

// A stateMeter is an observer that learns the sizes of states. What of a world has not changed is not measured
// again.
type stateMeter struct {
	replay *replay
	ticks  runs
	out    *docSizes

	chunk    *chunk
	number   int32  // of the chunk, as the states tell it
	entered  bool   // what the tick range begins with is measured
	world    *world // of which the elements are measured
	entities elements[int64]
	blocks   elements[blockAt]
	touched  []int64 // entities that this tick has changed, which are measured at its end

	next int64 // tick of the next state
	at   int64 // its place in ticks
	buf  []byte
}

// begin begins a tick range. States before it whose size is not known are in no range.
func (m *stateMeter) begin(s *tickRange, c *chunk) {
	m.chunk, m.number, m.entered = c, s.Chunk, false
	m.goTo(m.ticks.search(s.First))
}

func (m *stateMeter) goTo(i int64) {
	m.at, m.next = i, math.MaxInt64
	if i < m.out.first+int64(len(m.out.sizes)) {
		m.next = m.ticks.number(i)
	}
}

// event implements observer.
func (m *stateMeter) event(t *tick, k int, _ bool) {
	m.through(t.n - 1)
	e := &m.chunk.events[k]
	if m.world == nil || e.def == nil {
		return
	}
	if last := len(m.touched) - 1; e.hasAll(captureEntity) && (last < 0 || m.touched[last] != e.entity) {
		m.touched = append(m.touched, e.entity)
	}
	switch e.def.Role {
	case roleBlock:
		if e.hasAll(captureAt) {
			m.block(e.at)
		}
	case roleBlocks:
		for _, b := range e.blocks {
			m.block(b.at)
		}
	case roleClear:
		m.blocks.clear()
	}
}

// tick implements observer.
func (m *stateMeter) tick(n int64) {
	if m.entered {
		m.through(n - 1)
		for _, id := range m.touched {
			m.entity(id)
		}
		m.touched = m.touched[:0]
		return
	}
	m.entered = true
	before := m.world
	m.world = m.replay.world
	m.entities.clear()
	anew := m.world != before || m.chunk.described
	if anew {
		m.blocks.clear()
	}
	if m.world == nil {
		return
	}
	if len(m.blocks.of) == 0 {
		m.blocks.of = make(map[blockAt]int, len(m.world.blocks))
	}
	for id := range m.world.entities {
		m.entity(id)
	}
	if anew {
		for at := range m.world.blocks {
			m.block(at)
		}
	}
}

// through notes the sizes of the states up to that of tick n.
func (m *stateMeter) through(n int64) {
	for ; m.next <= n; m.goTo(m.at + 1) {
		if m.world == nil {
			continue
		}
		m.buf = appendStateHead(m.buf[:0], m.next, m.number)
		m.out.set(m.at, int64(len(m.buf))+emptyState+m.entities.size()+m.blocks.size())
	}
}

// entity measures what is known of an entity.
func (m *stateMeter) entity(id int64) {
	e := m.world.entities[id]
	if e == nil {
		m.entities.set(id, 0)
		return
	}
	m.buf = jsonenc.AppendInt64(m.buf[:0], id)
	if e.placed {
		m.buf = appendPosition(m.buf, e.pos[:])
	} else {
		m.buf = append(m.buf, "null"...)
	}
	n := bareEntity + len(m.buf) + len(e.itemList())
	for _, text := range [...][]byte{e.kind, e.velocity, e.pose, e.flags, e.using, e.slot} {
		n += textSize(text)
	}
	m.entities.set(id, n)
}

// block measures what is known of a block.
func (m *stateMeter) block(at blockAt) {
	n := 0
	if state, ok := m.world.blocks[at]; ok {
		n = bareBlock + jsonenc.Int64Len(at.x) + jsonenc.Int64Len(at.y) + jsonenc.Int64Len(at.z) + textSize(state)
	}
	m.blocks.set(at, n)
}

// textSize returns how many bytes appendText appends behind the key.
func textSize(text []byte) int {
	if len(text) == 0 {
		return len("null")
	}
	return len(text)
}

// elements are the bytes of the elements of a list.
type elements[K comparable] struct {
	of  map[K]int
	sum int64
}

// set sets those of one element; 0 takes it out.
func (l *elements[K]) set(k K, n int) {
	l.sum += int64(n - l.of[k])
	if n == 0 {
		delete(l.of, k)
	} else {
		l.of[k] = n
	}
}

func (l *elements[K]) clear() {
	clear(l.of)
	l.sum = 0
}

// size returns how many more bytes a document has than with an empty list.
func (l *elements[K]) size() int64 {
	if len(l.of) == 0 {
		return 0
	}
	return l.sum + listSpace + int64(len(l.of)-1)*(elementSpace+int64(len(",")))
}
