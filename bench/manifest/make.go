//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"recfs/bench/internal/program"
)

// catalogue opens in the root of a mount and is not listed.
const catalogue = "recordings.jsonl"

// The ways by which a tree is looked at. All are compared by viaAll.
const (
	viaMount = "mount"
	viaCat   = "cat"
	viaCopy  = "cp"
	viaAll   = "all"
)

// A maker makes the manifest of one source.
type maker struct {
	program program.Program
	source  string // absolute
	temp    string // for the mount, caches and copies
	sampler sampler
}

// path is the path that a command is given for a path in the tree.
func (m *maker) path(rel string) string { return filepath.Join(m.source, rel) }

// onDisk reports whether a path in the tree is one of the source itself.
func (m *maker) onDisk(rel string) bool {
	_, err := os.Lstat(m.path(rel))
	return err == nil
}

// inFile reports whether a path in the tree is a file on disk or lies in one. Commands that are given
// such a path take the file for their source, and judge it and what is in it by the first bytes.
func (m *maker) inFile(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if info, err := os.Lstat(m.path(rel)); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// rel is the path in the tree for one that a command prints.
func (m *maker) rel(printed string) (string, bool) {
	if printed == m.source {
		return ".", true
	}
	return strings.CutPrefix(printed, m.source+"/")
}

// make looks at the source by the ways, and returns the manifest of the first of them, and where the
// others differ from it.
func (m *maker) make(ctx context.Context, via string) (*manifest, []string, error) {
	ways := []string{via}
	if via == viaAll {
		ways = []string{viaMount, viaCat, viaCopy}
	}
	var l *listing
	var all []*manifest
	for _, way := range ways {
		if way != viaMount && l == nil {
			var err error
			if l, err = m.list(ctx); err != nil {
				return nil, nil, err
			}
		}
		records, err := m.through(ctx, way, l)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", way, err)
		}
		one := &manifest{rule: m.sampler.rule(), records: records}
		one.sort()
		all = append(all, one)
	}
	var differences []string
	for i, other := range all[1:] {
		differences = append(differences, disagreements(all[0], other, ways[0], ways[1+i])...)
	}
	return all[0], differences, nil
}

func (m *maker) through(ctx context.Context, way string, l *listing) ([]record, error) {
	switch way {
	case viaMount:
		return m.throughMount(ctx)
	case viaCat:
		return m.throughCat(ctx, l)
	case viaCopy:
		return m.throughCopy(ctx, l)
	}
	return nil, fmt.Errorf("no such way; there are %s, %s, %s and %s", viaMount, viaCat, viaCopy, viaAll)
}

// disagreements says where two ways to the same tree show another content. What only one of them
// tells does not count, nor the words for an error. A file that fails has no content to compare.
func disagreements(a, b *manifest, wayA, wayB string) (all []string) {
	for path, pair := range paired(a, b) {
		switch {
		case pair[0] == nil && path == catalogue, pair[1] == nil && path == catalogue: // it is not listed
		case pair[0] == nil:
			all = append(all, fmt.Sprintf("%s: only through %s", quote(path), wayB))
		case pair[1] == nil:
			all = append(all, fmt.Sprintf("%s: only through %s", quote(path), wayA))
		case pair[0].failed() && pair[1].failed(), pair[1].fields[colError] == ownSource:
		default:
			for _, column := range pair[0].differing(*pair[1], nil) {
				all = append(all, fmt.Sprintf("%s: %s is %s through %s and %s through %s", quote(path), columnNames[column],
					pair[0].fields[column], wayA, pair[1].fields[column], wayB))
			}
		}
	}
	return all
}

// errDiffer ends the program with 1 after what differs was printed.
var errDiffer = errors.New("they differ")

// makeManifest runs the maker of flags in a directory of its own.
func makeManifest(ctx context.Context, opt makeOptions, source string, flags []string) (err error) {
	temp, err := os.MkdirTemp("", "recfs-manifest-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if source == "" {
		if source, err = standardSet(ctx, temp, opt); err != nil {
			return err
		}
	}
	if source, err = filepath.Abs(source); err != nil {
		return err
	}
	binary, err := filepath.Abs(opt.binary)
	if err != nil {
		return err
	}
	m := &maker{
		program: program.Program{Binary: binary, Cache: filepath.Join(temp, "cache"), Flags: slices.Clone(flags)},
		source:  source, temp: temp, sampler: sampler{most: opt.most},
	}
	made, differences, err := m.make(ctx, opt.via)
	if err != nil {
		return err
	}
	if err := made.write(os.Stdout); err != nil {
		return err
	}
	for _, line := range differences {
		fmt.Fprintln(os.Stderr, line)
	}
	if len(differences) > 0 {
		return fmt.Errorf("%d times: %w", len(differences), errDiffer)
	}
	return nil
}
