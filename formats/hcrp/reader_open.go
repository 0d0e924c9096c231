package hcrp

import (
	"context"
	"errors"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// newReader opens a recording that is a file, or a directory if in has no ReaderAt.
func (o Options) newReader(ctx context.Context, in formats.Input) (*Reader, error) {
	limits := o.Limits.withDefaults()
	file, size := in.ReaderAt, in.Size
	if file == nil {
		var err error
		if file, size, err = openPreamble(ctx, in.Files, headerSize+limits.Metadata+limits.Index); err != nil {
			return nil, err
		}
	}
	p, err := readPreamble(ctx, file, size, limits)
	if err != nil {
		return nil, err
	}
	t, err := o.newTables(ctx, p, in)
	if err != nil {
		return nil, err
	}
	return &Reader{t, filesOf(in)}, nil
}

// newTables makes the tables of a recording and looks for what is wrong with them. From in it reads
// only what is beside the recording, or in its directory besides preamble and segments.
func (o Options) newTables(ctx context.Context, p preamble, in formats.Input) (*Tables, error) {
	h, err := parseHeader(p.header)
	if err != nil {
		return nil, err
	}
	t := &Tables{Header: h, Dir: in.ReaderAt == nil, preamble: p, limits: o.Limits.withDefaults()}
	if t.Dir {
		t.segments, t.Finished = findSegments(in.Files)
	}
	var problems problemList
	if err := t.checkMetadata(ctx, &problems); err != nil {
		return nil, err
	}
	t.parseEntries(&problems)
	t.segmented = t.Dir || t.Chunks() > 0 && t.Entry(0).Raw == 0 && t.size <= h.IndexEnd()
	t.sortEntries()
	t.checkEntries(&problems)
	dict, err := findDictionary(ctx, h.Dictionary, o.DictDirs, in.Beside, t.limits)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isUnread(err):
		return nil, err
	case err != nil:
		problems.add(codeDictionary, h.dictionaryOffset(), "dictionary %d: %v", h.Dictionary, err)
	}
	t.dictSum = dict.sum()
	if t.zstd = o.zstd; t.zstd == nil || dict != nil {
		t.zstd = dict.decoder(t.limits.Window)
	}
	t.checkPlaces(&problems)
	t.Problems = problems
	return t, nil
}

// checkMetadata finds out whether the metadata is whole and can be parsed. An error says that there
// is too little memory.
func (t *Tables) checkMetadata(ctx context.Context, problems *problemList) error {
	n := t.Header.MetadataLength
	t.hasEntries = headerSize+n <= t.size
	switch {
	case !t.hasEntries:
		problems.add(codeMetadataTruncated, t.size, "the metadata ends at %d, the file at %d", headerSize+n, t.size)
		return nil
	case n > t.limits.Metadata:
		problems.add(codeMetadata, headerSize, "%d bytes of metadata, %d are the limit", n, t.limits.Metadata)
		return nil
	}
	held, err := t.chargeText(ctx)
	if err != nil {
		return err
	}
	defer held.Free()
	_, sound, err := typedMetadata(t.metadata, t.limits)
	var fe *formats.Error
	switch {
	case errors.As(err, &fe):
		problems.add(codeMetadata, fe.Offset, "%v", fe.Err)
	case !sound:
		problems.add(codeMetadata, headerSize, "a string is not modified UTF-8")
	}
	return nil
}

// parseEntries parses the entries of the index, as many as there are.
func (t *Tables) parseEntries(problems *problemList) {
	if !t.hasEntries {
		return
	}
	h, n := t.Header, int64(len(t.index))
	there := min(h.IndexLength, t.size-h.IndexOffset())
	c := wire.NewCursor(formatName, t.index, h.IndexOffset())
	t.entries = make([]packedEntry, 0, min(h.ChunkCount, n/minEntry))
	for int64(t.Chunks()) < h.ChunkCount && c.Len() > 0 {
		e := parseEntry(c)
		if c.Err() == nil {
			t.entries = append(t.entries, e.pack(h.IndexOffset()))
			continue
		}
		switch {
		case !errors.Is(c.Err(), errTruncated):
			problems.add(codeIndexEntry, e.at, "entry %d: %s", t.Chunks(), reasonOf(c.Err()))
		case n == there:
			problems.add(codeIndexTruncated, e.at, "the index ends inside entry %d", t.Chunks())
		}
	}
	if there < h.IndexLength {
		problems.add(codeIndexTruncated, h.IndexOffset()+there, "%d of %d bytes of the index are there", there, h.IndexLength)
	}
	got := int64(t.Chunks())
	switch {
	case n < there:
		problems.add(codeIndexCount, h.IndexOffset()+n, "%d bytes of index, %d are the limit: only the first %d of %d chunks are shown", there, n, got, h.ChunkCount)
	case got != h.ChunkCount:
		problems.add(codeIndexCount, h.IndexOffset(), "%d entries in the index, the header says %d", got, h.ChunkCount)
	case c.Len() > 0:
		problems.add(codeIndexCount, c.Offset(), "%d bytes of the index behind its %d entries", c.Len(), got)
	}
	t.whole = got == h.ChunkCount && c.Len() == 0 && c.Err() == nil && n == h.IndexLength
}

// sortEntries sorts the chunks that have a range of ticks.
func (t *Tables) sortEntries() {
	t.byTick = make([]int32, 0, len(t.entries))
	for i := range t.entries {
		if e := &t.entries[i]; e.start >= 0 && e.ticks > 0 {
			t.byTick = append(t.byTick, int32(i))
		}
	}
	t.sort(t.byTick, func(e *packedEntry) int64 { return int64(e.start) })
	t.lasts = make([]uint32, 0, len(t.byTick))
	var last uint32
	for _, i := range t.byTick {
		last = max(last, uint32(t.Entry(int(i)).Last()))
		t.lasts = append(t.lasts, last)
	}
}
