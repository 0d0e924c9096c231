package butter

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/echovr"
	"recfs/nodes"
)

// Options change what is made of a recording. The zero value works.
type Options struct {
	MaxChunk int64 // greatest size of a decompressed chunk; 0: 256 MiB
}

// New returns the format.
func New(o Options) formats.Format {
	return formats.Format{
		Name: name, Extensions: []string{".butter"}, Match: Match, Variant: fmt.Sprint(o.MaxChunk),
		Open: func(ctx context.Context, src formats.Input, c *cache.Cache) (nodes.Dir, error) {
			return open(ctx, src, c, o)
		},
	}
}

func open(ctx context.Context, src formats.Input, c *cache.Cache, o Options) (nodes.Dir, error) {
	r, err := NewReader(ctx, src, src.Size, o.MaxChunk)
	if err != nil {
		return nil, err
	}
	encoder := echovr.NewEncoder(r.Match())
	return echovr.NewTree(echovr.Recording{
		Format: name, Source: src, Combat: r.Header.kind() == combat,
		Header:    r.headerDocument(src.Info()),
		Metadata:  nodes.Section(src, 0, r.Header.Size),
		NumChunks: len(r.Header.Chunks),
		Variant:   strconv.FormatInt(r.maxChunk, 10),
		Scan: func(ctx context.Context, in formats.ReaderAt) (*echovr.Index, error) {
			return r.over(in).Scan(ctx)
		},
		Chunk: func(ctx context.Context, n int, info *echovr.ChunkInfo) (*echovr.Chunk, int64, error) {
			return r.Chunk(ctx, n, info.State, encoder)
		},
		Sound: func(info *echovr.ChunkInfo) bool {
			_, err := decodeCarry(info.State)
			return err == nil || info.Ticks() == 0
		},
		Data: func(n int, info *echovr.ChunkInfo) nodes.File { return r.dataFile(src, n, info.Size) },
	}, c), nil
}

// dataFile returns chunks/N: the stored bytes, or those that they decompress to.
func (r *Reader) dataFile(src formats.Input, n int, size int64) nodes.File {
	e := r.Header.Chunks[n]
	if r.Header.Compression == stored {
		return nodes.Section(src, e.Offset, e.Size)
	}
	return nodes.Sized(size, func(ctx context.Context) ([]byte, error) {
		b, bad, err := r.chunkBytes(ctx, n)
		if bad != nil {
			return nil, errors.New(bad.msg)
		}
		return b, err
	})
}
