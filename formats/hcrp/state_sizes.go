package hcrp

import (
	"context"
	"maps"
	"math"
	"slices"
	"sort"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// What laying out a document adds to its compact JSON.
var (
	memberSpace  = space(`{"a":0,"b":0}`) - space(`{"a":0}`)
	listSpace    = space(`{"a":[{}]}`) - space(`{"a":[]}`) // of the first element
	elementSpace = space(`{"a":[{},{}]}`) - space(`{"a":[{}]}`)
	tickSpace    = space(`{"tick":0,"time_ms":0,"events":[{}]}`)

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

// groupBytes is how many bytes of bodies are decoded at least to learn sizes, as far as there are so many.
const groupBytes = 64 << 10

// groups are the first tick ranges of groups of stretches whose sizes are learnt at once, and the end of the last one.
type groups []int32

// newGroups returns the groups of the tick ranges of x, whose chunks have as many bytes as size says.
func newGroups(x *index, size func(chunk int) int64) groups {
	g := groups{0}
	bytes := int64(0)
	for k := range x.checkpoints {
		begin, end := x.first(k), x.first(k+1)
		if bytes >= groupBytes {
			g, bytes = append(g, int32(begin)), 0
		}
		for i := begin; i < end; i++ {
			bytes += size(int(x.ranges[i].Chunk))
		}
	}
	return append(g, int32(len(x.ranges)))
}

// of returns the group that a tick range is in.
func (g groups) of(number int) int {
	return sort.Search(len(g), func(k int) bool { return int(g[k]) > number }) - 1
}

// ranges returns where the tick ranges of a group begin and end.
func (g groups) ranges(group int) (begin, end int) { return int(g[group]), int(g[group+1]) }

// tickSizes decodes the chunks of tick ranges for the sizes of their ticks.
func (t *playback) tickSizes(ctx context.Context, begin, end int) (*docSizes, error) {
	x := t.index
	s, held, err := x.newSizes(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	for number := begin; number < end; number++ {
		r := &x.ranges[number]
		if r.Hole {
			continue
		}
		c, err := t.decode(ctx, int(r.Chunk))
		if err != nil {
			return nil, err
		}
		for tick := range c.between(r.First, r.Last) {
			if place, listed := x.ticks.find(tick.n); listed {
				s.set(place, tick.documentSize())
			}
		}
	}
	return s, nil
}

// stateSizes plays tick ranges, of which the first begins a stretch, once for the sizes of their states.
func (t *playback) stateSizes(ctx context.Context, begin, end int) (*docSizes, error) {
	x := t.index
	s, held, err := x.newSizes(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	p, err := t.start(x.stretch(begin))
	m := &stateMeter{replay: p, ticks: x.ticks, out: s, sizes: map[int64]int{}}
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
	number   int32         // of the chunk, as the states tell it
	entered  bool          // what the tick range begins with is measured
	world    *world        // of which the elements are measured
	sizes    map[int64]int // of entities
	entities elements
	blocks   elements
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
func (m *stateMeter) event(_ *tick, k int, _ bool) {
	e := &m.chunk.events[k]
	if last := len(m.touched) - 1; e.def != nil && e.hasAll(captureEntity) && (last < 0 || m.touched[last] != e.entity) {
		m.touched = append(m.touched, e.entity)
	}
}

// tick implements observer.
func (m *stateMeter) tick(n int64) {
	if m.entered {
		m.through(n - 1)
	} else {
		m.world, m.entities = m.replay.world, elements{}
		clear(m.sizes)
	}
	if m.world != nil {
		if !m.entered {
			m.touched = slices.AppendSeq(m.touched[:0], maps.Keys(m.world.entities))
		}
		for _, id := range m.touched {
			m.entity(id)
		}
		m.blocks = elements{len(m.world.blocks), m.world.blockBytes}
	}
	m.entered, m.touched = true, m.touched[:0]
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
	m.entities.bytes -= int64(m.sizes[id])
	if e := m.world.entities[id]; e != nil {
		m.buf = jsonenc.AppendInt64(m.buf[:0], id)
		m.sizes[id] = len(m.buf) + e.size()
		m.entities.bytes += int64(m.sizes[id])
	} else {
		delete(m.sizes, id)
	}
	m.entities.n = len(m.sizes)
}

// elements are how many elements a list has, and how many bytes they take.
type elements struct {
	n     int
	bytes int64
}

// size returns how many more bytes a document has than with an empty list.
func (l elements) size() int64 {
	if l.n == 0 {
		return 0
	}
	return l.bytes + listSpace + int64(l.n-1)*(elementSpace+int64(len(",")))
}
