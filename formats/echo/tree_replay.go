package echo

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// Replay is the .echoreplay format. It has no extension, because files of that name are shown as
// plain files (docs/tree/README.md section 1). Only their first bytes make them recordings, with
// --sniff.
var Replay = formats.Format{
	Name: replayName, Called: called, Match: matchReplay,
	Open:      openReplay,
	ReadHead:  readReplayHead,
	Scan:      scanReplay,
	Prefixes:  true,
	Single:    []columnar.Table{datedEvents},
	ReadIndex: readReplayIndex,
	Tree:      newReplayTree,
	Summary:   replaySummary,
}

func newReplayTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	h := rec.Head.(*replayHead)
	r := &replayReader{newContainer(h, rec.ReaderAt)}
	return NewTree(Recording{
		Recording: rec, Format: replayName, Text: true, Combat: h.kind == Combat, Grows: rec.Grows && h.layout == layoutText,
		Header: h.headerDocument(rec.Info()), Metadata: nodes.Bytes(nil), NumChunks: UnknownChunks,
		Chunk: func(ctx context.Context, _ *Index, n int, info *ChunkInfo, _ *Chunk) (*Chunk, int64, error) {
			return r.Chunk(ctx, n, info)
		},
		Visit: r.visit,
		Data: func(_ int, info *ChunkInfo) nodes.File {
			return nodes.Section(r, info.Offset, info.Size)
		},
	}, c)
}
