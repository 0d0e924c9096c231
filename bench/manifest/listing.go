package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"recfs/bench/internal/harness"
)

// A listing is a tree as `recfs ls -lR` prints it. Names with line ends are not made for it.
type listing struct {
	dirs     map[string]*listedDir // by path, "." for the root
	messages []byte                // what the command said of what it could not list
}

// A listedDir is what is kept of a directory: of large ones little, since some hold a million
// files.
type listedDir struct {
	names   []string          // that are looked into, sorted
	leaves  map[string]record // those that are no directories, with sizes or targets
	sum     []byte            // of all names
	partial bool              // not all names are looked into
}

// list reads the whole source at once, because a path to a part of it can be another source, from
// which links lead out.
func (m *maker) list(ctx context.Context) (*listing, error) {
	r, w := io.Pipe()
	var messages []byte
	var failed error
	go func() {
		messages, failed = m.program.Run(ctx, w, "ls", "-lR", m.source)
		w.Close()
	}()
	l, err := parseListing(r, m.rel, m.sampler)
	if err != nil {
		r.CloseWithError(err)
		return nil, err
	}
	if failed != nil && !errors.Is(failed, harness.ErrDamaged) {
		return nil, failed
	}
	l.messages = messages
	return l, nil
}

// parseListing reads headings, each of which is the path of a directory and a colon, and lines up
// to the next empty one. rel makes a path in the tree of a path that the command prints.
func parseListing(out io.Reader, rel func(string) (string, bool), s sampler) (*listing, error) {
	l := &listing{dirs: map[string]*listedDir{}}
	dir, name := &listedDir{}, ""
	heading := true
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line, ok := lines.Text(), false
		switch {
		case line == "":
			heading = true
		case heading:
			dir.choose(s)
			if name, ok = rel(strings.TrimSuffix(line, ":")); !ok {
				return nil, fmt.Errorf("ls -lR: %q is not below the source", line)
			}
			dir, heading = &listedDir{leaves: map[string]record{}}, false
			l.dirs[name] = dir
		default:
			if err := dir.add(name, line); err != nil {
				return nil, err
			}
		}
	}
	dir.choose(s)
	return l, lines.Err()
}

// longLine matches kind, size and name of a line of ls -l: the name comes after the time.
var longLine = regexp.MustCompile(`^([-dl])\S* .*?(\d+|[?-]) \d{4}-\d\d-\d\d \d\d:\d\d (.+)$`)

// add adds what a line says of a name in the directory at rel.
func (d *listedDir) add(rel, line string) error {
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
	d.names = append(d.names, name)
	if match[1] != "d" {
		r.path = path.Join(rel, name)
		d.leaves[name] = r
	}
	return nil
}

// choose keeps of a directory that is complete what is looked into.
func (d *listedDir) choose(s sampler) {
	slices.Sort(d.names)
	d.sum = namesSum(d.names, d.isDir)
	if d.partial = s.large(d.names, d.isDir); !d.partial {
		return
	}
	chosen := map[string]record{}
	d.names = s.choose(d.names)
	for _, name := range d.names {
		chosen[name] = d.leaves[name]
	}
	d.leaves = chosen
}

func (d *listedDir) isDir(name string) bool {
	_, leaf := d.leaves[name]
	return !leaf
}

// leaf returns the record of a file or link that is looked into.
func (l *listing) leaf(rel string) record { return l.dirs[path.Dir(rel)].leaves[path.Base(rel)] }

// sorted returns the paths of all directories.
func (l *listing) sorted() []string { return slices.Sorted(maps.Keys(l.dirs)) }

// records returns those of the directories.
func (l *listing) records(m *maker) (all []record) {
	failures := m.failures(l.messages)
	for _, dir := range l.sorted() {
		r := newRecord(dir, kindDir)
		r.setSum(l.dirs[dir].sum)
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
