package catalogue

import (
	"slices"
	"strings"
)

// A lake is the directories below tables/, by their paths in it.
type lake struct {
	dirs map[string][]lakeEntry // sorted by name; "" is tables/ itself
	size int64                  // about what it keeps alive
}

// A lakeEntry is a directory, or a table of the recording at a path.
type lakeEntry struct {
	name string
	path string // "": a directory
}

// newLake returns the lake of recordings.
func newLake(list []*member) *lake {
	l := &lake{dirs: map[string][]lakeEntry{}}
	known := map[string]bool{}
	for _, m := range list {
		if m.Format == nil || m.Error != nil {
			continue
		}
		for _, table := range m.tables {
			l.add(known, *m.Format+"/"+table+"/"+tablesPath(m.place()), m.place())
		}
	}
	for _, list := range l.dirs {
		slices.SortStableFunc(list, func(a, b lakeEntry) int { return strings.Compare(a.name, b.name) })
	}
	return l
}

// add adds a table of the recording at a path, and the directories around it.
func (l *lake) add(known map[string]bool, at, recording string) {
	for at != "" && !known[at] {
		known[at] = true
		dir, name := "", at
		if i := strings.LastIndexByte(at, '/'); i >= 0 {
			dir, name = at[:i], at[i+1:]
		}
		l.dirs[dir] = append(l.dirs[dir], lakeEntry{name, recording})
		l.size += int64(len(at)) + 128
		at, recording = dir, ""
	}
}

// find returns the entry called name in a directory.
func (l *lake) find(dir, name string) (lakeEntry, bool) {
	list := l.dirs[dir]
	i, ok := slices.BinarySearchFunc(list, name, func(e lakeEntry, name string) int { return strings.Compare(e.name, name) })
	if !ok {
		return lakeEntry{}, false
	}
	return list[i], true
}
