package hcrp

import (
	"context"
	"errors"
	iofs "io/fs"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// firstRead is what opening reads at once: it covers header, metadata and index of nearly every
// recording.
const firstRead = 256 << 10

// NewReader opens a recording that is one file. fsys is where it was found and may be nil. An error
// of the recording is a *HeaderError.
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
		return nil, headerError(codeHeaderTruncated, 0, errTruncated, "%s holds nothing but zeroes", preambleName)
	}
	rd.file, rd.size = formats.BytesReader(preamble), int64(len(preamble))
	if err := rd.readPreamble(ctx, opt, fsys); err != nil {
		return nil, err
	}
	return rd, nil
}

// readPreamble reads header, metadata and index and looks for what is wrong with them.
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
	if ctx.Err() != nil {
		return ctx.Err()
	}
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
	b, err := r.bytes(ctx, head, headerSize, n)
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

// readEntries parses the entries of the index, as many as there are.
func (r *Reader) readEntries(ctx context.Context, head []byte, problems *problemList) error {
	if !r.hasEntries {
		return nil
	}
	h := r.Header
	there := min(h.IndexLength, r.size-h.IndexOffset())
	n := min(there, r.limits.Index)
	b, err := r.bytes(ctx, head, h.IndexOffset(), n)
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

// sortEntries sorts the chunks that have a range of ticks.
func (r *Reader) sortEntries() {
	r.byTick = make([]int32, 0, len(r.entries))
	for i := range r.entries {
		if e := &r.entries[i]; e.start >= 0 && e.ticks > 0 {
			r.byTick = append(r.byTick, int32(i))
		}
	}
	r.sort(r.byTick, func(e *packedEntry) int64 { return int64(e.start) })
	r.lasts = make([]uint32, 0, len(r.byTick))
	var last uint32
	for _, i := range r.byTick {
		last = max(last, uint32(r.Entry(int(i)).Last()))
		r.lasts = append(r.lasts, last)
	}
}
