package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// A sampler chooses which files of a directory a manifest looks into. It depends on names alone, so
// that one recording gives one choice, however it is packed and whatever build shows it.
type sampler struct {
	most int // files of a directory; 0 is no limit
}

// rule describes the choice: manifests made by different rules cannot be compared.
func (s sampler) rule() string {
	if s.most == 0 {
		return "every file"
	}
	return fmt.Sprintf("of directories that hold more than %d entries, all of them files: the first %d, the last %d "+
		"and those with the least FNV-1a of the name, %[1]d in all; of others every file", s.most, s.edge(), s.edge())
}

// edge is how many files are taken at each end.
func (s sampler) edge() int { return s.most / 8 }

// large reports whether of a directory with these sorted names not all are looked into.
func (s sampler) large(names []string, isDir func(string) bool) bool {
	return s.most > 0 && len(names) > s.most && !slices.ContainsFunc(names, isDir)
}

// choose returns the names that are looked into, sorted as before.
func (s sampler) choose(names []string) []string {
	first, last := names[:s.edge()], names[len(names)-s.edge():]
	middle := slices.Clone(names[s.edge() : len(names)-s.edge()])
	slices.SortFunc(middle, func(a, b string) int { return cmp.Or(cmp.Compare(fnv1a(a), fnv1a(b)), strings.Compare(a, b)) })
	chosen := slices.Concat(first, middle[:s.most-2*s.edge()], last)
	slices.Sort(chosen)
	return chosen
}

func fnv1a(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// namesSum is the sum of a directory: that of its names, one a line, those of directories with a
// slash.
func namesSum(names []string, isDir func(string) bool) []byte {
	h := sha256.New()
	for _, name := range names {
		if isDir(name) {
			name += "/"
		}
		fmt.Fprintln(h, name)
	}
	return h.Sum(nil)
}
