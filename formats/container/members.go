package container

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"recfs/formats"
)

// MinList is how many bytes a list may take however small the cache is.
const MinList = 1 << 20

type memberKind uint8

const (
	noMember memberKind = iota // stands in the list and is not shown, as a hard link to nothing
	fileMember
	sparseMember
	dirMember
	linkMember
	foundMember // a file of a zip whose directory does not have it
	textMember  // a file that the container does not have, see AddText
)

// A member is a file, directory or symbolic link in a container.
type member struct {
	at   int64 // a file: where the container has it, or the local header of a foundMember; a directory: its first place in order; a link: the number of the member with the target; a text: its own number
	size int64 // a directory: how many places; a link: the length of the target; a text: that of it
	sec  int64 // modification time
	nsec uint32
	end  uint32 // of its text in the block
	kind memberKind
}

func (m *member) modify(t time.Time) { m.sec, m.nsec = t.Unix(), uint32(t.Nanosecond()) }

// What a member takes in memory besides its text: the struct above, and its place in the order.
const (
	memberSize = 40
	placeSize  = 4
)

// blockSize is how many members lie together: lists grow without moving, and so without twice their
// memory for a moment. 4,096 members of 40 bytes are 160 KiB.
const blockSize = 1 << 12

type block struct {
	members []member
	text    []byte // of each the last part of its path, and the target behind that of a link
}

// Members is the list of what a container holds, in the order of the
// container and behind the root. It is compact and counts in the cache as
// what it is: a container may hold millions.
type Members struct {
	blocks []block
	order  []uint32 // what each directory holds, sorted by name
	base   int64    // what offsets in a zip count from
	heads  heads

	Problems []formats.Problem // what is not shown, or not as it should be, in the order it was found
	Unended  bool              // a tar without the zeros of its end: it may have been cut between two members
}

// Len returns the number of members, the root among them.
func (m *Members) Len() int {
	last := len(m.blocks) - 1
	return last*blockSize + len(m.blocks[last].members)
}

// Cost returns the bytes of memory that the list takes.
func (m *Members) Cost() int64 {
	n := int64(placeSize*cap(m.order)) + m.heads.cost()
	for _, p := range m.Problems {
		n += problemCost(p)
	}
	for _, b := range m.blocks {
		n += int64(memberSize*cap(b.members) + cap(b.text))
	}
	return n
}

// problemCost is about what a problem takes in memory. Its path may be long.
func problemCost(p formats.Problem) int64 { return int64(100 + len(p.Path) + len(p.Message)) }

func (m *Members) at(i uint32) *member { return &m.blocks[i/blockSize].members[i%blockSize] }

// append adds a member with its text.
func (m *Members) append(f member, text ...string) {
	last := len(m.blocks) - 1
	if last < 0 || len(m.blocks[last].members) == blockSize {
		m.blocks = append(m.blocks, block{})
		last++
	}
	b := &m.blocks[last]
	for _, t := range text {
		b.text = append(b.text, t...)
	}
	f.end = uint32(len(b.text))
	b.members = append(b.members, f)
}

// words returns the text of a member, which begins where that of the one before it in the block
// ends.
func (m *Members) words(i uint32) []byte {
	b := &m.blocks[i/blockSize]
	n, start := i%blockSize, uint32(0)
	if n > 0 {
		start = b.members[n-1].end
	}
	return b.text[start:b.members[n].end]
}

// name returns the last part of the path of a member.
func (m *Members) name(i uint32) []byte {
	b := m.words(i)
	if f := m.at(i); (f.kind == linkMember || f.kind == textMember) && f.at == int64(i) {
		b = b[:int64(len(b))-f.size]
	}
	return b
}

// target returns what a symbolic link points to, or a text.
func (m *Members) target(i uint32) string {
	f := m.at(i)
	b := m.words(uint32(f.at))
	return string(b[int64(len(b))-f.size:])
}

// in returns what a directory holds.
func (m *Members) in(i uint32) []uint32 {
	f := m.at(i)
	return m.order[f.at:][:f.size]
}

// findIn returns the place of a name among the members that a directory holds.
func (m *Members) findIn(all []uint32, name []byte) (n int, ok bool) {
	return sort.Find(len(all), func(n int) int { return bytes.Compare(name, m.name(all[n])) })
}

// find returns the member at a path.
func (m *Members) find(name string) (i uint32, ok bool) {
	if name == "." {
		return 0, true
	}
	for part := range bytes.SplitSeq([]byte(name), []byte("/")) {
		if m.at(i).kind != dirMember {
			return 0, false
		}
		all := m.in(i)
		n, found := m.findIn(all, part)
		if !found {
			return 0, false
		}
		i = all[n]
	}
	return i, true
}

// AddText adds a file that tells of the container to the root of the finished list. It is called
// stem and ext, or stem-2 and ext and so on where that name is taken.
func (m *Members) AddText(stem, ext string, text []byte) {
	name := stem + ext
	n, taken := m.findIn(m.in(0), []byte(name))
	for k := 2; taken; k++ {
		name = fmt.Sprintf("%s-%d%s", stem, k, ext)
		n, taken = m.findIn(m.in(0), []byte(name))
	}
	root, i := m.at(0), m.Len()
	place := root.at + int64(n)
	root.size++
	m.append(member{kind: textMember, at: int64(i), size: int64(len(text)), sec: root.sec, nsec: root.nsec}, name, string(text))
	m.order = slices.Insert(m.order, int(place), uint32(i))
	for d := uint32(1); d < uint32(i); d++ {
		if f := m.at(d); f.kind == dirMember && f.at >= place {
			f.at++
		}
	}
}

// heads are the first bytes, [formats.NamedSize] of them or all, of files whose names do not say
// what they are, by where the files begin. Where headers stand between the files they come with
// these, and to read them later, one by one, would mean to decompress most of a compressed tar.
type heads map[int64][]byte

const (
	headCost = 64 // bytes that one takes in memory besides its own

	// maxHeads is how many bytes the heads of a list have at most: 1 MiB are those of 65,536 files,
	// which take 5 MiB of memory.
	maxHeads = 1 << 20
)

func (h heads) cost() (n int64) {
	for _, b := range h {
		n += int64(len(b) + headCost)
	}
	return n
}

// places returns where the files begin, in order.
func (h heads) places() []int64 { return slices.Sorted(maps.Keys(h)) }
