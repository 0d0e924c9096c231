package container

import (
	"bytes"
	"encoding/binary"

	"recfs/formats"
)

// The headers of a tar stand all over it. So that the whole of a large one
// need not be read each time, its list is kept in the disk cache: the stamp of
// the tar, the number of members, each with its text, the order, and the heads
// of files by where they begin; numbers are varints, most of them the
// difference to the one before. With another stamp the tar is listed again, which reads less than to compare all of it.

// savedListVersion is the number of this layout: that of another one is a miss.
const savedListVersion = 7

// listHead returns what the list of a container with a stamp begins with.
func listHead(stamp formats.Stamp) []byte { return stamp.Append([]byte{savedListVersion}) }

// Encode returns the list of a container with a stamp as bytes that Decode knows.
func Encode(m *Members, stamp formats.Stamp) []byte {
	b := make([]byte, 0, m.Cost()/2)
	b = append(b, listHead(stamp)...)
	b = binary.AppendUvarint(b, uint64(m.Len()))
	var last member
	for i := range uint32(m.Len()) {
		f, text := m.at(i), m.words(i)
		b = append(b, byte(f.kind))
		b = binary.AppendVarint(b, f.at-last.at)
		b = binary.AppendVarint(b, f.size)
		b = binary.AppendVarint(b, f.sec-last.sec)
		b = binary.AppendUvarint(b, uint64(f.nsec))
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
		last = *f
	}
	b = binary.AppendUvarint(b, uint64(len(m.order)))
	place := uint32(0)
	for _, i := range m.order {
		b = binary.AppendVarint(b, int64(i)-int64(place))
		place = i
	}
	b = binary.AppendUvarint(b, uint64(len(m.heads)))
	from := int64(0)
	for _, at := range m.heads.places() {
		head := m.heads[at]
		b = binary.AppendUvarint(b, uint64(at-from))
		b = binary.AppendUvarint(b, uint64(len(head)))
		b = append(b, head...)
		from = at
	}
	return b
}

// A listReader reads the numbers of a list, which is a file on disk that anything may have happened to. Behind the end, and after one that
// cannot be, all are 0.
type listReader struct {
	b   []byte
	bad bool
}

func (r *listReader) unsigned() uint64 { n, size := binary.Uvarint(r.b); r.skip(size); return n }
func (r *listReader) signed() int64    { n, size := binary.Varint(r.b); r.skip(size); return n }

func (r *listReader) skip(size int) {
	if size <= 0 {
		r.b, r.bad = nil, true
		return
	}
	r.b = r.b[size:]
}

// count reads how many things follow that take at least size bytes each. More of them than there are
// bytes left cannot be, so nothing is allocated by a number alone.
func (r *listReader) count(size int) int {
	n := r.unsigned()
	if n > uint64(len(r.b)/size) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

// bytes reads the bytes that follow their number.
func (r *listReader) bytes() []byte {
	n := r.count(1)
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// heads reads the first bytes of files.
func (r *listReader) heads() heads {
	n := r.count(savedHeadMin)
	if n == 0 {
		return nil
	}
	h, at := make(heads, n), int64(0)
	for range n {
		at += int64(r.unsigned())
		h[at] = bytes.Clone(r.bytes())
	}
	return h
}

const (
	savedMemberMin = 6 // bytes that a member takes at least
	savedHeadMin   = 3 // and the head of a file, which is not empty
)

// Decode returns the list that Encode made for a stamp; nil if the
// bytes are of something else, or it takes more than limit bytes of memory.
func Decode(b []byte, stamp formats.Stamp, limit int64) *Members {
	list, ok := bytes.CutPrefix(b, listHead(stamp))
	if !ok {
		return nil
	}
	r := &listReader{b: list}
	n := r.count(savedMemberMin)
	if n == 0 || int64(len(b))+int64(n)*(memberSize+placeSize) > limit {
		return nil
	}
	m := new(Members)
	var last member
	for range n {
		f := member{kind: memberKind(r.unsigned())}
		f.at, f.size, f.sec = last.at+r.signed(), r.signed(), last.sec+r.signed()
		f.nsec = uint32(r.unsigned())
		m.append(f, string(r.bytes()))
		last = f
	}
	m.order = make([]uint32, r.count(1))
	place := int64(0)
	for n := range m.order {
		place += r.signed()
		m.order[n] = uint32(place)
	}
	m.heads = r.heads()
	if r.bad || !m.sound() {
		return nil
	}
	return m
}

// sound reports whether the members make a tree: each but the root stands in
// the order once at most and in one directory, whose names are sorted. Else a
// list could show a member at a number of paths that doubles with each level.
func (m *Members) sound() bool {
	n := int64(m.Len())
	placed := make([]bool, n)
	taken := make([]bool, len(m.order)) // places of a directory
	for i := range uint32(n) {
		f := m.at(i)
		if f.nsec >= 1e9 {
			return false
		}
		switch f.kind {
		case noMember, fileMember, sparseMember:
			if f.at < 0 || f.size < 0 {
				return false
			}
		case dirMember:
			if !m.soundDir(i, placed, taken) {
				return false
			}
		case linkMember:
			if f.at < 0 || f.at >= n || f.size < 0 || f.size > int64(len(m.words(uint32(f.at)))) {
				return false
			}
		default:
			return false
		}
	}
	return m.at(0).kind == dirMember
}

// soundDir looks at what a directory holds, and notes that it does.
func (m *Members) soundDir(i uint32, placed, taken []bool) bool {
	f, all := m.at(i), int64(len(m.order))
	if f.size < 0 || f.size > all || f.at < 0 || f.at > all-f.size {
		return false
	}
	var last []byte
	for n, child := range m.in(i) {
		place := f.at + int64(n)
		if child <= i || int64(child) >= int64(len(placed)) || placed[child] || taken[place] { // a directory stands before what it holds
			return false
		}
		placed[child], taken[place] = true, true
		if c := m.at(child); c.kind == linkMember && c.at == int64(child) && (c.size < 0 || c.size > int64(len(m.words(child)))) {
			return false
		}
		name := m.name(child)
		if n > 0 && bytes.Compare(last, name) >= 0 || memberPath(string(name)) != string(name) || bytes.IndexByte(name, '/') >= 0 || len(name) == 0 {
			return false
		}
		last = name
	}
	return true
}
