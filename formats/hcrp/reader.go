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

// Tables are the header and the index of a recording, and what is wrong with them. They do not
// change.
type Tables struct {
	Header   *Header
	Dir      bool              // a directory of segments; else a file
	Finished bool              // the directory has the marker
	Problems []formats.Problem // those known without decompressing anything

	chunkProblems int // how many problems at the end are about one chunk's bytes

	segmented  bool // offsets in the index name a segment
	whole      bool // the index was read to its end
	hasEntries bool // false if the metadata does not end in the file

	preamble
	segments []segment
	limits   Limits
	entries  []packedEntry
	byTick   []int32  // chunks by first tick, then number
	lasts    []uint32 // the greatest last tick of byTick up to there
	zstd     *wire.Zstd
	dictSum  []byte  // of the dictionary, if there is one
	schema   *Schema // nil: events cannot be told apart
}

// A Reader reads one recording: header and tables when it is made, chunks on demand. It is safe for
// concurrent use.
type Reader struct {
	*Tables
	files
}

// files are where the bytes of a recording are.
type files struct {
	file formats.ReaderAt // the recording, or preamble.dat
	list formats.Files    // the segments and others
}

// filesOf returns the files of an Input.
func filesOf(in formats.Input) files {
	if in.ReaderAt == nil {
		return files{files{list: in.Files}.named(preambleName), in.Files}
	}
	return files{file: in.ReaderAt}
}

// named returns a reader of a file of a directory. One that is not there has no bytes.
func (f files) named(name string) formats.ReaderAt {
	file, err := f.list.Open(context.Background(), name)
	if err != nil {
		return formats.BytesReader(nil)
	}
	return file
}

// at returns a reader of the file of a place.
func (f files) at(p place) formats.ReaderAt {
	if p.segment < 0 {
		return f.file
	}
	return f.named(segmentName(p.segment))
}

// Chunks returns how many chunks there are.
func (t *Tables) Chunks() int { return len(t.entries) }

// Entry returns what the index says of chunk i.
func (t *Tables) Entry(i int) Entry { return t.entries[i].unpack(t.Header.IndexOffset()) }

// span returns the first tick of the first chunk and the last of all; of no chunks, 0 and -1.
func (t *Tables) span() (first, last int64) {
	if len(t.byTick) == 0 {
		return 0, -1
	}
	return t.Entry(int(t.byTick[0])).Start, int64(t.lasts[len(t.lasts)-1])
}

// chunksOf returns the chunks whose range has tick n, those that start first before the others.
func (t *Tables) chunksOf(n int64) (list []int) {
	k := sort.Search(len(t.byTick), func(k int) bool { return t.Entry(int(t.byTick[k])).Start > n })
	for k--; k >= 0 && int64(t.lasts[k]) >= n; k-- {
		if i := int(t.byTick[k]); t.Entry(i).Last() >= n {
			list = append(list, i)
		}
	}
	for a, b := 0, len(list)-1; a < b; a, b = a+1, b-1 {
		list[a], list[b] = list[b], list[a]
	}
	return list
}

// place returns where the stored bytes of chunk i begin.
func (t *Tables) place(i int) place {
	raw := t.Entry(i).Raw
	if t.segmented {
		return place{raw >> 32, raw & 0xffffffff}
	}
	return place{-1, raw}
}

// segment returns segment n, or nil.
func (t *Tables) segment(n int64) *segment {
	i, ok := slices.BinarySearchFunc(t.segments, n, func(s segment, n int64) int { return cmp.Compare(s.number, n) })
	if !ok {
		return nil
	}
	return &t.segments[i]
}

// extent returns how many bytes the file or segment of a place has, and whether it is there at all.
func (t *Tables) extent(p place) (size int64, exists bool) {
	if !t.segmented {
		return t.size, true
	}
	if s := t.segment(p.segment); s != nil {
		return s.size, true
	}
	return 0, false
}

// used returns up to which byte the index uses each segment; -1 is the file. Of chunks whose bytes
// are not all there it knows nothing if they must be there.
func (t *Tables) used(there bool) map[int64]int64 {
	used := map[int64]int64{}
	for i := range t.Chunks() {
		if e := t.Entry(i); e.Stored > 0 && (!there || t.hasStored(i)) {
			p := t.place(i)
			used[p.segment] = max(used[p.segment], addSat(p.offset, e.Stored))
		}
	}
	return used
}

// bodyBytes returns the length of all bodies according to the index.
func (t *Tables) bodyBytes() (n int64) {
	for i := range t.Chunks() {
		n += max(t.Entry(i).Size, 0)
	}
	return n
}

// sort sorts chunks by key, then by number. Most often they already are in that order.
func (t *Tables) sort(list []int32, key func(*packedEntry) int64) {
	compare := func(a, b int32) int {
		return cmp.Or(cmp.Compare(key(&t.entries[a]), key(&t.entries[b])), cmp.Compare(a, b))
	}
	if !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
}

// flaw returns why the bytes of chunk i cannot be read, or nil.
func (t *Tables) flaw(i int) *formats.Error {
	e, p := t.Entry(i), t.place(i)
	if e.Raw < 0 {
		return newDamage(codeOutOfFile, i, place{-1, e.rawAt}, "the byte offset is %d", e.Raw)
	}
	if flaw := e.flaw(); flaw != "" {
		return newDamage(codeIndexEntry, i, place{-1, e.at}, "entry %d: %s", i, flaw)
	}
	size, exists := t.extent(p)
	switch {
	case !exists:
		return newDamage(codeSegmentMissing, i, p, "%s is missing", segmentName(p.segment))
	case p.offset <= size-e.Stored:
		return nil
	case t.segmented:
		return newDamage(codeSegmentTruncated, i, p, "the chunk ends at %d, %s at %d", p.offset+e.Stored, segmentName(p.segment), size)
	}
	return newDamage(codeOutOfFile, i, p, "the chunk ends at %d, the file at %d", addSat(p.offset, e.Stored), size)
}

// hasStored reports whether all stored bytes of chunk i are there. If they are not, flaw says why.
func (t *Tables) hasStored(i int) bool {
	e, p := t.Entry(i), t.place(i)
	size, ok := t.extent(p)
	return ok && e.Raw >= 0 && e.Stored > 0 && p.offset <= size-e.Stored
}

// Body returns the decompressed bytes of chunk i. If the chunk is at fault, newDamage made the
// error.
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

// Metadata returns the stored metadata.
func (t *Tables) Metadata() ([]byte, error) {
	if t.hasEntries && t.Header.MetadataLength <= t.limits.Metadata {
		return t.metadata, nil
	}
	return nil, formats.Errorf(formatName, headerSize, errTruncated, "no metadata")
}
