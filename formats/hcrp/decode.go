package hcrp

import (
	"fmt"
	"math"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

// An eventFormat is what is needed to decode the bodies of a recording.
type eventFormat struct {
	layout Layout
	schema *Schema // nil: events cannot be told apart
	limits Limits
}

// An account is the memory that is charged for a chunk while it is decoded.
type account struct {
	held *formats.Held // nil: nothing is charged
	n    int64         // bytes
	used *chunk        // a chunk that is no longer needed, whose memory is used again; nil: none

	floats *jsonenc.Floats // of the chunks before, nil: none are remembered
}

// anyRange is the entry of a chunk that no index names.
var anyRange = Entry{Ticks: 1 << 31, Flags: flagSnapshot}

// A decoder turns the body of one chunk into text and events.
type decoder struct {
	eventFormat
	values
	number int // of the chunk, for problems
	chunk  *chunk
	memory account
}

// decode decodes the body of chunk number, which has index entry e. Damage is among the problems of
// the chunk. Without a schema it only steps over a snapshot section.
func (f eventFormat) decode(number int, e Entry, body []byte) *chunk {
	return f.decodeIn(account{}, false, number, e, body)
}

// decodeIn decodes a body within an account of memory. If there is too little, the chunk is not
// whole and says so. A quiet decoder makes no text, so events have just their numbers. It still
// makes the text of a long body, as that may exceed the limit of a chunk.
func (f eventFormat) decodeIn(memory account, quiet bool, number int, e Entry, body []byte) *chunk {
	ch := &chunk{entry: e, known: e.Start - 1}
	d := &decoder{
		eventFormat: f, number: number, memory: memory, chunk: ch,
		values: values{
			limits: f.limits, floats: memory.floats, quiet: quiet && len(body) < f.limits.Text/64,
			tags: nbtDecoder{depth: f.limits.Depth, limit: f.limits.Text},
		},
	}
	if c := memory.used; c != nil {
		ch.ticks, ch.events, ch.entries, d.out = c.ticks[:0], c.events[:0], c.entries[:0], c.text[:0]
	} else {
		ch.events = make([]event, 0, min(len(body)/16+4, 1<<10))
		d.out = make([]byte, 0, min(textPerBody*len(body)+256, 1<<20))
	}
	d.use(wire.NewCursor(formatName, body, 0))
	switch {
	case !d.section():
	case d.schema == nil:
		ch.known = e.Last()
	default:
		d.records()
		ch.lines = len(d.out)
		d.entries(body)
	}
	ch.text, ch.gathered = d.out, d.gathered
	return ch
}

// section steps over a snapshot section (docs/formats/hcrp.md section 7.2). It returns false if the
// section does not fit: then nothing of the chunk can be decoded.
func (d *decoder) section() bool {
	ch := d.chunk
	if d.layout != Design || !ch.entry.Snapshot() {
		return true
	}
	n := int(varint(d.c))
	start := d.c.Pos()
	d.c.Skip(n)
	if d.c.Err() != nil {
		ch.sectionCut = true
		d.stop(codeSnapshot, 0, "the snapshot section of %d bytes does not fit into the body", n)
		return false
	}
	ch.section = newSpan(start, start+n)
	return true
}

// entries decodes the entries of the snapshot section. It comes after the ticks, so that their
// lines are one piece of the text.
func (d *decoder) entries(body []byte) {
	ch := d.chunk
	if d.schema.section == nil || ch.section.end == 0 {
		return
	}
	outer := d.c
	defer d.use(outer)
	d.use(wire.NewCursor(formatName, body[ch.section.start:ch.section.end], int64(ch.section.start)))
	for d.c.Len() > 0 {
		at, start := d.c.Offset(), len(d.out)
		id := varint(d.c)
		def := d.schema.section[id]
		ch.entries = d.begin(ch.entries, id, def)
		switch {
		case d.c.Err() != nil:
		case def == nil:
			d.c.Fail("unknown entry id %d", id)
		default:
			d.fields()
		}
		if !d.more() {
			d.out = d.out[:start]
			ch.entries = ch.entries[:len(ch.entries)-1]
			ch.lost = true
			d.problem(codeEvent, at, "snapshot entry: %s", reasonOf(d.c.Err()))
			return
		}
	}
	ch.described = true
}

// problem notes a problem at an offset of the body.
func (d *decoder) problem(code string, offset int64, msg string, args ...any) *formats.Problem {
	p := formats.Problem{Code: code, Chunk: new(d.number), Offset: offset, Message: fmt.Sprintf(msg, args...)}
	d.chunk.problems = append(d.chunk.problems, p)
	return &p
}

// stop notes the problem that ends decoding.
func (d *decoder) stop(code string, offset int64, msg string, args ...any) {
	d.chunk.stop = d.problem(code, offset, msg, args...)
}

// records decodes the tick records (docs/formats/hcrp.md sections 6.1 and 6.2).
func (d *decoder) records() {
	ch := d.chunk
	for d.c.Len() > 0 {
		at := d.c.Offset()
		n := int64(varint(d.c))
		count := int(d.c.U16BE())
		if d.layout == Design {
			n += ch.entry.Start
		} else if ch.entry.Ticks == anyRange.Ticks && ch.records == 0 && n >= 0 {
			ch.entry.Start, ch.known = n, n-1
		}
		switch {
		case d.c.Err() != nil:
			d.stop(codeRecords, at, "a record cut short")
			return
		case d.layout == Published && count > math.MaxInt16:
			d.stop(codeRecords, at, "a record of %d events", count)
			return
		case n <= ch.known:
			d.stop(codeRecords, at, "tick %d is not behind tick %d", n, ch.known)
			return
		case n > ch.entry.Last():
			d.stop(codeRecords, at, "tick %d is behind the last of the chunk, %d", n, ch.entry.Last())
			return
		}
		if !d.record(n, count) || count > 0 && !d.charge() {
			return
		}
		ch.records++
		ch.known, ch.final = n, n
	}
	ch.known = ch.entry.Last()
}

// charge charges what the chunk has grown by; false if there is too little memory.
func (d *decoder) charge() bool {
	if d.memory.held == nil {
		return true
	}
	d.chunk.gathered = d.gathered
	more := d.chunk.grown(d.out, d.memory.n)
	d.memory.n += more
	d.chunk.short = d.memory.held.Grow(more)
	return d.chunk.short == nil
}

// record decodes the events of one tick; false if it could not decode them all. If the first of
// them form a snapshot, it decodes the tick a second time to say so in their objects.
func (d *decoder) record(n int64, count int) bool {
	ch, begin, start := d.chunk, *d.c, len(d.out)
	first, problems, gathered := len(ch.events), len(ch.problems), d.gathered
	t := d.tick(n, count)
	if n == ch.entry.Start && d.layout == Published && ch.entry.Snapshot() {
		if ch.marked = d.schema.leadingEvents(ch.events[t.first:t.last]); ch.marked > 0 {
			*d.c, d.out, d.gathered = begin, d.out[:start], gathered
			ch.events, ch.problems = ch.events[:first], ch.problems[:problems]
			t = d.tick(n, count)
			ch.marked = min(ch.marked, t.last) // the text may be too long by now
		}
	}
	if t.first == t.last {
		d.out = d.out[:start]
	} else {
		ch.ticks = append(ch.ticks, t)
	}
	return !t.cut
}

// tick decodes the events of one tick.
func (d *decoder) tick(n int64, count int) tick {
	ch := d.chunk
	t := tick{n: n, line: span{start: uint32(len(d.out))}, first: len(ch.events)}
	if !d.quiet {
		d.out = appendMoment(d.out, n)
	}
	d.add(`,"events":[`)
	for i := 0; i < count && !t.cut; i++ {
		start := len(d.out)
		if i > 0 {
			d.add(",")
		}
		if t.cut = !d.event(); t.cut {
			ch.events = ch.events[:len(ch.events)-1]
		}
		if t.cut || d.quiet {
			d.out = d.out[:start]
		}
	}
	t.last = len(ch.events)
	d.add("]")
	if t.cut {
		d.add(`,"cut":true`)
	}
	d.add("}\n")
	t.line.end = uint32(len(d.out)) - 1
	return t
}

// event decodes the next event; false if it failed and the start of the next event is unknown.
func (d *decoder) event() bool {
	at := d.c.Offset()
	id := varint(d.c)
	def := d.schema.event(id)
	d.chunk.events = d.begin(d.chunk.events, id, def)
	d.marked = len(d.chunk.events) <= d.chunk.marked
	switch {
	case d.c.Err() != nil:
	case d.schema.length != lengthNone:
		d.measured(id, def, at)
	case def == nil:
		d.chunk.foreign = true
		d.c.Fail("unknown event id %d", id)
	default:
		d.fields()
	}
	if d.more() {
		return true
	}
	d.stop(codeEvent, at, "%s", reasonOf(d.c.Err()))
	return false
}

// measured decodes an event whose payload has a length before it.
func (d *decoder) measured(id int32, def *eventDef, at int64) {
	var n int
	if d.schema.length == lengthVarint {
		n = int(varint(d.c))
	} else {
		n = int(int32(d.c.U32BE()))
	}
	payload := d.c.Bytes(n)
	if d.c.Err() != nil {
		return
	}
	if def == nil {
		d.unknown(id, payload)
		return
	}
	outer, start := d.c, len(d.out)
	d.use(wire.NewCursor(formatName, payload, at))
	d.fields()
	if d.c.Err() == nil && d.c.Len() > 0 {
		d.c.Fail("%d bytes behind the last field", d.c.Len())
	}
	err := d.c.Err()
	d.use(outer)
	if err == nil {
		return
	}
	d.out = d.out[:start]
	d.unknown(id, payload)
	if len(d.chunk.problems) == 0 { // one of a kind is enough
		d.problem(codeEvent, at, "event id %d: %s", id, reasonOf(err))
	}
}

// leadingEvents returns how many of the first events match the pattern of a snapshot, 0 if the
// pattern is not matched to its end.
func (s *Schema) leadingEvents(events []event) int {
	n := 0
	is := func(id int32) bool { return n < len(events) && events[n].def != nil && events[n].def.ID == id }
	for _, p := range s.leading {
		switch {
		case p.many:
			for is(p.id) {
				n++
			}
		case !is(p.id):
			return 0
		default:
			n++
		}
	}
	return n
}

// fields decodes the payload of the event and appends the whole object.
func (d *values) fields() {
	def := d.ev.def
	d.add(def.head)
	d.ev.fields = uint32(len(d.out))
	for i := range def.fields {
		start := len(d.out)
		d.field(&def.fields[i])
		if i == def.entity {
			d.column(&def.fields[i], start)
		}
	}
	d.end()
}

// end ends the object of an event.
func (d *values) end() {
	if d.marked {
		d.add(insideSnapshot)
	}
	d.add("}")
	d.ev.text.end = uint32(len(d.out))
}

// unknown appends an event of which only the length is known.
func (d *values) unknown(id int32, payload []byte) {
	*d.ev = event{id: id, text: d.ev.text}
	d.out = appendHead(d.out, "event", "unknown", id)
	d.ev.fields = uint32(len(d.out))
	d.out = append(d.out, `,"length":`...)
	d.out = jsonenc.AppendInt(d.out, len(payload))
	d.out = append(d.out, `,"raw":`...)
	d.out = jsonenc.AppendHex(d.out, payload)
	d.end()
}
