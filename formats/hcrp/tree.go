package hcrp

import (
	"context"
	"errors"
	iofs "io/fs"
	"iter"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// New returns the format.
func New(opt Options) formats.Format {
	opt.zstd = wire.NewZstd(opt.Limits.withDefaults().Window)
	return formats.Format{
		Name:       formatName,
		Extensions: []string{extension},
		Match:      match,
		DirFile:    preambleName,
		MatchDir:   matchDir,
		Variant:    opt.variant(),

		TickLength: msPerTick * time.Millisecond,

		Open: func(ctx context.Context, src formats.Source, c *cache.Cache) (nodes.Dir, error) {
			if src.ReaderAt == nil {
				return openDir(ctx, src, opt, c)
			}
			r, err := NewReader(ctx, src, src.Size, src.FS, opt)
			if err != nil {
				return nil, err
			}
			return newTree(ctx, src, r, opt, c, time.Time{})
		},
	}
}

// matchDir tells whether a directory with a preamble is a recording: without
// the magic it may be one that a crash has left, if it has segments.
func matchDir(preamble []byte, names iter.Seq[string]) bool {
	if match(preamble) {
		return true
	}
	for name := range names {
		if _, ok := parseSegmentName(name); ok {
			return true
		}
	}
	return false
}

func match(head []byte) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic
}

// openDir opens a recording in segments. All times in its tree are that of
// the preamble.
func openDir(ctx context.Context, src formats.Source, opt Options, c *cache.Cache) (nodes.Dir, error) {
	if info, err := iofs.Stat(src.FS, preambleName); err == nil {
		src.ModTime = info.ModTime()
	}
	r, err := OpenDir(ctx, src.FS, opt)
	var bad *HeaderError
	if errors.As(err, &bad) {
		return lostTree(ctx, src, opt, c, bad)
	}
	if err != nil {
		return nil, err
	}
	return newTree(ctx, src, r, opt, c, src.ModTime)
}

// A recording is what the directories of one recording share.
type recording struct {
	src    formats.Source
	reader *Reader
	schema *Schema // nil: no events can be told apart

	bodies    *cache.Memo[int, []byte]
	chunks    *cache.Memo[int, *chunk]
	indexes   *cache.Memo[struct{}, *indexed]
	states    *cache.Memo[int64, []byte]
	indexText *cache.Memo[struct{}, *indexText]
	texts     *cache.Memo[string, []byte] // other documents by name
}

// newTree returns the tree of an opened recording. when is the time of its
// entries, zero for that of the recording itself.
func newTree(ctx context.Context, src formats.Source, r *Reader, opt Options, c *cache.Cache, when time.Time) (nodes.Dir, error) {
	schema, err := chooseSchema(ctx, r, src.Name, src.FS, opt.Schemas)
	if err != nil {
		return nil, err
	}
	rec := &recording{src: src, reader: r, schema: schema}
	rec.bodies = cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
		b, err := r.Body(ctx, i)
		return b, int64(cap(b)), err
	})
	rec.chunks = cache.NewMemo(c, rec.loadChunk)
	rec.indexes = rec.newIndexes(c)
	rec.states = cache.NewMemo(c, rec.loadState)
	rec.indexText = cache.NewMemo(c, rec.loadIndexText)
	rec.texts = cache.NewMemo(c, rec.loadText)

	entries := []nodes.Entry{
		{Name: "header.json", File: nodes.JSON(rec.headerDocument)},
		{Name: "index.json", File: nodes.Opened(rec.openIndex)},
		{Name: "metadata", File: rec.metadataFile()},
		{Name: metadataName, File: rec.textFile(metadataName)},
		{Name: "chunks", Dir: rec.numbered("", rec.bodyFile)},
		{Name: "stored", Dir: rec.numbered(".zst", rec.storedFile)},
		rec.rawEntry(),
		rec.snapshotsEntry(),
		rec.exportEntry(),
	}
	if schema == nil {
		entries = append(entries, nodes.Entry{Name: "ticks.hex", Dir: rec.numbered(".txt", rec.hexFile)})
	} else {
		entries = append(entries, rec.eventEntries()...)
	}
	found, err := r.Salvage(ctx, 1)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		s := newSalvage(salvageSource{r.Salvage, r.salvageFile, r.Header, rec.salvageSchemas(), r.zstd, r.limits}, c)
		entries = append(entries, nodes.Entry{Name: "salvage", Dir: s.dir(r.Dir)})
	}
	return timed(when, entries), nil
}

// timed returns a directory whose entries have the given time.
func timed(when time.Time, entries []nodes.Entry) nodes.Dir {
	for i := range entries {
		entries[i].Time = when
	}
	return nodes.List(entries...)
}

// lostTree returns the tree of a directory whose preamble does not open:
// what lies in it, why, and, if the preamble is lost, what its segments hold.
func lostTree(ctx context.Context, src formats.Source, opt Options, c *cache.Cache, bad *HeaderError) (nodes.Dir, error) {
	entries := []nodes.Entry{
		{Name: "raw", Dir: rawDir(src.FS)},
		{Name: "error.txt", File: nodes.Bytes(formats.ErrorText(formatName, bad))},
	}
	segments, _, err := findSegments(src.FS)
	if err != nil {
		return nil, err
	}
	walk := func(ctx context.Context, limit int) ([]frame, error) { return walkSegments(ctx, segments, nil, limit) }
	found, err := walk(ctx, 1)
	if err != nil {
		return nil, err
	}
	if bad.Code == "header.truncated" && len(found) > 0 {
		schemas, err := builtin()
		if err != nil {
			return nil, err
		}
		r := &Reader{segments: segments}
		s := newSalvage(salvageSource{walk, r.salvageFile, &Header{Layout: Published}, schemas, opt.zstd, opt.Limits.withDefaults()}, c)
		entries = append(entries, nodes.Entry{Name: "salvage", Dir: s.dir(true)})
	}
	return timed(src.ModTime, entries), nil
}
