package teehistorian

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// indexVersion is the first number of a stored index. It is raised whenever the index of the same
// recording would be stored as other bytes, or what is stored would mean something else.
const indexVersion = 3

// An indexWriter appends the values of an index.
type indexWriter struct {
	b []byte
}

func (w *indexWriter) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *indexWriter) int(v int64) { w.b = binary.AppendVarint(w.b, v) }

func (w *indexWriter) bytes(b []byte) {
	w.uint(uint64(len(b)))
	w.b = append(w.b, b...)
}

func (w *indexWriter) text(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *indexWriter) bool(on bool) {
	if on {
		w.uint(1)
	} else {
		w.uint(0)
	}
}

// optional writes whether p is set, and then what it points to.
func optional[V any](w *indexWriter, p *V, write func(V)) {
	w.bool(p != nil)
	if p != nil {
		write(*p)
	}
}

func (w *indexWriter) optionalText(s *string) { optional(w, s, w.text) }

func (w *indexWriter) optionalInt(v *int32) {
	optional(w, v, func(v int32) { w.int(int64(v)) })
}

// encode returns the bytes of an index with its seal.
func (x *index) encode(s formats.Seal) []byte {
	// Somewhat more than it takes: to grow it would be there twice, and days of a busy server make megabytes.
	w := &indexWriter{b: make([]byte, 0, x.memory()*2/3)}
	w.uint(indexVersion)
	w.b = s.Append(w.b)

	w.uint(uint64(x.start))
	w.uint(uint64(x.bytes))
	w.text(x.end)
	w.uint(uint64(x.records))
	w.uint(uint64(x.anomalies))
	for _, n := range x.counts.kinds {
		w.uint(uint64(n))
	}
	w.uint(uint64(len(x.counts.extensions)))
	for _, event := range slices.Sorted(maps.Keys(x.counts.extensions)) {
		w.text(event)
		w.uint(uint64(x.counts.extensions[event]))
	}
	w.uint(uint64(len(x.problems)))
	for i := range x.problems {
		w.problem(&x.problems[i])
	}
	w.uint(uint64(len(x.texts.list)))
	for _, s := range x.texts.list {
		w.text(s)
	}
	w.uint(uint64(len(x.stays)))
	for i := range x.stays {
		w.stay(x.stays[i])
	}
	w.uint(uint64(len(x.practice)))
	for _, p := range x.practice {
		w.uint(uint64(p.offset))
		w.int(int64(p.team))
		w.bool(p.on)
	}
	w.uint(uint64(len(x.chunks)))
	for i := range x.chunks {
		w.chunk(&x.chunks[i])
	}
	w.checkpoint(&x.tail)
	w.int(int64(x.tail.last))
	w.uint(uint64(len(x.activity)))
	for _, a := range x.activity {
		w.uint(uint64(a.stay))
		w.numbers(a.rows[:])
		w.numbers(a.bytes[:])
		w.uint(uint64(a.mentions))
	}
	return w.b
}

func (w *indexWriter) numbers(list []int64) {
	for _, n := range list {
		w.uint(uint64(n))
	}
}

func (w *indexWriter) problem(p *problem) {
	w.text(p.code)
	w.uint(uint64(p.offset))
	w.text(p.message)
	w.bool(p.final)
}

func (w *indexWriter) stay(s *stay) {
	w.uint(uint64(s.cid))
	w.int(int64(s.firstChunk))
	w.int(int64(s.lastChunk))
	w.uint(uint64(s.protocol))
	w.uint(uint64(len(s.names)))
	for _, n := range s.names {
		w.text(n)
	}
	w.uint(uint64(s.named))
	w.optionalText(s.clan)
	w.optionalInt(s.version)
	w.optionalText(s.versionStr)
	w.uint(uint64(s.first))
	w.optionalInt(s.join)
	w.optionalInt(s.drop)
	w.optionalText(s.reason)
	w.uint(uint64(s.lives))
	w.uint(uint64(len(s.finishes)))
	for _, f := range s.finishes {
		w.int(int64(f.Tick))
		w.int(int64(f.TimeTicks))
	}
	w.numbers(s.rows[:])
	w.numbers(s.bytes[:])
}

func (w *indexWriter) chunk(c *chunk) {
	w.uint(uint64(c.size))
	w.uint(uint64(c.first))
	w.uint(uint64(c.last - c.first))
	w.uint(uint64(c.count))
	w.uint(uint64(c.lines))
	w.uint(uint64(c.log))
	w.uint(uint64(c.weight))
	w.bytes(c.ticks)
	w.checkpoint(&c.checkpoint)
	w.bytes(c.activity)
}

func (w *indexWriter) checkpoint(c *checkpoint) {
	w.uint(uint64(c.tick))
	w.uint(uint64(c.stays))
	w.bytes(c.players)
}

// decodeIndex reads what encode wrote.
func decodeIndex(b []byte) (*index, formats.Seal, error) {
	r := &indexReader{Cursor: wire.NewCursor(name, b, 0)}
	if v := r.uint(math.MaxInt64); v != indexVersion {
		r.Fail("index version %d", v)
	}
	s, _, _ := formats.CutSeal(r.Bytes(formats.SealSize)) // if there are too few bytes, r has failed

	x := &index{start: r.int64(), bytes: r.int64(), end: r.string(), records: r.int64(), anomalies: r.int64()}
	for i := range x.counts.kinds {
		x.counts.kinds[i] = r.int64()
	}
	x.counts.extensions = map[string]int64{}
	for range r.count(2) {
		event := r.string()
		x.counts.extensions[event] = r.int64()
	}
	for range r.count(4) {
		x.problems = append(x.problems, problem{r.string(), r.int64(), r.string(), r.bool()})
	}
	for range r.count(1) {
		x.texts.id(r.string())
	}
	r.texts = x.texts.list
	for range r.count(16) {
		x.stays = append(x.stays, r.stay())
	}
	for range r.count(3) {
		x.practice = append(x.practice, practiceChange{r.int64(), r.int32(), r.bool()})
	}
	x.chunks = make([]chunk, r.count(10))
	offset, ordinal := x.start, 0
	for i := range x.chunks {
		c := &x.chunks[i]
		c.offset, c.ordinal = offset, ordinal
		r.chunk(c)
		offset += c.size
		ordinal += c.count
	}
	x.tail = r.checkpoint()
	x.tail.last = r.int32()
	for range r.count(8) {
		a := activity{stay: int32(r.uint(math.MaxInt32))}
		r.numbers(a.rows[:])
		r.numbers(a.bytes[:])
		a.mentions = r.int64()
		x.activity = append(x.activity, a)
		if int(a.stay) >= len(x.stays) {
			r.Fail("activity of a stay that is not listed")
		}
	}
	x.sortStays()
	return x, s, r.Err()
}

// count reads the number of elements of a list, each of at least size bytes.
func (r *indexReader) count(size int) int {
	return int(r.uint(uint64(r.Len() / size)))
}

func (r *indexReader) int64() int64 { return int64(r.uint(math.MaxInt64)) }

func (r *indexReader) signed() int64 { return wire.Zigzag(r.Uvarint(binary.MaxVarintLen64)) }

func (r *indexReader) int32() int32 { return int32(r.signed()) }

func (r *indexReader) bool() bool { return r.uint(1) == 1 }

func (r *indexReader) string() string { return string(r.Bytes(r.count(1))) }

// copy reads bytes that do not keep all of the stored index alive.
func (r *indexReader) copy() []byte { return slices.Clone(r.Bytes(r.count(1))) }

func (r *indexReader) numbers(list []int64) {
	for i := range list {
		list[i] = r.int64()
	}
}

func (r *indexReader) optionalText() *string {
	if !r.bool() {
		return nil
	}
	s := r.string()
	return &s
}

func (r *indexReader) optionalInt() *int32 {
	if !r.bool() {
		return nil
	}
	v := r.int32()
	return &v
}

func (r *indexReader) stay() *stay {
	s := &stay{}
	s.cid = int32(r.uint(maxClients - 1))
	s.firstChunk = r.int32()
	s.lastChunk = r.int32()
	s.protocol = protocol(r.uint(math.MaxUint8))
	for range r.count(1) {
		s.names = append(s.names, r.string())
	}
	s.named = int32(r.uint(math.MaxInt32))
	s.clan = r.optionalText()
	s.version = r.optionalInt()
	s.versionStr = r.optionalText()
	s.first = int32(r.uint(math.MaxInt32))
	s.join = r.optionalInt()
	s.drop = r.optionalInt()
	s.reason = r.optionalText()
	s.lives = r.int64()
	for range r.count(2) {
		s.finishes = append(s.finishes, finishTime{r.int32(), r.int32()})
	}
	r.numbers(s.rows[:])
	r.numbers(s.bytes[:])
	return s
}

func (r *indexReader) chunk(c *chunk) {
	c.size = r.int64()
	c.first = int32(r.uint(math.MaxInt32))
	c.last = c.first + int32(r.uint(uint64(math.MaxInt32-c.first)))
	c.count = int(r.uint(math.MaxInt32))
	c.lines = r.int64()
	c.log = r.int64()
	c.weight = int(r.uint(math.MaxInt32))
	c.ticks = r.copy()
	c.checkpoint = r.checkpoint()
	c.activity = r.copy()
	ticks, ok := decodeTicks(c.ticks, c.first, c.count)
	if !ok || len(ticks) == 0 || ticks[0] != c.first || ticks[len(ticks)-1] != c.last || !slices.IsSorted(ticks) {
		r.Fail("the ticks of a chunk")
	}
}

func (r *indexReader) checkpoint() checkpoint {
	return checkpoint{tick: int32(r.uint(math.MaxInt32)), stays: int32(r.uint(math.MaxInt32)), players: r.copy()}
}

// memory is about what the index keeps alive.
func (x *index) memory() int64 {
	n := 0
	for i := range x.chunks {
		c := &x.chunks[i]
		n += cap(c.ticks) + cap(c.checkpoint.players) + cap(c.activity) + 160
	}
	for i := range x.stays {
		n += 256 + 8*cap(x.stays[i].finishes)
	}
	for _, s := range x.texts.list {
		n += 3*len(s) + 64 // there, in the map and in a stay
	}
	return int64(n + 64*len(x.problems) + 24*len(x.practice))
}
