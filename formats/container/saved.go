package container

import (
	"strings"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// The headers of a tar stand all over it. So that the whole of a large one need not be read each
// time, its list is kept in the disk cache, as a tree: the root, what it holds, what its first
// directory holds, and so on, then the heads of files. With another stamp the tar is listed again,
// which reads less than to compare all of it.
//
//	| index head | count | root | member … | count | place of a file zigzag | head blob | …
//
// member: | kind | place zigzag | second zigzag | nanosecond | size | name text | target text |
//
// Places and seconds count from those of the member before. A directory has the number of its
// members for a size; only a link has a target, and only a file a place.

// Encode returns the list of a container with a stamp as bytes that Decode knows.
func Encode(m *Members, stamp formats.Stamp) []byte {
	w := indexfile.NewWriter(formats.Seal{Stamp: stamp}, int(m.Cost()/2))
	w.Count(len(m.order))
	var last member
	for queue := [][]uint32{{0}}; len(queue) > 0; queue = queue[1:] {
		for _, i := range queue[0] {
			f := *m.at(i)
			if f.kind == dirMember || f.kind == linkMember {
				f.at = last.at
			}
			w.Uint(uint64(f.kind))
			w.Int(f.at - last.at)
			w.Int(f.sec - last.sec)
			w.Uint(uint64(f.nsec))
			w.Size(f.size)
			w.Blob(m.name(i))
			switch f.kind {
			case linkMember:
				w.Text(m.target(i))
			case dirMember:
				queue = append(queue, m.in(i))
			}
			last = f
		}
	}
	w.Count(len(m.heads))
	for _, at := range m.heads.places() {
		w.Int(at)
		w.Blob(m.heads[at])
	}
	return w.Bytes()
}

const (
	savedMemberMin = 6 // bytes that a member takes at least
	savedHeadMin   = 2 // and the head of a file
)

// Decode returns the list that Encode made for a stamp; nil if the
// bytes are of something else, or it takes more than limit bytes of memory.
func Decode(b []byte, stamp formats.Stamp, limit int64) *Members {
	r, seal := indexfile.Open(Tar.Name, b)
	n := r.Count(savedMemberMin)
	if seal.Stamp != stamp || int64(len(b))+int64(n+1)*(memberSize+placeSize) > limit {
		return nil
	}
	m := &Members{order: make([]uint32, n)}
	if !m.decode(r) {
		return nil
	}
	if n := r.Count(savedHeadMin); n > 0 {
		m.heads = make(heads, n)
		for range n {
			at := r.Int()
			m.heads[at] = r.Blob()
		}
	}
	if r.Close() != nil {
		return nil
	}
	return m
}

// decode reads the members. It reports whether they are a tree: each but the root in one directory
// before it, whose names are sorted.
func (m *Members) decode(r *indexfile.Reader) bool {
	var last member
	dir, left, before := -1, int64(1), "" // what the root lies in
	held := int64(0)
	for i := range len(m.order) + 1 {
		for left == 0 {
			if dir++; dir == i {
				return false
			}
			if d := m.at(uint32(dir)); d.kind == dirMember {
				d.at, left, before = int64(i-1), d.size, ""
			}
		}
		f := member{kind: memberKind(r.Uint(uint64(linkMember)))}
		f.at, f.sec, f.nsec, f.size = last.at+r.Int(), last.sec+r.Int(), uint32(r.Uint(1e9-1)), r.Size()
		name, target := r.Text(), ""
		left, last = left-1, f
		switch f.kind {
		case noMember:
			return false
		case dirMember:
			f.at, held = 0, held+min(f.size, int64(len(m.order))+1)
		case linkMember:
			target = r.Text()
			f.at, f.size = int64(i), int64(len(target))
		}
		m.append(f, name, target)
		if f.at < 0 || i == 0 && f.kind != dirMember {
			return false
		}
		if i == 0 {
			continue
		}
		if name <= before || memberPath(name) != name || strings.Contains(name, "/") {
			return false
		}
		m.order[i-1], before = uint32(i), name
	}
	return r.Err() == nil && held == int64(len(m.order))
}
