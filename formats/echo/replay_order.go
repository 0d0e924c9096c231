package echo

import (
	"iter"
	"slices"
	"sync"

	"recfs/formats/internal/jsonenc"
)

// A shape is the order in which the members of an object are shown, and the shapes of those that
// are objects or lists of objects.
type shape struct {
	keys  []string
	inner []*shape // of the keys, nil for other values
}

// newShape returns the shape of objects without others in them.
func newShape(keys ...string) *shape { return &shape{keys, make([]*shape, len(keys))} }

// maxKeys is how many keys a shape has at most.
const maxKeys = 36

// place returns the place of a key in s, -1 if s does not have it. It is looked for at next first.
func (s *shape) place(key []byte, next int) int {
	for range 2 {
		for i := next; i < len(s.keys); i++ {
			if s.keys[i] == string(key) {
				return i
			}
		}
		next = 0
	}
	return -1
}

// An orderedMember is where a member of an object was appended, and its rank: the place of its key,
// or for other keys their order after all places.
type orderedMember struct{ rank, from, to int }

const (
	quickMembers = 64       // an object of so many members is appended as it comes, then put in order
	quickBytes   = 64 << 10 // bytes of it that are moved for that, at most
)

// moved is memory for what is moved.
var moved = sync.Pool{New: func() any { return new([quickBytes]byte) }}

// appendOrdered appends a valid JSON value, without space between its tokens and with the members
// of objects in the order of s. It takes no further memory, however many members there are.
func appendOrdered(dst, value []byte, s *shape) []byte {
	w := jsonenc.Walk(value)
	return s.appendNext(dst, &w, true)
}

// appendNext is appendOrdered for the next value. Without quick it looks for the keys of each
// object before it appends the object.
func (s *shape) appendNext(dst []byte, w *jsonenc.Walker, quick bool) []byte {
	c := w.Peek()
	switch {
	case s == nil || c != '{' && c != '[':
		return jsonenc.AppendCompact(dst, w.Value())
	case c == '[':
		return s.appendList(dst, w, quick)
	case !quick:
		return s.appendObject(dst, w.Value())
	}
	start := *w
	if b, ok := s.appendQuickly(dst, w); ok {
		return b
	}
	*w = start
	return s.appendObject(dst, w.Value())
}

// appendQuickly appends an object of few members, or one that needs no order.
func (s *shape) appendQuickly(dst []byte, w *jsonenc.Walker) (b []byte, ok bool) {
	var list [quickMembers]orderedMember
	var seen [maxKeys]bool
	n, next, sorted := 0, 0, true
	start := len(dst)
	dst = append(dst, '{')
	for key := range w.Members() {
		if n == quickMembers {
			return nil, false
		}
		m := orderedMember{len(s.keys) + n, len(dst), 0}
		place := s.place(key[1:len(key)-1], next)
		if place >= 0 && !seen[place] {
			m.rank, seen[place], next = place, true, place+1
		}
		dst = append(append(dst, key...), ':')
		dst = append(s.of(place).appendNext(dst, w, true), ',')
		m.to = len(dst)
		sorted = sorted && (n == 0 || list[n-1].rank < m.rank)
		list[n] = m
		n++
	}
	switch {
	case n == 0:
		return append(dst, '}'), true
	case !sorted && len(dst)-start > quickBytes:
		return nil, false
	case !sorted:
		reorder(dst, start+1, list[:n])
	}
	dst[len(dst)-1] = '}'
	return dst, true
}

// of returns the shape of the values of a key, nil if they have none.
func (s *shape) of(place int) *shape {
	if place < 0 {
		return nil
	}
	return s.inner[place]
}

// reorder moves the members that b ends with to where their ranks are.
func reorder(b []byte, start int, list []orderedMember) {
	buf := moved.Get().(*[quickBytes]byte)
	defer moved.Put(buf)
	slices.SortFunc(list, func(a, b orderedMember) int { return a.rank - b.rank })
	sorted := buf[:0]
	for _, m := range list {
		sorted = append(sorted, b[m.from:m.to]...)
	}
	copy(b[start:], sorted)
}

// known returns the first value of each key of s in an object, and whether the object has further
// members.
func (s *shape) known(object []byte) (values [maxKeys][]byte, others bool) {
	next := 0
	for key, v := range members(object) {
		i := s.place(key, next)
		if i < 0 || values[i] != nil {
			others = true
			continue
		}
		values[i], next = v, i+1
	}
	return values, others
}

// appendObject appends an object whose keys are looked for first.
func (s *shape) appendObject(dst, value []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	values, others := s.known(value)
	for i, key := range s.keys {
		if values[i] != nil {
			dst = s.appendMember(dst, start, i, []byte(key), values[i])
		}
	}
	if !others {
		return append(dst, '}')
	}
	next := 0
	for key, v := range members(value) {
		if i := s.place(key, next); i < 0 || &values[i][0] != &v[0] {
			dst = s.appendMember(dst, start, i, key, v)
		} else {
			next = i + 1
		}
	}
	return append(dst, '}')
}

// appendMember appends a member of an object whose members begin at start. place is that of its
// key.
func (s *shape) appendMember(dst []byte, start, place int, key, value []byte) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	w := jsonenc.Walk(value)
	return s.of(place).appendNext(dst, &w, false)
}

// appendList appends a list of objects of the shape.
func (s *shape) appendList(dst []byte, w *jsonenc.Walker, quick bool) []byte {
	dst = append(dst, '[')
	w.Enter()
	for i := 0; w.More(); i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		if w.Peek() == '[' {
			dst = jsonenc.AppendCompact(dst, w.Value())
		} else {
			dst = s.appendNext(dst, w, quick)
		}
	}
	return append(dst, ']')
}

const spaces = " \t\r\n" // of JSON

// members goes through the members of a valid JSON value in their order, with keys without quotes.
// A value that is not an object has none.
func members(value []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		w := jsonenc.Walk(value)
		for key := range w.Members() {
			if !yield(key[1:len(key)-1], w.Value()) {
				return
			}
		}
	}
}
