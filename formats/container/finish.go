package container

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"sort"
)

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
