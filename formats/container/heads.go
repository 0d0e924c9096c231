package container

import (
	"maps"
	"slices"
)

// heads are the first bytes, [formats.NamedSize] of them or all, of files whose names do not say
// what they are, by where the files begin. Where headers stand between the files they come with
// these, and to read them later, one by one, would mean to decompress most of a compressed tar.
type heads map[int64][]byte

const (
	headCost = 64 // bytes that one takes in memory besides its own

	// maxHeads is how many bytes the heads of a list have at most: 1 MiB are those of 65,536 files,
	// which take 5 MiB of memory.
	maxHeads = 1 << 20
)

func (h heads) size() (n int) {
	for _, b := range h {
		n += len(b)
	}
	return n
}

func (h heads) cost() int64 { return int64(h.size() + headCost*len(h)) }

// places returns where the files begin, in order.
func (h heads) places() []int64 { return slices.Sorted(maps.Keys(h)) }
