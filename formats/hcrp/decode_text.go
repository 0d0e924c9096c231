package hcrp

import (
	"slices"
	"strconv"

	"recfs/formats/internal/jsonenc"
)

// A textMode says which text of a chunk is kept. What is not is counted: the lines are as long as they would be, but
// neither they nor the objects of the events are there.
type textMode uint8

const (
	allText   textMode = iota
	worldText          // of which worlds are made
	rowText            // of the table of events: the text of an event is its data, without the object around it
	noText             // the lines may be shorter than they are counted
)

// decodeIn decodes a body with the memory that is counted. If that does not suffice the chunk says so, and is not whole.
func (f eventFormat) decodeIn(memory charged, mode textMode, number int, e Entry, body []byte) *chunk {
	d := f.decoder(memory, number, e)
	d.mode = mode
	d.all(body)
	if d.over && mode == noText {
		memory.n, memory.used = d.memory.n, d.chunk
		return f.decodeIn(memory, worldText, number, e, body)
	}
	return d.chunk
}

// perByte is about how many bytes of text a mode keeps for one of real bodies, so that most texts need not grow.
func (m textMode) perByte() int { return [...]int{allText: 12, worldText: 2, rowText: 6, noText: 0}[m] }

// counts reports whether text is only counted.
func (d *values) counts() bool { return d.mode != allText && !d.kept }

// begin makes room for an event at the end of list and lets d fill it.
func (d *values) begin(list []event, id int32, def *eventDef) []event {
	n := len(list)
	list = slices.Grow(list, 1)[:n+1]
	d.ev = &list[n]
	*d.ev = event{def: def, id: id, text: span{start: uint32(len(d.out))}} // in place, as it is long
	return list
}

// beginData begins the fields of an event, and returns where.
func (d *values) beginData() mark {
	d.kept = d.mode == rowText
	return d.mark()
}

// endData ends the object of an event whose fields begin at start, with so many bytes of text that are not in data.
func (d *values) endData(start mark, aside int) {
	e := d.ev
	e.data = uint32(max(d.length()-start.length()-aside, 1) + len("}"))
	if d.mode == rowText {
		if len(d.out) == start.kept {
			d.out = append(d.out, ',')
			d.less--
		}
		d.out[start.kept] = '{' // in place of the first comma
		e.text.start = uint32(start.kept)
	}
	d.add("}")
	d.kept = false
	e.text.end = uint32(len(d.out))
}

// entityField decodes the field of which a table has a column, and returns how many bytes of text are not in data:
// those of the field, if it is a whole number.
func (d *values) entityField(f *field) int {
	start, kept := d.mark(), d.kept
	d.kept = true
	d.field(f)
	d.kept = kept
	value := d.out[min(start.kept+len(f.key), len(d.out)):]
	n := 0
	if isWhole(value) {
		n = len(d.out) - start.kept
		number, err := strconv.ParseInt(string(value), 10, 32)
		d.ev.column, d.ev.hasColumn = int32(number), err == nil
	}
	if d.counts() || d.mode == rowText && n > 0 {
		d.less += len(d.out) - start.kept
		d.out = d.out[:start.kept]
	}
	return n
}

// length returns how many bytes the text has.
func (d *values) length() int { return d.mark().length() }

// more reports whether decoding of a list goes on.
func (d *values) more() bool {
	if d.length() > d.limits.Text {
		d.c.Fail("events give more than %d bytes of text", d.limits.Text)
	}
	return d.c.Err() == nil
}

// add appends text.
func (d *values) add(text string) {
	if d.counts() {
		d.less += len(text)
	} else {
		d.out = append(d.out, text...)
	}
}

// cut takes what was appended from start on out again if it is only counted.
func (d *values) cut(start int) {
	if d.counts() {
		d.less += len(d.out) - start
		d.out = d.out[:start]
	}
}

// A mark is a place in the text.
type mark struct{ kept, counted int }

func (m mark) length() int { return m.kept + m.counted }

func (d *values) mark() mark { return mark{len(d.out), d.less} }

// back takes out the text behind a place.
func (d *values) back(to mark) {
	d.over = d.over || d.length() > d.limits.Text
	d.out, d.less = d.out[:to.kept], to.counted
}

// keep stores the value of a field just decoded in the event.
func (d *values) keep(f *field, text span) {
	e, c := d.ev, f.capture
	if c == captureEntity && d.huge(f.typ.kind) {
		return
	}
	e.has |= 1 << min(c, captureRaw)
	switch {
	case c >= captureRaw:
		e.raw[c-captureRaw] = text
	case c == captureEntity:
		e.entity = d.int
	case c == captureAt:
		e.at = d.at
	case c == capturePosition:
		e.pos = d.position
		e.has |= 1<<captureX | 1<<captureY | 1<<captureZ | 1<<captureYaw | 1<<capturePitch
	case c == captureVector:
		e.pos = d.position
		e.has |= 1<<captureX | 1<<captureY | 1<<captureZ
	default:
		e.pos[c-captureX] = d.num
	}
}

// skip reads past a value that nothing is made of, if it is of a kind of which there are many. It counts no less than
// its text would have.
func (d *values) skip(k kind) bool {
	switch k {
	case kindVarint:
		varint(d.c)
		d.less += len("-2147483648")
	case kindBlockPos:
		d.c.Skip(8)
		d.less += bareBlockAt + 3*len("-33554432") // x and z have 26 bits
	case kindLpVec3:
		quantized(d.c)
		d.less += maxCoordinate * 3
	default:
		return false
	}
	return true
}

// maxCoordinate is how many bytes a coordinate takes at most, with its key: a float64 has up to 309 digits before the
// point, or 323 zeros and 17 digits behind it.
const maxCoordinate = 360

// moment appends the start of a tick.
func (d *values) moment(n int64) {
	if d.counts() {
		d.less += bareMoment + jsonenc.Int64Len(n) + jsonenc.Int64Len(n*msPerTick)
	} else {
		d.out = appendMoment(d.out, n)
	}
}

// bareMoment is how many bytes appendMoment appends beside two numbers.
const bareMoment = len(`{"tick":,"time_ms":`)

// place appends a position of some coordinates.
func (d *values) place(v []float64) {
	switch {
	case !d.counts():
		d.out = appendPosition(d.out, v, d.floats)
	case d.mode == noText:
		d.less += maxCoordinate * len(v)
	default:
		d.less += positionLen(v)
	}
}
