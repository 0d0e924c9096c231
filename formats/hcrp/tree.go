package hcrp

import (
	"context"
	"errors"
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

		OpenTree: func(ctx context.Context, src formats.Input, c *cache.Cache) (nodes.Dir, error) {
			if src.ReaderAt == nil {
				return openDir(ctx, src, opt, c)
			}
			r, err := NewReader(ctx, src, src.Size, formats.InContext(ctx, src.FS), opt)
			if err != nil {
				return nil, err
			}
			entries, err := recordingEntries(ctx, src, r, opt, c)
			return nodes.List(entries...), err
		},
	}
}

// matchDir reports whether a directory with a preamble is a recording: without the magic it may be
// one that a crash has left, if it has segments.
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

// openDir opens a recording in segments. All times in its tree are that of the Input, which is the
// preamble's.
func openDir(ctx context.Context, src formats.Input, opt Options, c *cache.Cache) (nodes.Dir, error) {
	r, err := OpenDir(ctx, src.FS, opt)
	var bad *HeaderError
	if errors.As(err, &bad) {
		return lostTree(ctx, src, opt, c, bad)
	}
	if err != nil {
		return nil, err
	}
	entries, err := recordingEntries(ctx, src, r, opt, c)
	return timed(src.ModTime, entries), err
}

// recordingEntries returns the entries of an opened recording.
func recordingEntries(ctx context.Context, src formats.Input, r *Reader, opt Options, c *cache.Cache) ([]nodes.Entry, error) {
	schema, err := chooseSchema(ctx, r, src.Name, formats.InContext(ctx, src.FS), opt.Schemas)
	if err != nil {
		return nil, err
	}
	rec := newRecording(src, eventReader{r, schema}, c)
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
		entries = append(entries, rec.eventEntries(c)...)
	}
	files, from := r.salvageFiles()
	salvage, err := salvageEntry(ctx, salvageSource{files, from, r.zstd, []eventFormat{r.eventFormat(schema)}}, c)
	return append(entries, salvage), err
}

// eventEntries returns what is only there if a schema fits.
func (rec *recording) eventEntries(c *cache.Cache) []nodes.Entry {
	return []nodes.Entry{
		{Name: "lines", Dir: rec.numbered(".jsonl", rec.linesFile)},
		{Name: "ticks", Dir: &nodes.Timed{Dir: rec.ticksDir(), Suffix: ".json", Clock: rec.clock(), Listed: true}},
		{Name: "states", Dir: &nodes.Timed{
			Dir: rec.indexedDir(func(s *indexed) nodes.Dir { return s.states }), Suffix: ".json", Clock: rec.clock(),
		}},
		{Name: "tracks", Dir: rec.indexedDir(func(s *indexed) nodes.Dir { return s.tracks })},
		{Name: markersName, File: rec.textFile(markersName)},
		{Name: "tables", Dir: rec.tablesDir(c)},
	}
}

// timed returns a directory whose entries have the given time.
func timed(when time.Time, entries []nodes.Entry) nodes.Dir {
	for i := range entries {
		entries[i].Time = when
	}
	return nodes.List(entries...)
}

// lostTree returns the tree of a directory whose preamble does not open: what lies in it, why, and,
// if the preamble is lost, what its segments hold.
func lostTree(ctx context.Context, src formats.Input, opt Options, c *cache.Cache, bad *HeaderError) (nodes.Dir, error) {
	why := formats.ErrorProblem(bad)
	entries := []nodes.Entry{
		{Name: "raw", Dir: rawDir(src.FS)},
		{Name: "error.txt", File: nodes.Bytes(why.ErrorText(formatName))},
	}
	if bad.Code == codeHeaderTruncated {
		salvage, err := lostSalvage(ctx, src, opt, c)
		if err != nil {
			return nil, err
		}
		entries = append(entries, salvage)
	}
	return timed(src.ModTime, entries), nil
}

// lostSalvage returns salvage/ of segments without a preamble: what they hold is taken for chunks
// of the published layout, with any of the built-in schemas.
func lostSalvage(ctx context.Context, src formats.Input, opt Options, c *cache.Cache) (nodes.Entry, error) {
	segments, _, err := findSegments(src.FS)
	if err != nil {
		return nodes.Entry{}, err
	}
	schemas, err := builtin()
	if err != nil {
		return nodes.Entry{}, err
	}
	var try []eventFormat
	for _, s := range schemas {
		try = append(try, eventFormat{Published, s, opt.Limits.withDefaults()})
	}
	return salvageEntry(ctx, salvageSource{files: segments, zstd: opt.zstd, formats: try}, c)
}
