package hcrp

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// A Reader reads one recording: header and tables when it is made, chunks on demand. It is safe for
// concurrent use.
type Reader struct {
	Header   *Header
	Dir      bool              // a directory of segments; else a file
	Finished bool              // the directory has the marker
	Problems []formats.Problem // those known without decompressing anything

	chunkProblems int // how many problems at the end are about one chunk's bytes

	segmented  bool // offsets in the index name a segment
	whole      bool // the index was read to its end
	hasEntries bool // false if the metadata does not end in the file

	head     []byte           // the header as stored
	file     formats.ReaderAt // the file, or preamble.dat
	size     int64
	segments []segment
	limits   Limits
	entries  []packedEntry
	byTick   []int32  // chunks by first tick, then number
	lasts    []uint32 // the greatest last tick of byTick up to there
	zstd     *wire.Zstd
	dictSum  []byte // of the dictionary, if there is one
}

// Chunks returns how many chunks there are.
func (r *Reader) Chunks() int { return len(r.entries) }

// Entry returns what the index says of chunk i.
func (r *Reader) Entry(i int) Entry { return r.entries[i].unpack(r.Header.IndexOffset()) }

// chunksOf returns the chunks whose range has tick n, those that start first before the others.
func (r *Reader) chunksOf(n int64) (list []int) {
	k := sort.Search(len(r.byTick), func(k int) bool { return r.Entry(int(r.byTick[k])).Start > n })
	for k--; k >= 0 && int64(r.lasts[k]) >= n; k-- {
		if i := int(r.byTick[k]); r.Entry(i).Last() >= n {
			list = append(list, i)
		}
	}
	for a, b := 0, len(list)-1; a < b; a, b = a+1, b-1 {
		list[a], list[b] = list[b], list[a]
	}
	return list
}

// place returns where the stored bytes of chunk i begin.
func (r *Reader) place(i int) place {
	raw := r.Entry(i).Raw
	if r.segmented {
		return place{raw >> 32, raw & 0xffffffff}
	}
	return place{-1, raw}
}

// segment returns segment n, or nil.
func (r *Reader) segment(n int64) *segment {
	i, ok := slices.BinarySearchFunc(r.segments, n, func(s segment, n int64) int { return cmp.Compare(s.number, n) })
	if !ok {
		return nil
	}
	return &r.segments[i]
}

// extent returns how many bytes the file or segment of a place has, and whether it is there at all.
func (r *Reader) extent(p place) (size int64, exists bool) {
	if !r.segmented {
		return r.size, true
	}
	if s := r.segment(p.segment); s != nil {
		return s.size, true
	}
	return 0, false
}

// at returns what to read a place from; it must exist.
func (r *Reader) at(p place) formats.ReaderAt {
	if p.segment < 0 {
		return r.file
	}
	return r.segment(p.segment).file
}

// used returns how far the index uses each segment; -1 is the file.
func (r *Reader) used() map[int64]int64 {
	used := map[int64]int64{}
	for i := range r.Chunks() {
		if e := r.Entry(i); e.Stored > 0 {
			p := r.place(i)
			used[p.segment] = max(used[p.segment], addSat(p.offset, e.Stored))
		}
	}
	return used
}

// bodyBytes returns the bytes of all bodies, as far as the index can be believed.
func (r *Reader) bodyBytes() (n int64) {
	for i := range r.Chunks() {
		n += max(r.Entry(i).Size, 0)
	}
	return n
}

// sort sorts chunks by what key says of them, then by number. Most often they are in that order.
func (r *Reader) sort(list []int32, key func(*packedEntry) int64) {
	compare := func(a, b int32) int {
		return cmp.Or(cmp.Compare(key(&r.entries[a]), key(&r.entries[b])), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

// flaw returns why the bytes of chunk i cannot be had, or nil.
func (r *Reader) flaw(i int) *damage {
	e, p := r.Entry(i), r.place(i)
	if e.Raw < 0 {
		return newDamage(codeOutOfFile, i, place{-1, e.rawAt}, "the byte offset is %d", e.Raw)
	}
	if flaw := e.flaw(); flaw != "" {
		return newDamage(codeIndexEntry, i, place{-1, e.at}, "entry %d: %s", i, flaw)
	}
	size, exists := r.extent(p)
	switch {
	case !exists:
		return newDamage(codeSegmentMissing, i, p, "%s is missing", segmentName(p.segment))
	case p.offset <= size-e.Stored:
		return nil
	case r.segmented:
		return newDamage(codeSegmentTruncated, i, p, "the chunk ends at %d, %s at %d", p.offset+e.Stored, segmentName(p.segment), size)
	}
	return newDamage(codeOutOfFile, i, p, "the chunk ends at %d, the file at %d", addSat(p.offset, e.Stored), size)
}

// hasStored reports whether all stored bytes of chunk i are there.
func (r *Reader) hasStored(i int) bool {
	e, p := r.Entry(i), r.place(i)
	size, ok := r.extent(p)
	return ok && e.Raw >= 0 && e.Stored > 0 && p.offset <= size-e.Stored
}

// missing returns why the stored bytes of chunk i are not there.
func (r *Reader) missing(i int) error {
	if d := r.flaw(i); d != nil {
		return d
	}
	return formats.Errorf(formatName, r.Entry(i).at, errTruncated, "chunk %d is not there", i)
}

// Body returns the decompressed bytes of chunk i. If the chunk is to blame the error is a *damage.
func (r *Reader) Body(ctx context.Context, i int) ([]byte, error) {
	if d := r.flaw(i); d != nil {
		return nil, d
	}
	e, p := r.Entry(i), r.place(i)
	if e.Size > r.limits.Body || e.Stored > r.limits.Body+firstAlloc {
		return nil, newDamage(codeLength, i, p, "%d bytes, stored in %d; %d are the limit", e.Size, e.Stored, r.limits.Body)
	}
	body, err := frame{p, e.Stored}.expand(ctx, r.zstd, r.at(p), e.Size)
	var bad *wire.StreamError
	switch {
	case errors.Is(err, wire.ErrSize):
		return nil, newDamage(codeLength, i, p, "more than the %d bytes that the index says", e.Size)
	case errors.As(err, &bad):
		return nil, newDamage(codeZstd, i, p, "%v", bad)
	case err != nil:
		return nil, err
	case int64(len(body)) != e.Size:
		return nil, newDamage(codeLength, i, p, "%d bytes, the index says %d", len(body), e.Size)
	}
	return body, nil
}

// bytes returns n bytes at off, of head if they are there: as long as some of them are kept, all of
// head is.
func (r *Reader) bytes(ctx context.Context, head []byte, off, n int64) ([]byte, error) {
	if off+n <= int64(len(head)) {
		return head[off : off+n], nil
	}
	b := make([]byte, n)
	return b, readFull(ctx, r.file, b, off)
}

// Metadata returns the stored metadata.
func (r *Reader) Metadata(ctx context.Context) ([]byte, error) {
	if n := r.Header.MetadataLength; r.hasEntries && n <= r.limits.Metadata {
		return r.bytes(ctx, nil, headerSize, n)
	}
	return nil, formats.Errorf(formatName, headerSize, errTruncated, "no metadata")
}

// TypedMetadata returns the metadata as typed JSON.
func (r *Reader) TypedMetadata(ctx context.Context) ([]byte, error) {
	b, err := r.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	out, _, err := typedMetadata(b, r.limits)
	return out, err
}
