package hcrp

// decodeWorld is decodeIn without the text of numbers that no world has, which is most of the text: the lines and the
// objects of the events are of no use. What text has to be left out is told from its greatest length, so that a chunk
// with about as much as may be is decoded with it.
func (f eventFormat) decodeWorld(memory charged, number int, e Entry, body []byte) *chunk {
	d := f.decoder(memory, number, e)
	d.bare = true
	d.all(body)
	if d.over {
		return f.decodeIn(charged{memory.held, d.memory.n, d.chunk}, number, e, body)
	}
	return d.chunk
}

// maxNumber is how many bytes a number has at most: the least of those below 0 with a sign, "0." and 324 digits.
const maxNumber = 1 + 2 + 324

// leave reports whether the text of so many numbers is left out.
func (d *values) leave(numbers int) bool {
	if !d.bare || d.world {
		return false
	}
	d.less += numbers * (maxNumber + len(`,"pitch":`))
	return true
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

// place appends a position of some coordinates.
func (d *values) place(v []float64) {
	if !d.leave(len(v)) {
		d.out = appendPosition(d.out, v)
	}
}
