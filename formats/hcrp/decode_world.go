package hcrp

// decodeWorld is decodeIn without the text of which no world is made, which is most of the text. It is counted: the lines
// are as long as they would be, but neither they nor the objects of the events are there.
func (f eventFormat) decodeWorld(memory charged, number int, e Entry, body []byte) *chunk {
	d := f.decoder(memory, number, e)
	d.bare = true
	d.all(body)
	return d.chunk
}

// counts reports whether text is only counted.
func (d *values) counts() bool { return d.bare && !d.world }

// length returns how many bytes the text has.
func (d *values) length() int { return len(d.out) + d.less }

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

func (d *values) mark() mark { return mark{len(d.out), d.less} }

// back takes out the text behind a place.
func (d *values) back(to mark) { d.out, d.less = d.out[:to.kept], to.counted }

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

// place appends a position of some coordinates.
func (d *values) place(v []float64) {
	if d.counts() {
		d.less += positionLen(v)
	} else {
		d.out = appendPosition(d.out, v)
	}
}
