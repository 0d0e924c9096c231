package hcrp

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// firstRead is what opening reads at once: it covers header, metadata and
// index of nearly every recording.
const firstRead = 256 << 10

// A Reader reads one recording: header and tables when it is made, chunks on
// demand. It is safe for concurrent use.
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

// A place is where bytes lie: in a segment, or in the file.
type place struct {
	segment int64 // -1: the file
	offset  int64
}

func (p place) segmentOrNil() *int {
	if p.segment < 0 {
		return nil
	}
	n := int(p.segment)
	return &n
}

// Chunks returns how many chunks there are.
func (r *Reader) Chunks() int { return len(r.entries) }

// Entry returns what the index says of chunk i.
func (r *Reader) Entry(i int) Entry { return r.entries[i].unpack(r.Header.IndexOffset()) }

// NewReader opens a recording that is one file. fsys is where it was found
// and may be nil. An error of the recording is a *HeaderError.
func NewReader(ctx context.Context, r formats.ReaderAt, size int64, fsys iofs.FS, opt Options) (*Reader, error) {
	rd := &Reader{file: r, size: size, limits: opt.Limits.withDefaults()}
	if err := rd.readPreamble(ctx, opt, fsys); err != nil {
		return nil, err
	}
	return rd, nil
}

// OpenDir opens a recording in segments.
func OpenDir(ctx context.Context, fsys iofs.FS, opt Options) (*Reader, error) {
	rd := &Reader{Dir: true, limits: opt.Limits.withDefaults()}
	var err error
	if rd.segments, rd.Finished, err = findSegments(fsys); err != nil {
		return nil, err
	}
	preamble, err := readPreambleFile(ctx, fsys, headerSize+rd.limits.Metadata+rd.limits.Index)
	if err != nil {
		return nil, err
	}
	if isZero(preamble) && len(preamble) > 0 {
		return nil, headerError("header.truncated", 0, errTruncated, "%s holds nothing but zeroes", preambleName)
	}
	rd.file, rd.size = formats.BytesReader(preamble), int64(len(preamble))
	if err := rd.readPreamble(ctx, opt, fsys); err != nil {
		return nil, err
	}
	return rd, nil
}

// readPreamble reads header, metadata and index and looks for what is wrong
// with them.
func (r *Reader) readPreamble(ctx context.Context, opt Options, fsys iofs.FS) error {
	head := make([]byte, min(r.size, firstRead))
	if err := readFull(ctx, r.file, head, 0); err != nil {
		return err
	}
	r.head = slices.Clone(head[:min(len(head), headerSize)])
	h, err := parseHeader(r.head)
	if err != nil {
		return err
	}
	r.Header = h
	var problems problemList
	if err := r.checkMetadata(ctx, head, &problems); err != nil {
		return err
	}
	if err := r.readEntries(ctx, head, &problems); err != nil {
		return err
	}
	r.segmented = r.Dir || r.Chunks() > 0 && r.Entry(0).Raw == 0
	r.sortEntries()
	r.checkEntries(&problems)
	dict, err := findDictionary(h.Dictionary, opt.DictDirs, fsys, r.limits)
	if err != nil {
		problems.add(codeDictionary, h.dictionaryOffset(), "dictionary %d: %v", h.Dictionary, err)
	}
	r.dictSum = dict.sum()
	if r.zstd = opt.zstd; r.zstd == nil || dict != nil {
		r.zstd = wire.NewZstd(r.limits.Window, dict.options()...)
	}
	r.checkPlaces(&problems)
	r.Problems = problems
	return nil
}

// part returns n bytes at off, of head if they are there: whoever keeps some of
// them keeps all of it.
func (r *Reader) part(ctx context.Context, head []byte, off, n int64) ([]byte, error) {
	if off+n <= int64(len(head)) {
		return head[off : off+n], nil
	}
	b := make([]byte, n)
	return b, readFull(ctx, r.file, b, off)
}

// checkMetadata finds out whether the metadata is whole and parses.
func (r *Reader) checkMetadata(ctx context.Context, head []byte, problems *problemList) error {
	n := r.Header.MetadataLength
	r.hasEntries = headerSize+n <= r.size
	switch {
	case !r.hasEntries:
		problems.add(codeMetadataTruncated, r.size, "the metadata ends at %d, the file at %d", headerSize+n, r.size)
		return nil
	case n > r.limits.Metadata:
		problems.add(codeMetadata, headerSize, "%d bytes of metadata, %d are the limit", n, r.limits.Metadata)
		return nil
	}
	b, err := r.part(ctx, head, headerSize, n)
	if err != nil {
		return err
	}
	_, sound, err := typedMetadata(b, r.limits)
	var fe *formats.Error
	switch {
	case errors.As(err, &fe):
		problems.add(codeMetadata, fe.Offset, "%v", fe.Err)
	case !sound:
		problems.add(codeMetadata, headerSize, "a string is not modified UTF-8")
	}
	return nil
}

// Metadata returns the stored metadata.
func (r *Reader) Metadata(ctx context.Context) ([]byte, error) {
	if n := r.Header.MetadataLength; r.hasEntries && n <= r.limits.Metadata {
		return r.part(ctx, nil, headerSize, n)
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

// readEntries parses the entries of the index, as many as there are.
func (r *Reader) readEntries(ctx context.Context, head []byte, problems *problemList) error {
	if !r.hasEntries {
		return nil
	}
	h := r.Header
	there := min(h.IndexLength, r.size-h.IndexOffset())
	n := min(there, r.limits.Index)
	b, err := r.part(ctx, head, h.IndexOffset(), n)
	if err != nil {
		return err
	}
	c := wire.NewCursor(formatName, b, h.IndexOffset())
	r.entries = make([]packedEntry, 0, min(h.ChunkCount, n/minEntry))
	for int64(r.Chunks()) < h.ChunkCount && c.Len() > 0 {
		e := parseEntry(c)
		if c.Err() == nil {
			r.entries = append(r.entries, e.pack(h.IndexOffset()))
			continue
		}
		switch {
		case !errors.Is(c.Err(), errTruncated):
			problems.add(codeIndexEntry, e.at, "entry %d: %s", r.Chunks(), reasonOf(c.Err()))
		case n == there:
			problems.add(codeIndexTruncated, e.at, "the index ends inside entry %d", r.Chunks())
		}
	}
	if there < h.IndexLength {
		problems.add(codeIndexTruncated, h.IndexOffset()+there, "%d of %d bytes of the index are there", there, h.IndexLength)
	}
	got := int64(r.Chunks())
	switch {
	case n < there:
		problems.add(codeIndexCount, h.IndexOffset()+n, "%d bytes of index, %d are the limit: only the first %d of %d chunks are shown", there, n, got, h.ChunkCount)
	case got != h.ChunkCount:
		problems.add(codeIndexCount, h.IndexOffset(), "%d entries in the index, the header says %d", got, h.ChunkCount)
	case c.Len() > 0:
		problems.add(codeIndexCount, c.Offset(), "%d bytes of the index behind its %d entries", c.Len(), got)
	}
	r.whole = got == h.ChunkCount && c.Len() == 0 && c.Err() == nil && n == h.IndexLength
	return nil
}

// place returns where the stored bytes of chunk i begin.
func (r *Reader) place(i int) place {
	raw := r.Entry(i).Raw
	if r.segmented {
		return place{raw >> 32, raw & 0xffffffff}
	}
	return place{-1, raw}
}

// extent returns how many bytes the file or segment of a place has, and
// whether it is there at all.
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

// hasStored tells whether all stored bytes of chunk i are there.
func (r *Reader) hasStored(i int) bool {
	e, p := r.Entry(i), r.place(i)
	size, ok := r.extent(p)
	return ok && e.Raw >= 0 && e.Stored > 0 && p.offset <= size-e.Stored
}

// readFull reads len(b) bytes at off.
func readFull(ctx context.Context, r formats.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(ctx, b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = errTruncated
	}
	return err
}
