package container

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"recfs/cache"
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
)

// A member is a file, directory or symbolic link in a container.
type member struct {
	at   int64 // a file: where the container has it, or the local header of a foundMember; a directory: its first place in order; a link: the number of the member with the target
	size int64 // a directory: how many places; a link: the length of the target
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

	problemSize = 256 // about what a problem takes
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

	sums *cache.Recent[int64, *sum] // of stored members that were read, by where they begin; nil: none are kept

	Problems []formats.Problem // what is not shown, or not as it should be, in the order it was found
}

// maxSums is how many checksums of members are known, those used last: 24 bytes each,
// and a few times as much to find them, so 128 KiB or so.
const maxSums = 1 << 10

// sumOf returns the checksum of the stored member at at that its readers share.
func (m *Members) sumOf(at int64) *sum {
	if m.sums == nil {
		return new(sum)
	}
	if s, ok := m.sums.Get(at); ok {
		return s
	}
	s := new(sum)
	m.sums.Swap(at, s)
	return s
}

// Len returns the number of members, the root among them.
func (m *Members) Len() int {
	last := len(m.blocks) - 1
	return last*blockSize + len(m.blocks[last].members)
}

// Cost returns the bytes of memory that the list takes.
func (m *Members) Cost() int64 {
	n := int64(placeSize*cap(m.order)+problemSize*len(m.Problems)) + m.heads.cost()
	for _, b := range m.blocks {
		n += int64(memberSize*cap(b.members) + cap(b.text))
	}
	return n
}

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

// words returns the text of a member, which begins where that of the one before it in the block ends.
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
	if f := m.at(i); f.kind == linkMember && f.at == int64(i) {
		b = b[:int64(len(b))-f.size]
	}
	return b
}

// target returns what a symbolic link points to.
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

// A builder makes the list of a container.
type builder struct {
	Members
	limit   int64       // of the memory that this may take
	held    *cache.Held // of the request that makes the list
	look    func(name string) bool
	headed  int // bytes in heads
	charged int64
	more    int64             // memory besides that of members
	parents []uint32          // the directory of each member
	dirs    map[string]uint32 // by path
	dir     string            // where a file was put last
	dirID   uint32
	hard    []hardLink
}

// A hardLink is a member that is one with the last one before it at a path.
type hardLink struct {
	i      uint32
	target string
}

// newBuilder begins the list of a container of the given time.
func newBuilder(modified time.Time, w Work) *builder {
	l := &builder{limit: w.Limit, held: w.held, look: w.Look, parents: []uint32{0}, dirs: map[string]uint32{".": 0}, dir: "."}
	l.append(member{kind: dirMember, sec: modified.Unix(), nsec: uint32(modified.Nanosecond())})
	return l
}

var errTooManyMembers = errors.New("holds too many files")

// reserve counts n more bytes of memory.
func (l *builder) reserve(n int) error {
	l.more += int64(n)
	used := l.more + int64(len(l.parents)*(memberSize+2*placeSize))
	if used > l.limit {
		return formats.Reasonf(errTooManyMembers, "it holds too many files: the list of the first %d takes more than %d MiB, all that the size of the memory cache allows",
			l.Len()-1, l.limit>>20)
	}
	if used <= l.charged {
		return nil
	}
	// Who gets too little begins again, so this asks for much more than it needs now.
	more := min(listGrowth*used, l.limit) - l.charged
	if err := l.held.Grow(more); err != nil {
		return err
	}
	l.charged += more
	return nil
}

// listGrowth is by how much the memory for a list grows: a list of 160 MiB asks six times, from 160 KiB on.
const listGrowth = 4

// addDir puts a directory at a path.
func (l *builder) addDir(name string, modified time.Time) error {
	at := memberPath(name)
	if at == "" {
		return nil
	}
	i, err := l.mkdir(at, modified)
	if err == nil {
		l.at(i).modify(modified)
	}
	return err
}

// addFile puts a file at a path.
func (l *builder) addFile(name string, f member, modified time.Time) error {
	_, err := l.add(name, "", f, modified)
	return err
}

// addLink puts a symbolic link at a path.
func (l *builder) addLink(name, target string, modified time.Time) error {
	target = target[:min(len(target), maxMemberPath)] // which is more than a target can have
	i, err := l.add(name, target, member{kind: linkMember, size: int64(len(target))}, modified)
	if i > 0 {
		l.at(i).at = int64(i)
	}
	return err
}

// addHardLink puts what is at target by now at another path, too.
func (l *builder) addHardLink(name, target string) error {
	target = memberPath(target)
	i, err := l.add(name, "", member{}, time.Time{})
	if i == 0 || err != nil {
		return err
	}
	l.hard = append(l.hard, hardLink{i, target})
	return l.reserve(len(target) + 24)
}

// add puts a member at a path and returns its number, 0 if it is shown
// nowhere.
func (l *builder) add(name, target string, f member, modified time.Time) (uint32, error) {
	at := memberPath(name)
	if at == "" {
		return 0, nil
	}
	if dir := path.Dir(at); dir != l.dir {
		i, err := l.mkdir(dir, modified)
		if err != nil {
			return 0, err
		}
		l.dir, l.dirID = dir, i
	}
	return l.put(l.dirID, f, modified, path.Base(at), target)
}

// mkdir returns the directory at a path, which it makes if the container did
// not mention it: with the time of the member that lies in it. A path has 4,096
// bytes at most, and so 2,048 directories above it.
func (l *builder) mkdir(at string, modified time.Time) (uint32, error) {
	if i, ok := l.dirs[at]; ok {
		return i, nil
	}
	parent, err := l.mkdir(path.Dir(at), modified)
	if err != nil {
		return 0, err
	}
	i, err := l.put(parent, member{kind: dirMember}, modified, path.Base(at), "")
	if err != nil {
		return 0, err
	}
	l.dirs[strings.Clone(at)] = i
	return i, l.reserve(len(at) + 64)
}

// put appends a member in the directory of that number, and returns its own.
func (l *builder) put(dir uint32, f member, modified time.Time, name, target string) (uint32, error) {
	i := uint32(l.Len())
	f.modify(modified)
	l.append(f, name, target)
	l.parents = append(l.parents, dir)
	return i, l.reserve(len(name) + len(target))
}

// finish completes the list. Of two files at one path the later counts, as
// when unpacking; of a file and a directory the earlier.
func (l *builder) finish() *Members {
	order := make([]uint32, l.Len()-1)
	for n := range order {
		order[n] = uint32(n + 1)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(l.compare(a, l.parents[b], l.name(b)), cmp.Compare(a, b))
	})
	for _, h := range l.hard {
		l.resolve(h, order)
	}
	l.order = slices.DeleteFunc(order, func(i uint32) bool { return l.at(i).kind == noMember })
	l.dedupe()
	for n, i := range l.order {
		dir := l.at(l.parents[i])
		if dir.size == 0 {
			dir.at = int64(n)
		}
		dir.size++
	}
	m := l.Members
	return &m
}

// compare compares a member by where it is.
func (l *builder) compare(i, parent uint32, name []byte) int {
	return cmp.Or(cmp.Compare(l.parents[i], parent), bytes.Compare(l.name(i), name))
}

// maxDangling is how many hard links that are one with nothing may stand at a
// path in front of another that names it: to step over any number of them for
// each of many would take for ever.
const maxDangling = 100

// resolve makes a hard link what it is one with, in the sorted order.
func (l *builder) resolve(h hardLink, order []uint32) {
	parent, ok := l.dirs[path.Dir(h.target)]
	if h.target == "" || !ok {
		return
	}
	base := []byte(path.Base(h.target))
	n := sort.Search(len(order), func(n int) bool {
		return cmp.Or(l.compare(order[n], parent, base), cmp.Compare(order[n], h.i)) >= 0
	})
	first := max(n-maxDangling, 0)
	for n--; n >= first && l.compare(order[n], parent, base) == 0; n-- {
		if f := *l.at(order[n]); f.kind != noMember && f.kind != dirMember {
			f.end = l.at(h.i).end
			*l.at(h.i) = f
			return
		}
	}
}

// dedupe leaves one member at each path. Members at one path lie beside each other in the order, in that
// of the container.
func (l *builder) dedupe() {
	kept := l.order[:0]
	for n, i := range l.order {
		last := len(kept) - 1
		if n == 0 || l.compare(kept[last], l.parents[i], l.name(i)) != 0 {
			kept = append(kept, i)
		} else if l.at(i).kind != dirMember && l.at(kept[last]).kind != dirMember {
			kept[last] = i
		}
	}
	l.order = kept
}
