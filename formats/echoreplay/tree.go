package echoreplay

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/echovr"
	"recfs/nodes"
)

// Format is the .echoreplay format. It has no extension, because files of that name are shown as
// they are (docs/tree/README.md section 1): a recording is one by its first bytes, where these are
// asked for.
var Format = formats.Format{Name: name, Match: Match, Open: open}

func open(ctx context.Context, src formats.Input, c *cache.Cache) (nodes.Dir, error) {
	r, err := NewReader(ctx, src, src.Size)
	if err != nil {
		return nil, err
	}
	return echovr.NewTree(echovr.Recording{
		Format: name, Source: src, Combat: r.first.Kind == echovr.Combat,
		Header: r.headerDocument(src.Info()), Metadata: nodes.Bytes(nil), NumChunks: echovr.UnknownChunks,
		Scan: func(ctx context.Context, in formats.ReaderAt) (*echovr.Index, error) {
			return r.over(in).Scan(ctx)
		},
		Chunk: func(ctx context.Context, n int, info *echovr.ChunkInfo) (*echovr.Chunk, int64, error) {
			return r.Chunk(ctx, n, info)
		},
		Sound: func(info *echovr.ChunkInfo) bool { return info.Stored <= chunkText+maxLine && info.Size == info.Stored },
		Data: func(_ int, info *echovr.ChunkInfo) nodes.File {
			return nodes.Sized(info.Size, func(ctx context.Context) ([]byte, error) { return r.chunkText(ctx, info) })
		},
	}, c), nil
}
