package fs

import "slices"

// maxSpans bounds the list of what was read of one file. Reading forward
// needs one, and a few for what is read ahead.
const maxSpans = 64

// A span is the bytes from start to before end.
type span struct{ start, end int64 }

// spans are the bytes of a file that were read.
type spans struct {
	list  []span // ascending; they neither overlap nor touch
	again bool   // a byte was read twice, or the list became too long to tell
}

// add notes that the bytes from start to before end were read.
func (s *spans) add(start, end int64) {
	if s.again || start >= end {
		return
	}
	i, overlaps := slices.BinarySearchFunc(s.list, start, func(p span, start int64) int {
		switch {
		case p.end <= start:
			return -1
		case p.start > start:
			return 1
		}
		return 0
	})
	if overlaps || i < len(s.list) && s.list[i].start < end {
		s.again, s.list = true, nil
		return
	}
	s.insert(i, span{start, end})
	if len(s.list) > maxSpans {
		s.again, s.list = true, nil
	}
}

// insert puts p before the i-th span, joined with the neighbours that it touches.
func (s *spans) insert(i int, p span) {
	from, to := i, i
	if i > 0 && s.list[i-1].end == p.start {
		from, p.start = i-1, s.list[i-1].start
	}
	if i < len(s.list) && s.list[i].start == p.end {
		to, p.end = i+1, s.list[i].end
	}
	s.list = slices.Replace(s.list, from, to, p)
}

// once reports whether each of the size bytes of the file was read, and none of
// them twice.
func (s *spans) once(size int64) bool {
	return !s.again && (size == 0 || len(s.list) == 1 && s.list[0] == span{0, size})
}
