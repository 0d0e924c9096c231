package teehistorian

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
)

// scanWindow is how many bytes the pass reads at a time.
const scanWindow = 256 << 10

// A builder makes an index in one pass over the records.
type builder struct {
	*index
	scan   *scanner
	state  state
	render renderer
	log    lineWriter
	shared interner
	event  event

	// The open chunk.
	open     bool
	chunk    chunk
	tickList []int32
	active   []active   // by place in state.players
	past     []activity // of stays that are no longer the latest of their ids
	digits   int        // what else frequent kinds add to lines/ since the last fold
	scratch  []byte
	part     indexfile.Writer // of the index
	text     []byte           // of a line of events.txt

	begun             startTime
	positions, inputs hotRows

	tickLen     int   // digits of the tick
	tickLines   int64 // length of a tick in lines/ without its events
	tickLimit   int64 // from this tick on both are more
	offsetLen   int   // digits of the offset
	offsetLimit int64 // from this offset on it has more
}

// An active is what the open chunk holds for the latest stay of a player.
type active struct {
	activity
	cidLen    int
	positions gathered
	inputs    gathered
	x, y      lengths
	inputLen  int // characters of the numbers of the player's input
}

// A gathered counts the records of a frequent kind since the last fold, and the characters of the
// numbers in their rows.
type gathered struct {
	count, digits int
}

func newActive(p *player) active {
	return active{activity: activity{stay: p.stay}, cidLen: jsonenc.IntLen(p.cid), inputLen: inputLen(&p.input)}
}

// inputLen is how many characters the numbers of an input have.
func inputLen(input *[inputs]int32) int {
	n := 0
	for _, v := range input {
		n += jsonenc.IntLen(v)
	}
	return n
}

// lengths remembers the length of a number that seldom changes much.
type lengths struct {
	first  int32  // the numbers from here on
	count  uint32 // and so many more
	length int    // have this length
}

func (l *lengths) of(v int32) int {
	if uint32(v-l.first) >= l.count {
		l.measure(v)
	}
	return l.length
}

func (l *lengths) measure(v int32) {
	l.length = jsonenc.IntLen(v)
	l.first, l.count = v, 1
	if digits := l.length; v >= 10 && digits < 10 {
		l.first = int32(jsonenc.Pow10[digits-1])
		l.count = uint32(jsonenc.Pow10[digits] - jsonenc.Pow10[digits-1])
	}
}

// buildIndex makes the index of a recording of that size, which may be unknown.
func buildIndex(src io.ReaderAt, size int64, h *header) (*index, error) {
	x := &index{start: h.start, bytes: h.start, end: endUnfinished}
	x.chunks = make([]chunk, 0, max(size-h.start, 0)/chunkSize+1)
	x.tail.Last = newDecoder(false).last
	x.counts = make([]int64, len(eventWords))
	x.rows = newRowCounters()
	return extendIndex(x, src, size, h)
}

// extendIndex goes on where x ends, and changes x. The bytes up to there must be those that x was
// made of.
func extendIndex(x *index, src io.ReaderAt, size int64, h *header) (*index, error) {
	dec := newDecoder(h.version1)
	dec.tick, dec.last = x.tail.Tick, x.tail.Last
	x.sortStays()
	s, err := x.restore(&x.tail, x.bytes)
	if err != nil {
		return nil, err
	}
	x.texts.drop()
	b := &builder{
		index: x, render: renderer{h.idents}, shared: interner{},
		scan: newScanner(src, x.bytes, size, dec, scanWindow), state: s, begun: h.began,
		positions: hotRows{Counter: x.rows[positionsTable]}, inputs: hotRows{Counter: x.rows[inputsTable]},
	}
	b.reopen()
	if err := b.log.reopen(x); err != nil {
		return nil, err
	}
	if err := b.run(); err != nil {
		return nil, err
	}
	b.finish()
	return x, nil
}

// run reads to the end of the records.
func (b *builder) run() error {
	e := &b.event
	for done := b.end == endFinished; !done; done = e.kind == finish {
		if len(b.stays) > maxStays {
			return b.stop(fmt.Errorf("%w: more than %d stays of clients", errBad, maxStays))
		}
		if err := b.scan.next(&e.record); err != nil {
			return b.stop(err)
		}
		if e.tick != b.chunk.Last || !b.open {
			b.startTick(&e.record)
		}
		b.state.apply(e)
		b.account(e)
	}
	b.end = endFinished
	return b.checkTrailing()
}

// stop notes how the records end, or returns an error of reading.
func (b *builder) stop(err error) error {
	at := b.scan.position()
	switch {
	case errors.Is(err, errEnd):
		b.end = endUnfinished
	case errors.Is(err, errShort):
		b.end = endCut
		b.problem(codeTruncated, at, "the recording ends inside this record")
	case errors.Is(err, errBad):
		b.end = endDamaged
		b.problem(codeBadRecord, at, err.Error())
	default:
		return err
	}
	return nil
}

// checkTrailing notes bytes behind FINISH.
func (b *builder) checkTrailing() error {
	if b.scan.pos == len(b.scan.buf) && !b.scan.ended {
		if err := b.scan.fill(); err != nil {
			return err
		}
	}
	if b.scan.pos < len(b.scan.buf) {
		b.problem(codeTrailing, b.scan.position(), "bytes behind FINISH are not decoded")
	}
	return nil
}

func (b *builder) problem(code string, offset int64, message string) {
	b.problems = append(b.problems, formats.Problem{Code: code, Offset: offset, Message: message})
}

// codeShort is the problem of a payload that has not all of its fields.
const codeShort = "short_payload"

// The codes of problems that say how the records end. A pass that goes on finds them again.
const (
	codeTruncated = "truncated"
	codeBadRecord = "bad_record"
	codeTrailing  = "trailing_bytes"
)

// startTick begins a tick, and a chunk if it is time for one, with a record that is not applied
// yet.
func (b *builder) startTick(r *record) {
	if !b.open || r.offset-b.chunk.offset >= chunkSize {
		tick := b.chunk.Last
		if b.open {
			b.closeChunk(r.offset)
			b.flushRows()
			for _, t := range b.rows {
				t.EndChunk()
			}
		}
		b.openChunk(r, tick)
	}
	b.chunk.Last = r.tick
	b.tickList = append(b.tickList, r.tick)
	if int64(r.tick) >= b.tickLimit {
		b.measureTick(r.tick)
	}
	b.chunk.Lines += b.tickLines
}

// measureTick sets what depends on the length of the tick.
func (b *builder) measureTick(tick int32) {
	b.fold()
	b.tickLen = jsonenc.IntLen(tick)
	time := jsonenc.UintLen(uint64(tick) * tickMS)
	b.tickLines = int64(len(`{"tick":,"time_ms":,"events":[`) + b.tickLen + time + len(tickTail) - len(","))
	b.tickLimit = min(int64(jsonenc.Pow10[b.tickLen]), (int64(jsonenc.Pow10[time])+tickMS-1)/tickMS)
}

// openChunk begins a chunk with record r. tick is the one before it.
func (b *builder) openChunk(r *record, tick int32) {
	b.open = true
	b.chunk = chunk{
		offset: r.offset, First: r.tick, ordinal: b.tickCount(),
		Checkpoint: b.checkpoint(tick, 0), Weight: b.state.weight(),
	}
	b.tickList = b.tickList[:0]
}

// checkpoint returns the state as a checkpoint.
func (b *builder) checkpoint(tick, last int32) checkpoint {
	b.part.Reset()
	writePlayers(&b.part, &b.state, &b.texts)
	return checkpoint{tick, last, b.state.stays, slices.Clone(b.part.Bytes())}
}

// weight is how much there is to show of the state.
func (s *state) weight() int { return len(s.players) + len(s.practice) }

// closeChunk adds the open chunk, which ends at end.
func (b *builder) closeChunk(end int64) {
	b.fold()
	b.chunk.Size = end - b.chunk.offset
	b.chunk.Count = len(b.tickList)
	b.scratch = appendTicks(b.scratch[:0], b.tickList)
	b.chunk.Ticks = slices.Clone(b.scratch)
	b.part.Reset()
	b.flush()
	b.chunk.Activity = slices.Clone(b.part.Bytes())
	b.chunks = append(b.chunks, b.chunk)
}

// flush writes what the open chunk holds for each stay, adds that to the stays, and begins anew.
func (b *builder) flush() {
	number := int32(len(b.chunks))
	list := b.past
	for i := range b.active {
		a := &b.active[i].activity
		list = append(list, *a)
		*a = activity{stay: a.stay}
	}
	slices.SortFunc(list, func(a, b activity) int { return int(a.stay - b.stay) })
	for _, a := range list {
		if a.rows == [tables]int64{} {
			continue
		}
		s := b.stays[a.stay]
		if s.FirstChunk < 0 {
			s.FirstChunk = number
		}
		s.LastChunk = number
		for t := range tables {
			s.Rows[t] += a.rows[t]
			s.Bytes[t] += a.bytes[t]
		}
		a.code(indexfile.Codec{W: &b.part})
	}
	b.past = list[:0]
}

// finish closes the last chunk and keeps what is needed to go on.
func (b *builder) finish() {
	b.bytes = b.scan.position()
	b.texts.Settled = len(b.texts.List)
	b.tail = b.checkpoint(b.scan.dec.tick, b.scan.dec.last)
	if b.open {
		b.closeChunk(b.bytes)
	}
	b.flushRows()
	b.endLines()
	b.records = 0
	for _, n := range b.counts {
		b.records += n
	}
	b.sortStays()
}

// reopen opens the last chunk of the index again, and drops what was said about its end.
func (b *builder) reopen() {
	b.problems = slices.DeleteFunc(b.problems, func(p formats.Problem) bool {
		return p.Code == codeTruncated || p.Code == codeBadRecord || p.Code == codeTrailing
	})
	if len(b.chunks) == 0 {
		return
	}
	n := len(b.chunks) - 1
	b.open = true
	b.chunk = b.chunks[n]
	b.chunks = b.chunks[:n]
	b.tickList, _ = decodeTicks(b.chunk.Ticks, b.chunk.First, b.chunk.Count)
	list, _ := b.chunk.activities(nil) // checked when the index was loaded
	for _, a := range list {
		s := b.stays[a.stay]
		for t := range tables {
			s.Rows[t] -= a.rows[t]
			s.Bytes[t] -= a.bytes[t]
		}
	}
	b.measureTick(b.chunk.Last)
	b.grow()
	for _, a := range list {
		p := b.state.lookup(b.stays[a.stay].CID)
		if p != nil && p.stay == a.stay {
			b.active[b.state.slots[p.cid]-1].activity = a
		} else {
			b.past = append(b.past, a)
		}
	}
}

// grow makes room for all players of the state.
func (b *builder) grow() {
	for i := len(b.active); i < len(b.state.players); i++ {
		b.active = append(b.active, newActive(&b.state.players[i]))
	}
}
