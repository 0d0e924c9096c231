package hcrp

import (
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes"
)

// A recording is what the directories of one recording share.
type recording struct {
	*Reader
	*views.Tree[index]

	bodies    *cache.Memo[int, []byte]
	chunks    *cache.Memo[int, *chunk]
	documents *cache.Memo[int64, []byte]    // of states/
	typed     *cache.Memo[struct{}, []byte] // metadata.json
}

// newRecording returns a recording that opened.
func newRecording(src formats.Recording, c *cache.Cache) *recording {
	r := src.Head.(*head).reader(src.Input)
	rec := &recording{Reader: r, Tree: views.New[index](formatName, src, c)}
	rec.bodies = cache.NewMemo(c, func(ctx context.Context, i int) ([]byte, int64, error) {
		b, err := r.Body(ctx, i)
		return b, int64(cap(b)), err
	}).Peak(r.bodyPeak)
	rec.chunks = cache.NewMemo(c, func(ctx context.Context, i int) (*chunk, int64, error) {
		ch, err := r.decode(ctx, i)
		if err != nil {
			return nil, 0, err
		}
		return ch, ch.weight(), nil
	})
	rec.documents = cache.NewMemo(c, rec.loadState)
	rec.typed = cache.NewMemo(c, rec.loadMetadata)
	return rec
}

func (rec *recording) loadMetadata(ctx context.Context, _ struct{}) ([]byte, int64, error) {
	held, err := rec.chargeText(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	b, err := rec.Tables.Metadata()
	if err == nil {
		b, _, err = typedMetadata(b, rec.limits)
	}
	if err != nil {
		return nil, 0, err
	}
	b = document(b)
	return b, int64(cap(b)), nil
}

// playback plays chunks that are remembered.
func (rec *recording) playback(x *index) *playback {
	return &playback{layout: rec.Header.Layout, index: x, decode: rec.chunks.Get}
}

// numbered returns a directory with an entry for each chunk.
func (rec *recording) numbered(suffix string, file func(i int) nodes.File) nodes.Dir {
	return &nodes.Series{
		Width: 6, Suffix: suffix, N: rec.Chunks(),
		File: func(n int64) nodes.File { return file(int(n)) },
	}
}

// chunkFile returns what makes the file of a chunk.
func (rec *recording) chunkFile(content func(*chunk) ([]byte, error)) func(i int) nodes.File {
	return func(i int) nodes.File {
		return nodes.Func(func(ctx context.Context) ([]byte, error) {
			c, err := rec.chunks.Get(ctx, i)
			if err != nil {
				return nil, err
			}
			return content(c)
		})
	}
}

// document lays out compact JSON as a file.
func document(b []byte) []byte {
	return append(jsonenc.AppendIndented(make([]byte, 0, len(b)*5/4), b), '\n')
}
