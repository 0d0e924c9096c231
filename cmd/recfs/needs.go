package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"maps"
	"slices"
	"strings"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
)

// A needFinder finds the files that recordings need: by name where those of their kind are kept, or
// by their SHA-256 beside each recording and among the recordings that a command is given. A file
// is hashed once, and only if it has the right size.
type needFinder struct {
	a    *archive
	args []string
	dirs map[string]bySize // of directories, and of args by ""
	sums map[string]string // by name
}

// bySize are recordings by the size of their files.
type bySize map[int64][]found

func newNeedFinder(a *archive, args []string) *needFinder {
	return &needFinder{a: a, args: args, dirs: map[string]bySize{}, sums: map[string]string{}}
}

// details tells where the files are that a recording needs, or what to do about those that are
// nowhere.
func (n *needFinder) details(ctx context.Context, f found) (formats.Details, error) {
	r := n.a.formatNamed(f.Format).Needs
	if r.Document == "" {
		return nil, nil
	}
	text, err := nodes.ReadFile(ctx, f.entry.Dir, r.Document)
	if err != nil {
		return nil, unless(err, iofs.ErrNotExist)
	}
	needs := r.Read(text)
	if len(needs) > 0 && needs[0].SHA256 != "" {
		return n.bySum(ctx, f, needs[0]), nil
	}
	return n.byName(ctx, f, needs), nil
}

// bySum tells where the one file is that a recording was made with.
func (n *needFinder) bySum(ctx context.Context, f found, need formats.Need) formats.Details {
	dir := dirName(f.name)
	for _, at := range []string{dir, joinName(dir, need.Dir), ""} { // beside it first, then those of the arguments
		for _, candidate := range n.in(ctx, at)[need.Size] {
			if n.sum(ctx, candidate) == need.SHA256 {
				return formats.Details{{Key: need.Kind + "_file", Value: candidate.name, Text: candidate.name}}
			}
		}
	}
	missing := nodes.SafeName(need.Name) + need.Ext
	return formats.Details{{Key: need.Kind + "_missing", Value: missing, Text: missing + "; " + need.Hint}}
}

// byName tells how many of the files of one kind are found where.
func (n *needFinder) byName(ctx context.Context, f found, needs []formats.Need) (d formats.Details) {
	found, missing := map[string]int{}, []string{}
	for _, need := range needs {
		if where := n.where(ctx, dirName(f.name), need); where != "" {
			found[where]++
		} else if !slices.Contains(missing, need.Name) {
			missing = append(missing, need.Name)
		}
	}
	if len(found) > 0 {
		var words []string
		for _, where := range slices.Sorted(maps.Keys(found)) {
			words = append(words, fmt.Sprintf("%d in %s", found[where], where))
		}
		d = append(d, formats.Detail{Key: needs[0].Kind + "_from", Value: found, Text: strings.Join(words, ", ")})
	}
	if len(missing) > 0 {
		d = append(d, formats.Detail{Key: needs[0].Kind + "_missing", Value: missing, Text: strings.Join(missing, ", ") + "; " + needs[0].Hint})
	}
	return d
}

// where returns the directory that has a file of that name for a recording in dir, "" if there is
// none.
func (n *needFinder) where(ctx context.Context, dir string, need formats.Need) string {
	if need.Name == "" || strings.ContainsAny(need.Name, `/\`) {
		return ""
	}
	if beside := joinName(dir, need.Dir); n.a.mapres.beside {
		if e, err := n.a.resolve(ctx, sourceOf(beside)); err == nil && e.Dir != nil {
			if file, err := nodes.Child(ctx, e.Dir, need.Name+need.Ext); err == nil && file.File != nil {
				return beside
			}
		}
	}
	for i, dir := range n.a.mapres.dirs {
		if _, err := dir.Open(ctx, need.Name+need.Ext); err == nil {
			return n.a.mapres.names[i]
		}
	}
	return ""
}

// in returns the recordings of a directory, without those of directories in it, or of "" those of
// the arguments.
func (n *needFinder) in(ctx context.Context, dir string) bySize {
	if known, ok := n.dirs[dir]; ok {
		return known
	}
	known := bySize{}
	n.dirs[dir] = known
	if dir == "" {
		for f := range n.a.find(ctx, n.args, func(string, error) {}) {
			if f.isRecording {
				known[f.Stored] = append(known[f.Stored], f)
			}
		}
		return known
	}
	if e, err := n.a.resolve(ctx, sourceOf(dir)); err == nil && e.Dir != nil {
		for child, err := range nodes.Entries(ctx, e) {
			if err != nil || child.Dir == nil {
				continue
			}
			if d, ok := archives.Describe(ctx, child.Dir); ok {
				known[d.Stored] = append(known[d.Stored], found{name: joinName(dir, child.Name), entry: child})
			}
		}
	}
	return known
}

// sum returns the SHA-256 of the bytes of a recording in hex, "" if they cannot be read.
func (n *needFinder) sum(ctx context.Context, f found) string {
	if sum, ok := n.sums[f.name]; ok {
		return sum
	}
	sum := ""
	if raw, err := nodes.Child(ctx, f.entry.Dir, "raw"); err == nil && raw.File != nil {
		h := sha256.New()
		if _, err := copyFile(ctx, h, raw.File); err == nil {
			sum = hex.EncodeToString(h.Sum(nil))
		}
	}
	n.sums[f.name] = sum
	return sum
}
