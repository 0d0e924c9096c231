package hcrp

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// sumOf returns the checksum of the index entries of the first n chunks in the order of ticks.
func (t *Tables) sumOf(n int) (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", t.Header.Layout, t.Header.Version)
	var b []byte
	for _, k := range t.byTick[:n] {
		b = binary.BigEndian.AppendUint64(b[:0], uint64(k))
		h.Write(appendEntry(b, t.Entry(int(k)), 0))
	}
	h.Sum(sum[:0])
	return sum
}

// reach returns the files that have the first n chunks in the order of ticks, as far as they exist.
func (t *Tables) reach(n int) []reach {
	all := map[int64]reach{}
	for _, k := range t.byTick[:n] {
		p := t.place(int(k))
		if size, ok := t.extent(p); ok {
			end := min(addSat(max(p.offset, 0), max(t.Entry(int(k)).Stored, 0)), size)
			all[p.segment] = reach{p.segment, size, max(all[p.segment].end, end)}
		}
	}
	list := make([]reach, 0, len(all))
	for _, n := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[n])
	}
	return list
}

// Reach returns how many first bytes of a segment, or of the file, the chunks take that the index
// is made of.
func (x *index) Reach(name string) int64 {
	number, isSegment := parseSegmentName(name)
	if name == "" {
		number = fileNumber
	} else if !isSegment {
		return 0
	}
	for _, f := range x.files {
		if f.number == number {
			return f.end
		}
	}
	return 0
}

// holds reports whether the recording may go on where the index ends. If the index lacks chunks
// that were not readable, the files must have the length that they had: otherwise the chunks may be
// there now.
func (x *index) holds(t *Tables) bool {
	now := t.reach(x.progress.chunks)
	return x.sum == t.sumOf(x.progress.chunks) && slices.EqualFunc(x.files, now, func(old, now reach) bool {
		return old.number == now.number && old.end <= now.end && (!x.progress.lost || old.size == now.size)
	})
}
