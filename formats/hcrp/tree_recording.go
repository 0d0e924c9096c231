package hcrp

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// A recording is what the directories of one recording share.
type recording struct {
	eventReader
	src formats.Recording

	bodies  *cache.Memo[int, []byte]
	chunks  *cache.Memo[int, *chunk]
	indexes *cache.Memo[struct{}, *indexed] // one, which may leave the cache
	states  *cache.Memo[int64, []byte]
	sizes   *cache.Memo[sizesKey, *docSizes]
	// Documents, which may cost much.
	metadata  *cache.Memo[struct{}, []byte]
	indexText *cache.Memo[struct{}, *indexText]
}

// An indexed is an index and what it gives at once.
type indexed struct {
	index  *index
	groups groups
	ticks  *nodes.Series
	states *nodes.Series
	tracks nodes.Dir
}

// index returns the index. To make it every chunk is decoded.
func (rec *recording) index(ctx context.Context) (*indexed, error) {
	return rec.indexes.Get(ctx, struct{}{})
}

// indexedDir is a directory that the index gives.
func (rec *recording) indexedDir(dir func(*indexed) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		x, err := rec.index(ctx)
		if err != nil {
			return nil, err
		}
		return dir(x), nil
	})
}

// playback plays chunks that are remembered.
func (rec *recording) playback(x *indexed) *playback {
	return &playback{layout: rec.Header.Layout, index: x.index, decode: rec.chunks.Get}
}

// numbered returns a directory with an entry for each chunk.
func (rec *recording) numbered(suffix string, file func(i int) nodes.File) nodes.Dir {
	return &nodes.Series{
		Width: 6, Suffix: suffix, N: rec.Chunks(),
		File: func(n int64) nodes.File { return file(int(n)) },
	}
}

// document lays out compact JSON as a file.
func document(b []byte) []byte {
	return append(nodes.AppendIndented(make([]byte, 0, len(b)*5/4), b), '\n')
}
