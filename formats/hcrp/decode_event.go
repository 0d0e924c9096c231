package hcrp

import (
	"slices"
	"strconv"
)

// begin makes room for an event at the end of list, for d to fill.
func (d *values) begin(list []event, id int32, def *eventDef) []event {
	n := len(list)
	list = slices.Grow(list, 1)[:n+1]
	d.ev = &list[n]
	*d.ev = event{def: def, id: id, text: span{start: uint32(len(d.out))}} // in place, as it is long
	return list
}

// column notes the field that has a column in a table, if it is a whole number. It begins at start
// in the text.
func (d *values) column(f *field, start int) {
	value := d.out[min(start+len(f.key), len(d.out)):]
	if d.quiet || !isWhole(value) {
		return
	}
	number, err := strconv.ParseInt(string(value), 10, 32)
	d.ev.column, d.ev.hasColumn = int32(number), err == nil
	d.ev.aside = newSpan(start, len(d.out))
}

// more reports whether decoding of a list goes on.
func (d *values) more() bool {
	if len(d.out) > d.limits.Text {
		d.c.Fail("events give more than %d bytes of text", d.limits.Text)
	}
	return d.c.Err() == nil
}

// add appends text.
func (d *values) add(text string) {
	if !d.quiet {
		d.out = append(d.out, text...)
	}
}

// keep stores the value of a field that was just decoded in the event.
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

// skip reads past a value that nothing is made of, if it is of a frequent kind.
func (d *values) skip(k kind) bool {
	switch k {
	case kindVarint:
		varint(d.c)
	case kindBlockPos:
		d.c.Skip(8)
	case kindLpVec3:
		quantized(d.c)
	default:
		return false
	}
	return true
}

// place appends a position of some coordinates.
func (d *values) place(v []float64) {
	if !d.quiet {
		d.out = appendPosition(d.out, v, d.floats)
	}
}
