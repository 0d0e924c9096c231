package hcrp

import (
	"context"
	iofs "io/fs"
	"iter"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// New returns the format.
func New(opt Options) formats.Format {
	opt.zstd = wire.NewZstd(opt.Limits.withDefaults().Window)
	return formats.Format{
		Name:        formatName,
		Extensions:  []string{extension},
		Match:       match,
		DirFile:     preambleName,
		MatchDir:    matchDir,
		Variant:     opt.variant(),
		Open:        opt.open,
		ReadHead:    opt.readHead,
		Scan:        scan,
		Prefixes:    true,
		ReadIndex:   readIndex,
		Keep:        isWorthSaving,
		Beside:      beside,
		BesideFiles: besideFiles,
		Elsewhere:   opt.DictDirs,
		Tree:        newTree,
		Summary:     summary,
		Compact:     opt.compact,
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

// newTree is the Tree of the format. All times in that of a directory are that of the Input, which is the
// preamble's.
func newTree(src formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	var entries []nodes.Entry
	var tables []columnar.Maker
	if l, ok := src.Head.(*lost); ok {
		entries = l.entries(src.FS, c)
	} else {
		rec := newRecording(src, c)
		if rec.schema != nil {
			tables = rec.makers()
		}
		entries = rec.entries(c, tables)
	}
	if src.ReaderAt == nil {
		for i := range entries {
			entries[i].Time = src.ModTime
		}
	}
	return nodes.List(entries...), tables
}

// entries returns those of an opened recording.
func (rec *recording) entries(c *cache.Cache, tables []columnar.Maker) []nodes.Entry {
	entries := []nodes.Entry{
		{Name: "header.json", File: nodes.JSON(rec.headerDocument)},
		formats.IndexEntry(rec.tree.Text("index.json", 0, rec.indexText)),
		{Name: "metadata", File: rec.metadataFile()},
		{Name: "metadata.json", File: nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.metadata.Get(ctx, struct{}{}) })},
		{Name: "chunks", Dir: rec.numbered("", rec.bodyFile)},
		{Name: "stored", Dir: rec.numbered(".zst", rec.storedFile)},
		rec.rawEntry(),
		rec.snapshotsEntry(),
		rec.exportEntry(),
	}
	if rec.schema == nil {
		entries = append(entries, nodes.Entry{Name: "ticks.hex", Dir: rec.numbered(".txt", rec.hexFile)})
	} else {
		entries = append(entries, rec.eventEntries(c, tables)...)
	}
	if rec.src.Head.(*head).salvaging {
		entries = append(entries, salvageEntry(rec.salvage(), c))
	}
	return entries
}

// eventEntries returns what is only there if a schema fits.
func (rec *recording) eventEntries(c *cache.Cache, tables []columnar.Maker) []nodes.Entry {
	return []nodes.Entry{
		{Name: "lines", Dir: rec.numbered(".jsonl", rec.linesFile)},
		{Name: "ticks", Dir: rec.ticksDir()},
		{Name: "states", Dir: rec.statesDir()},
		{Name: "tracks", Dir: rec.tree.Listing("tracks", rec.trackList)},
		{Name: "markers.json", File: nodes.Opened(rec.openMarkers)},
		{Name: "tables", Dir: parquet.Dir(c, rec.src.Input, formatName, tables)},
	}
}

// entries returns those of a directory whose preamble does not open: what lies in it, why, and, if the
// preamble is lost, what its segments hold.
func (l *lost) entries(dir iofs.FS, c *cache.Cache) []nodes.Entry {
	why := formats.ErrorProblem(l.why)
	entries := []nodes.Entry{
		{Name: "raw", Dir: rawDir(dir)},
		{Name: "error.txt", File: nodes.Bytes(why.ErrorText(formatName))},
	}
	if l.salvage != nil {
		entries = append(entries, salvageEntry(l.salvage, c))
	}
	return entries
}
