package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"recfs/bench/internal/program"
)

// A listing is a tree as `recfs ls -lR` prints it. Names with line ends are not made for it.
type listing struct {
	dirs     map[string][]string // names by path of the directory, "." for the root
	lines    map[string]record   // files and links, with sizes or targets
	messages []byte              // what the command said of what it could not list
}

// list reads the whole source at once, because a path to a part of it can be another source, from
// which links lead out.
func (m *maker) list(ctx context.Context) (*listing, error) {
	var out bytes.Buffer
	messages, err := m.program.Run(ctx, &out, "ls", "-lR", m.source)
	if err != nil && !errors.Is(err, program.ErrDamaged) {
		return nil, err
	}
	return parseListing(&out, m.rel, messages)
}

// parseListing reads headings, each of which is the path of a directory and a colon, and lines up to
// the next empty one. rel makes a path in the tree of a path that the command prints.
func parseListing(out io.Reader, rel func(string) (string, bool), messages []byte) (*listing, error) {
	l := &listing{dirs: map[string][]string{}, lines: map[string]record{}, messages: messages}
	dir, heading := "", true
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			heading = true
		case heading:
			name, ok := rel(strings.TrimSuffix(line, ":"))
			if !ok {
				return nil, fmt.Errorf("ls -lR: %q is not below the source", line)
			}
			dir, heading = name, false
			l.dirs[dir] = []string{}
		default:
			if err := l.add(dir, line); err != nil {
				return nil, err
			}
		}
	}
	for _, names := range l.dirs {
		slices.Sort(names)
	}
	return l, lines.Err()
}

// longLine matches kind, size and name of a line of ls -l: the name comes after the time.
var longLine = regexp.MustCompile(`^([-dl])\S* .*?(\d+|[?-]) \d{4}-\d\d-\d\d \d\d:\d\d (.+)$`)

// add adds what a line says of a name in dir. Directories become known by their headings.
func (l *listing) add(dir, line string) error {
	match := longLine.FindStringSubmatch(line)
	if match == nil {
		return fmt.Errorf("ls -lR: what does %q mean?", line)
	}
	name, target := match[3], ""
	r := newRecord("", kindFile)
	switch match[1] {
	case "l":
		name, target, _ = strings.Cut(name, " -> ")
		r.fields[colKind], r.fields[colSum] = kindLink, target
	case "-":
		if match[2] != "?" {
			r.fields[colSize] = match[2]
		}
	}
	l.dirs[dir] = append(l.dirs[dir], name)
	if match[1] != "d" {
		r.path = path.Join(dir, name)
		l.lines[r.path] = r
	}
	return nil
}

// leaves returns the files and links that are looked into, sorted.
func (l *listing) leaves(s sampler) (all []record) {
	for _, dir := range l.sorted() {
		names := l.dirs[dir]
		if s.large(names, l.isDir(dir)) {
			names = s.choose(names)
		}
		for _, name := range names {
			if r, ok := l.lines[path.Join(dir, name)]; ok {
				all = append(all, r)
			}
		}
	}
	return all
}

// isDir returns what tells the directories among the names of dir.
func (l *listing) isDir(dir string) func(string) bool {
	return func(name string) bool {
		_, ok := l.dirs[path.Join(dir, name)]
		return ok
	}
}

// sorted returns the paths of all directories.
func (l *listing) sorted() []string { return slices.Sorted(maps.Keys(l.dirs)) }

// records returns those of the directories.
func (l *listing) records(m *maker) (all []record) {
	failures := m.failures(l.messages)
	for _, dir := range l.sorted() {
		r := newRecord(dir, kindDir)
		r.setSum(namesSum(l.dirs[dir], l.isDir(dir)))
		if reason, ok := failures[dir]; ok {
			r.fields[colError] = reason
		}
		all = append(all, r)
	}
	return all
}

// failures returns why the command could not read what, by path in the tree, from lines like
// "recfs: PATH: REASON". A path that holds ": " is looked for up to each of them.
func (m *maker) failures(messages []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(messages)) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "recfs: ")
		for i := range len(line) {
			if !strings.HasPrefix(line[i:], ": ") {
				continue
			}
			if rel, ok := m.rel(line[:i]); ok {
				all[rel] = line[i+2:]
			}
		}
	}
	return all
}
