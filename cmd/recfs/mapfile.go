package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strconv"
	"strings"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// mapsDir is the folder beside a recording where its map is looked for, too.
const mapsDir = "maps"

// A mapFinder finds the map files of recordings by the SHA-256 in their headers, among the recordings that a
// command is given, and beside each recording. A file is hashed once, and only if it has the size of the map.
type mapFinder struct {
	a     *archive
	args  []string
	given bySize            // of args; nil: they were not looked at yet
	dirs  map[string]bySize // of directories
	sums  map[string]string // by name
}

// bySize are recordings by the size of their files.
type bySize map[int64][]found

func newMapFinder(a *archive, args []string) *mapFinder {
	return &mapFinder{a: a, args: args, dirs: map[string]bySize{}, sums: map[string]string{}}
}

// details tells where the map of a recording is, or as what it would be found; none of what has no header
// with a hash.
func (m *mapFinder) details(ctx context.Context, f found) formats.Details {
	var h document
	if err := readJSON(ctx, f.entry.Dir, "header.json", &h); err != nil {
		return nil
	}
	name, sum := h.text("header.map_name"), strings.ToLower(h.text("header.map_sha256"))
	size, err := strconv.ParseInt(h.text("header.map_size"), 10, 64)
	if err != nil || name == "" || len(sum) != 2*sha256.Size {
		return nil
	}
	for _, candidate := range m.candidates(ctx, f.name, size) {
		if m.sum(ctx, candidate) == sum {
			return formats.Details{{Key: "map_file", Value: candidate.name, Text: candidate.name}}
		}
	}
	missing := nodes.SafeName(name) + ".map"
	return formats.Details{{
		Key: "map_missing", Value: missing, Text: missing + "; paths.svg draws it if it lies beside the recording or in " + mapsDir + "/ there",
	}}
}

// candidates returns the recordings that have so many bytes: those beside one first, then those of the arguments.
func (m *mapFinder) candidates(ctx context.Context, name string, size int64) (all []found) {
	dir := path.Dir(name)
	for _, at := range []string{dir, path.Join(dir, mapsDir)} {
		all = append(all, m.beside(ctx, at)[size]...)
	}
	if m.given == nil {
		m.given = bySize{}
		for f := range m.a.find(ctx, m.args, func(string, error) {}) {
			if f.isRecording {
				m.given[f.Stored] = append(m.given[f.Stored], f)
			}
		}
	}
	return append(all, m.given[size]...)
}

// beside returns the recordings of a directory, without those of directories in it.
func (m *mapFinder) beside(ctx context.Context, dir string) bySize {
	if known, ok := m.dirs[dir]; ok {
		return known
	}
	known := bySize{}
	if e, err := m.a.resolve(ctx, sourceOf(dir)); err == nil && e.Dir != nil {
		for child, err := range entries(ctx, e) {
			if err != nil || child.Dir == nil {
				continue
			}
			if d, ok := archives.Describe(ctx, child.Dir); ok {
				known[d.Stored] = append(known[d.Stored], found{name: path.Join(dir, child.Name), entry: child})
			}
		}
	}
	m.dirs[dir] = known
	return known
}

// sum returns the SHA-256 of the bytes of a recording in hex, "" if they cannot be read.
func (m *mapFinder) sum(ctx context.Context, f found) string {
	if sum, ok := m.sums[f.name]; ok {
		return sum
	}
	sum := ""
	if raw, err := nodes.Child(ctx, f.entry.Dir, "raw"); err == nil && raw.File != nil {
		if c, err := raw.File.Open(ctx); err == nil {
			defer nodes.CloseContent(c)
			h := sha256.New()
			if _, err := io.Copy(h, nodes.Reader(ctx, c)); err == nil {
				sum = hex.EncodeToString(h.Sum(nil))
			}
		}
	}
	m.sums[f.name] = sum
	return sum
}
