package echoreplay

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/echovr"
	"recfs/nodes"
)

// Format is the .echoreplay format. It has no extension, because files of that name are shown as
// they are (docs/tree/README.md section 1): a recording is one by its first bytes, where these are
// asked for.
var Format = formats.Format{
	Name: name, Match: Match,
	Open:      open,
	ReadHead:  readHead,
	Scan:      scanRecording,
	Prefixes:  true,
	ReadIndex: readIndex,
	Tree:      newTree,
	Summary:   summary,
}

func newTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	h := rec.Head.(*head)
	r := &Reader{newContainer(h, rec.ReaderAt)}
	return echovr.NewTree(echovr.Recording{
		Recording: rec, Format: name, Combat: h.kind == echovr.Combat, Grows: rec.Grows && h.layout == layoutText,
		Header: h.headerDocument(rec.Info()), Metadata: nodes.Bytes(nil), NumChunks: echovr.UnknownChunks,
		Chunk: func(ctx context.Context, _ *echovr.Index, n int, info *echovr.ChunkInfo, _ *echovr.Chunk) (*echovr.Chunk, int64, error) {
			return r.Chunk(ctx, n, info)
		},
		Visit: r.visit,
		Data: func(_ int, info *echovr.ChunkInfo) nodes.File {
			return nodes.Section(r, info.Offset, info.Size)
		},
	}, c)
}
