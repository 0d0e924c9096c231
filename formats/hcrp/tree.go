package hcrp

import (
	"context"
	"iter"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/wire"
	"recfs/formats/views"
	"recfs/nodes"
)

// New returns the format.
func New(opt Options) formats.Format {
	opt.zstd = wire.NewZstd(opt.Limits.withDefaults().Window)
	return formats.Format{
		Name:       formatName,
		Called:     "minecraft",
		Extensions: []string{extension},
		Match:      match,
		Segments:   &formats.Segments{File: preambleName, Match: matchDir},
		Compact:    compact,
		Variant:    opt.variant(),
		Open:       opt.open,
		ReadHead:   opt.readHead,
		Scan:       scan,
		Prefixes:   true,
		Single:     []columnar.Table{{Name: markersTable, Columns: markersColumns}},
		ReadIndex:  readIndex,
		Keep:       isWorthSaving,
		Beside:     &formats.Beside{Sum: beside, Files: besideFiles, Elsewhere: opt.DictDirs},
		Tree:       newTree,
		Summary:    summary,
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

// newTree declares the views of a recording.
func newTree(src formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	if l, ok := src.Head.(*ruin); ok {
		return l.dir(src.Input, c), nil
	}
	rec := newRecording(src, c)
	game := views.Game[index]{
		Header:   rec.headerDocument,
		Index:    rec.Text("index.json", 0, rec.indexText),
		Metadata: rec.metadataFile(),
		Files: []nodes.Entry{
			{Name: "metadata.json", File: nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.typed.Get(ctx, struct{}{}) })},
			{Name: "chunks", Dir: rec.numbered("", rec.bodyFile)},
			{Name: "stored", Dir: rec.numbered(".zst", rec.storedFile)},
			rec.snapshotsEntry(),
			rec.exportEntry(),
		},
	}
	if rec.Tables.Dir {
		game.Raw = rawDir(src.FS)
	}
	if rec.schema == nil {
		game.Files = append(game.Files, nodes.Entry{Name: "ticks.hex", Dir: rec.numbered(".txt", rec.hexFile)})
	} else {
		game.Ticks, game.States, game.Tables, game.Play = rec.ticks(), rec.states(), rec.tables, rec.playing()
		game.Files = append(game.Files,
			nodes.Entry{Name: "lines", Dir: rec.numbered(".jsonl", rec.chunkFile(func(c *chunk) ([]byte, error) { return c.Lines(), nil }))},
			nodes.Entry{Name: "tracks", Dir: rec.Listing("tracks", rec.trackList)},
			nodes.Entry{Name: "markers.json", File: rec.Text("markers.json", 0, rec.markersText)},
		)
	}
	if src.Head.(*head).salvaging {
		game.Files = append(game.Files, salvageEntry(rec.salvage(), c))
	}
	return rec.Tree.Dir(game)
}

// dir returns that of a recording whose preamble does not open: what lies in it, why, and, if the
// preamble is lost, what its segments hold.
func (l *ruin) dir(in formats.Input, c *cache.Cache) nodes.Dir {
	why := formats.ErrorProblem(l.why)
	entries := []nodes.Entry{
		{Name: "raw", Dir: rawDir(in.FS)},
		{Name: "error.txt", File: nodes.Bytes(why.ErrorText(formatName))},
	}
	if l.salvage != nil {
		entries = append(entries, salvageEntry(l.salvage, c))
	}
	return nodes.List(in.Timed(entries)...)
}
