package echovr

import (
	"context"
	"fmt"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// A Recording is what the two formats do differently, for the tree that they share.
type Recording struct {
	Format   string
	Source   formats.Input
	Combat   bool // a map without a disc
	Header   any  // header.json
	Metadata nodes.File

	// NumChunks is how many chunks there are, or UnknownChunks if only the index knows.
	NumChunks int

	// Variant is of the options that the index depends on; it may be empty.
	Variant string

	// Scan makes the index of the recording that it reads from r, which has the bytes of Source.
	Scan func(ctx context.Context, r formats.ReaderAt) (*Index, error)

	// Chunk decodes chunk n, given what the index knows of it, and returns how many bytes it keeps
	// alive.
	Chunk func(ctx context.Context, n int, info *ChunkInfo) (*Chunk, int64, error)

	// Sound reports whether a chunk of a saved index can be used; nil: every one can.
	Sound func(info *ChunkInfo) bool

	// Data returns the file that shows the bytes of chunk n, which are readable.
	Data func(n int, info *ChunkInfo) nodes.File
}

// A Tree is the directory of one recording.
type Tree struct {
	rec    Recording
	index  *cache.Memo[struct{}, *indexed]
	chunks *cache.Memo[int, *Chunk]
	pieces *cache.Memo[pieceKey, []byte]
}

// indexed is an index with the directories made of it.
type indexed struct {
	*Index
	seal formats.Seal

	ticks, export nodes.Dir
}

func (x *indexed) encode() []byte { return x.Encode(x.seal) }

// UnknownChunks is a NumChunks that only the index knows.
const UnknownChunks = -1

// NewTree returns the tree of a recording.
func NewTree(rec Recording, c *cache.Cache) nodes.Dir {
	t := &Tree{rec: rec}
	t.index = cache.NewMemo(c, t.loadIndex).Durable(t.indexName, (*indexed).encode, t.resumeIndex)
	t.chunks = cache.NewMemo(c, t.loadChunk)
	t.pieces = cache.NewMemo(c, t.loadPiece)
	return nodes.List(
		nodes.Entry{Name: "header.json", File: nodes.JSON(func(context.Context) (any, error) { return rec.Header, nil })},
		nodes.Entry{Name: "index.json", File: nodes.JSON(func(ctx context.Context) (any, error) {
			x, err := t.Index(ctx)
			if err != nil {
				return nil, err
			}
			return x.document(rec.Format), nil
		})},
		nodes.Entry{Name: "raw", File: rec.Source.RawFile()},
		nodes.Entry{Name: "metadata", File: rec.Metadata},
		nodes.Entry{Name: "chunks", Dir: t.series("", t.dataFile)},
		nodes.Entry{Name: "lines", Dir: t.series(".jsonl", t.linesFile)},
		nodes.Entry{Name: "ticks", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
			x, err := t.index.Get(ctx, struct{}{})
			if err != nil {
				return nil, err
			}
			return x.ticks, nil
		})},
		nodes.Entry{Name: "scores.json", File: t.file(func(x *Index) (nodes.File, error) {
			return nodes.Func(func(context.Context) ([]byte, error) {
				return append(nodes.AppendIndented(nil, x.Scores), '\n'), nil
			}), nil
		})},
		nodes.Entry{Name: "events.jsonl", File: t.file(func(x *Index) (nodes.File, error) {
			return nodes.Bytes(x.Events), nil
		})},
		nodes.Entry{Name: "export", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
			x, err := t.index.Get(ctx, struct{}{})
			if err != nil {
				return nil, err
			}
			return x.export, nil
		})},
	)
}

// Index returns the index, scanning the recording if it is not known.
func (t *Tree) Index(ctx context.Context) (*Index, error) {
	x, err := t.index.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	return x.Index, nil
}

func (t *Tree) loadIndex(ctx context.Context, _ struct{}) (*indexed, int64, error) {
	tally := formats.NewTally(t.rec.Source)
	x, err := t.rec.Scan(ctx, tally)
	if err != nil {
		return nil, 0, err
	}
	seal, err := tally.Seal(ctx, t.rec.Source.Stamp, t.rec.Source.Size)
	if err != nil {
		return nil, 0, err
	}
	return t.withDirs(x, seal), x.cost(), nil
}

func (t *Tree) indexName(struct{}) string {
	return t.rec.Source.IndexName(t.rec.Format, t.rec.Variant)
}

// resumeIndex returns a saved index if it is of the bytes that the recording has.
func (t *Tree) resumeIndex(ctx context.Context, _ struct{}, saved []byte) (*indexed, int64, error) {
	x, seal, err := DecodeIndex(t.rec.Format, saved)
	if err != nil {
		return nil, 0, err
	}
	if !t.sound(x) {
		return nil, 0, formats.Corrupt(t.rec.Format, 0, "the saved index cannot be of this recording")
	}
	fit, _, err := seal.Fit(ctx, t.rec.Source)
	if err != nil {
		return nil, 0, err
	}
	if fit != formats.Same {
		return nil, 0, formats.ErrOther
	}
	seal.Stamp = t.rec.Source.Stamp
	return t.withDirs(x, seal), x.cost(), nil
}

func (t *Tree) withDirs(x *Index, seal formats.Seal) *indexed {
	return &indexed{x, seal, t.ticksDir(x), t.exportDir(x)}
}

func (t *Tree) loadChunk(ctx context.Context, n int) (*Chunk, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	c, cost, err := t.rec.Chunk(ctx, n, &x.Chunks[n])
	if err == nil && len(c.Frames) != x.Chunks[n].Ticks() {
		return nil, 0, fmt.Errorf("%w: chunk %d has %d frames, had %d", nodes.ErrStale, n, len(c.Frames), x.Chunks[n].Ticks())
	}
	return c, cost, err
}

// series is the directory of one file per chunk. It is listed without the index where the file
// tells how many there are.
func (t *Tree) series(suffix string, file func(x *Index, n int) (nodes.File, error)) nodes.Dir {
	of := func(chunks int) *nodes.Series {
		return &nodes.Series{Suffix: suffix, Width: 6, N: chunks, File: func(n int64) nodes.File {
			return t.file(func(x *Index) (nodes.File, error) { return file(x, int(n)) })
		}}
	}
	if t.rec.NumChunks != UnknownChunks {
		return of(t.rec.NumChunks)
	}
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		return of(len(x.Chunks)), nil
	})
}
