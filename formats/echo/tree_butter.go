package echo

import (
	"context"
	"errors"
	"fmt"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/nodes"
)

// NewButter returns the format.
func NewButter(o Options) formats.Format {
	return formats.Format{
		Name: butterName, Called: called, Extensions: []string{".butter"}, Match: matchButter, Variant: fmt.Sprint(o.MaxChunk),
		Open:      o.open,
		ReadHead:  o.readHead,
		Scan:      scanButter,
		Prefixes:  true,
		Single:    []columnar.Table{datedEvents},
		ReadIndex: readButterIndex,
		Tree:      newButterTree,
		Summary:   butterSummary,
	}
}

func newButterTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	h := rec.Head.(*butterHead)
	r := &butterReader{h, rec.ReaderAt}
	encoder := NewEncoder(h.Match())
	return NewTree(Recording{
		Recording: rec, Format: butterName, Combat: h.Header.kind() == combat,
		Grows:     rec.Grows && h.Header.settled(rec.Size),
		Header:    h.headerDocument(rec.Info()),
		Match:     h.Match(),
		Metadata:  nodes.Bytes(h.Header.raw),
		NumChunks: len(h.Header.Chunks),
		Chunk: func(ctx context.Context, x *Index, n int, part *ChunkInfo, before *Chunk) (*Chunk, int64, error) {
			return r.Chunk(ctx, x, n, int(part.FirstTick-r.tick(n)), before, encoder)
		},
		Visit: r.visit,
		Data:  func(n int, info *ChunkInfo) nodes.File { return r.dataFile(rec.Input, n, info.Size) },
	}, c)
}

// settled reports whether a file of that size has the whole first chunk, which tells the layouts of
// version 3 apart.
func (h *Header) settled(size int64) bool {
	return len(h.Chunks) > 0 && h.Chunks[0].End() <= size
}

// dataFile returns chunks/N: the stored bytes, decompressed if they are compressed.
func (r *butterReader) dataFile(src formats.Input, n int, size int64) nodes.File {
	e := r.Header.Chunks[n]
	if r.Header.Compression == stored {
		return nodes.Section(src, e.Offset, e.Size)
	}
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		t, bad, err := r.chunkText(ctx, n)
		switch {
		case err != nil:
			return nil, err
		case bad != nil:
			return nil, errors.New(bad.msg)
		}
		return t.content(), nil
	})
}

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
	r := newContainer(h, rec.ReaderAt)
	return NewTree(Recording{
		Recording: rec, Format: replayName, Text: true, Combat: h.kind == Combat, Grows: rec.Grows && h.layout == layoutText,
		Header: h.headerDocument(rec.Info()), Match: h.Match(), Metadata: nodes.Bytes(nil), NumChunks: UnknownChunks,
		Chunk: func(ctx context.Context, _ *Index, n int, info *ChunkInfo, _ *Chunk) (*Chunk, int64, error) {
			return r.Chunk(ctx, n, info)
		},
		Visit: r.visit,
		Data: func(_ int, info *ChunkInfo) nodes.File {
			return nodes.Section(r, info.Offset, info.Size)
		},
	}, c)
}
