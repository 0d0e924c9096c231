package container

import (
	"errors"
	"path"
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
