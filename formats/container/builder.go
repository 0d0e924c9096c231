package container

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats"
)

// A builder makes the list of a container.
type builder struct {
	Members
	limit   int64       // of the memory that this may take
	held    *cache.Held // of the request that makes the list
	where   int64       // where the container has what is added, for its problems
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
	at     int64 // where the container has it
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
	// A request that gets too little begins again, so this asks for much more than it needs now.
	more := min(listGrowth*used, l.limit) - l.charged
	if err := l.held.Grow(more); err != nil {
		return err
	}
	l.charged += more
	return nil
}

// listGrowth is by how much the memory for a list grows: a list of 160 MiB asks six times, from 160
// KiB on.
const listGrowth = 4

// addDir puts a directory at a path.
func (l *builder) addDir(name string, modified time.Time) error {
	if path.Clean("/"+name) == "/" { // the root
		return nil
	}
	at, ok := l.shownAt(name)
	if !ok {
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
	l.hard = append(l.hard, hardLink{i, l.where, target})
	return l.reserve(len(target) + 32)
}

// shownAt returns the path of a member of that name. If it can have none, that is a problem.
func (l *builder) shownAt(name string) (at string, ok bool) {
	at = memberPath(name)
	if at == "" {
		l.problem(BadName, l.where, "", "a member whose name begins %.100q is not shown: no file can be called so", name)
	}
	return at, at != ""
}

// add puts a member at a path and returns its number, 0 if it is shown
// nowhere.
func (l *builder) add(name, target string, f member, modified time.Time) (uint32, error) {
	at, ok := l.shownAt(name)
	if !ok {
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
// when unpacking; of a file and a directory the earlier, and the other is a problem.
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
	return new(l.Members)
}

// compare compares a member by where it is.
func (l *builder) compare(i, parent uint32, name []byte) int {
	return cmp.Or(cmp.Compare(l.parents[i], parent), bytes.Compare(l.name(i), name))
}

// maxDangling is how many hard links that are one with nothing may stand at a
// path in front of another that names it: to step over any number of them for
// each of many would take for ever.
const maxDangling = 100

// resolve makes a hard link what it is one with, in the sorted order. A link to nothing is a
// problem.
func (l *builder) resolve(h hardLink, order []uint32) {
	if !l.resolved(h, order) {
		l.problemOf(h.i, DanglingLink, h.at, "it is a hard link to %.100q, which is no file before it", h.target)
	}
}

func (l *builder) resolved(h hardLink, order []uint32) bool {
	parent, ok := l.dirs[path.Dir(h.target)]
	if h.target == "" || !ok {
		return false
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
			return true
		}
	}
	return false
}

// dedupe leaves one member at each path. Members at one path lie beside each other in the order, in
// that of the container.
func (l *builder) dedupe() {
	kept := l.order[:0]
	for n, i := range l.order {
		last := len(kept) - 1
		switch {
		case n == 0, l.compare(kept[last], l.parents[i], l.name(i)) != 0:
			kept = append(kept, i)
		case l.at(i).kind == dirMember:
			l.problemOf(i, NameConflict, l.near(i), "a file has the path of this directory, which is not shown, nor what it holds")
		case l.at(kept[last]).kind == dirMember:
			l.problemOf(i, NameConflict, l.near(i), "a directory has the path of this file, which is not shown")
		default:
			kept[last] = i
		}
	}
	l.order = kept
}

// problemOf notes what is wrong with a member, whose path is made only for problems that are kept:
// to make long ones for all of many members would take for ever.
func (l *builder) problemOf(i uint32, code string, offset int64, format string, args ...any) {
	if len(l.Problems) <= maxProblems {
		l.problem(code, offset, l.pathOf(i), format, args...)
	}
}

// pathOf returns the path of a member.
func (l *builder) pathOf(i uint32) string {
	at := string(l.name(i))
	for dir := l.parents[i]; dir != 0; dir = l.parents[dir] {
		at = string(l.name(dir)) + "/" + at
	}
	return at
}

// near returns about where the container has a member: directories and links do not know it, but
// the files that come next.
func (l *builder) near(i uint32) int64 {
	for n := i; n < min(i+100, uint32(l.Len())); n++ {
		if f := l.at(n); f.kind == fileMember || f.kind == sparseMember || f.kind == foundMember {
			return f.at
		}
	}
	return 0
}

// Codes of what can be wrong with a container, besides unpack.BadCompression
// (docs/tree/README.md section 1).
const (
	Truncated    = "truncated"     // the container ends too early
	BadHeader    = "bad_header"    // the header of a member is damaged
	BadDirectory = "bad_directory" // the directory of a zip is damaged or missing
	Unsupported  = "unsupported"   // a member is encrypted or packed by an unknown method
	NameConflict = "name_conflict" // a file and a directory have one path
	BadName      = "bad_name"      // a member has a name that no file can have
	DanglingLink = "dangling_link" // a hard link is one with no file before it
)

// maxProblems is how many problems of a container are kept: 200 KiB of them or so, 4 MiB if the
// paths are as long as they can be.
const maxProblems = 1000

// problem notes what is wrong; path is that of a member, or "".
func (l *builder) problem(code string, offset int64, path, format string, args ...any) {
	switch n := len(l.Problems); {
	case n < maxProblems:
		p := formats.Problem{Code: code, Path: path, Offset: offset, Message: formats.OneLine(fmt.Sprintf(format, args...))}
		l.Problems = append(l.Problems, p)
		l.more += problemCost(p) // which is charged with the next member
	case n == maxProblems:
		l.Problems = append(l.Problems, formats.Problem{Code: code, Offset: offset, Message: "there are more problems"})
	}
}
