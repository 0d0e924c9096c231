package nodes

// AppendIndented appends the JSON value src in the layout of all documents of
// the tree: objects are indented by two spaces; of a list of objects or of
// lists every element stands on a line of its own, compact; a list of plain
// values stands on one line. There is no newline behind the value. What is
// appended for a src that is not valid is not specified.
func AppendIndented(dst, src []byte) []byte {
	p := layout{src: src, dst: dst}
	p.value(0)
	return p.dst
}

// layout copies one JSON text while changing the space between its tokens.
type layout struct {
	src, dst []byte
	pos      int
}

func (p *layout) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *layout) peek() byte {
	p.space()
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *layout) newline(depth int) {
	p.dst = append(p.dst, '\n')
	for range depth {
		p.dst = append(p.dst, ' ', ' ')
	}
}

func (p *layout) value(depth int) {
	switch p.peek() {
	case '{':
		p.object(depth)
	case '[':
		p.array(depth)
	default:
		p.scalar()
	}
}

// scalar copies a string, number or word, and the string that is a key.
func (p *layout) scalar() {
	p.space()
	start := p.pos
	if p.pos < len(p.src) && p.src[p.pos] == '"' {
		p.skipString()
	} else {
		for p.pos < len(p.src) {
			switch p.src[p.pos] {
			case ',', ':', ']', '}', ' ', '\t', '\n', '\r':
				p.dst = append(p.dst, p.src[start:p.pos]...)
				return
			}
			p.pos++
		}
	}
	p.dst = append(p.dst, p.src[start:p.pos]...)
}

func (p *layout) skipString() {
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case '\\':
			p.pos++
		case '"':
			p.pos++
			return
		}
	}
	p.pos = min(p.pos, len(p.src))
}

func (p *layout) object(depth int) {
	p.pos++
	p.dst = append(p.dst, '{')
	empty := true
	for p.pos < len(p.src) {
		switch p.peek() {
		case '}':
			p.pos++
			if !empty {
				p.newline(depth)
			}
			p.dst = append(p.dst, '}')
			return
		case ',':
			p.pos++
			p.dst = append(p.dst, ',')
		}
		empty = false
		start := p.pos
		p.newline(depth + 1)
		p.space()
		p.scalar()
		if p.peek() == ':' {
			p.pos++
		}
		p.dst = append(p.dst, ':', ' ')
		p.value(depth + 1)
		if p.pos == start {
			return // not valid
		}
	}
}

func (p *layout) array(depth int) {
	p.pos++
	p.dst = append(p.dst, '[')
	first := p.peek()
	nested := first == '{' || first == '['
	for p.pos < len(p.src) {
		switch p.peek() {
		case ']':
			p.pos++
			if nested {
				p.newline(depth)
			}
			p.dst = append(p.dst, ']')
			return
		case ',':
			p.pos++
			p.dst = append(p.dst, ',')
			if !nested {
				p.dst = append(p.dst, ' ')
			}
		}
		start := p.pos
		if nested {
			p.newline(depth + 1)
			p.compact()
		} else {
			p.value(depth)
		}
		if p.pos == start {
			return // not valid
		}
	}
}

// compact copies one value without space between its tokens.
func (p *layout) compact() {
	p.space()
	depth := 0
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; c {
		case '"':
			start := p.pos
			p.skipString()
			p.dst = append(p.dst, p.src[start:p.pos]...)
			if depth == 0 {
				return
			}
			continue
		case ' ', '\t', '\n', '\r':
			p.pos++
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			if depth == 0 {
				p.dst = append(p.dst, c)
				p.pos++
				return
			}
		case ',':
			if depth == 0 {
				return
			}
		}
		p.dst = append(p.dst, p.src[p.pos])
		p.pos++
	}
}
