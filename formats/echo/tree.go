package echo

import (
	"context"
	"fmt"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// UnknownChunks is a NumChunks that only the index knows.
const UnknownChunks = -1

// A Recording is what the two formats do differently, for the tree that they share.
type Recording struct {
	formats.Recording // whose index is an *Index

	Format   string
	Combat   bool // a map without a disc
	Grows    bool // what is made of frames does as the file grows
	Header   any  // header.json
	Metadata nodes.File

	// NumChunks is how many chunks there are, or UnknownChunks if only the index knows.
	NumChunks int

	// Chunk decodes chunk n, or the part of it that info tells of, and returns how many bytes it keeps alive. before is the end of
	// the chunk before, if that is in memory, or nil.
	Chunk func(ctx context.Context, x *Index, n int, info *ChunkInfo, before *Chunk) (*Chunk, int64, error)

	// Visit calls fn for the frames of chunk n, or of the part of it that info tells of (see Together), as Chunk decodes
	// them: up to as many as the index knows, with what tables have of them, and of what Chunk.Stored gives of them. Both
	// are there until fn returns. ok is false if only Chunk tells which frames there are.
	Visit func(ctx context.Context, n int, info *ChunkInfo, fn func(f *Frame, stored *Session) error) (ok bool, err error)

	// Together says that the parts of a chunk are gone through at once, as one cannot be decoded without those before it.
	Together bool

	// Encoder, if set, makes the sessions of the frames that Visit gives.
	Encoder *Encoder

	// Data returns the file that shows the bytes of chunk n, which are readable.
	Data func(n int, info *ChunkInfo) nodes.File
}

// A Tree is the directory of one recording.
type Tree struct {
	rec    Recording
	chunks *cache.Memo[partKey, *Chunk]
	rows   *cache.Memo[int, *tableRows]
	pieces *cache.Memo[pieceKey, *text]
}

// dirs are the directories that are made of an index at once, and stay with it.
type dirs struct{ ticks, export nodes.Dir }

// NewTree returns the tree of a recording, and its tables.
func NewTree(rec Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	t := &Tree{rec: rec}
	t.chunks = cache.NewMemo(c, t.loadChunk)
	t.rows = cache.NewMemo(c, t.loadRows)
	t.pieces = cache.NewMemo(c, t.loadPiece)
	tables := t.tables()
	return nodes.List(
		nodes.Entry{Name: "header.json", File: nodes.JSON(func(context.Context) (any, error) { return rec.Header, nil })},
		formats.IndexEntry(nodes.JSON(t.document)),
		rec.RawEntry(),
		nodes.Entry{Name: "metadata", File: rec.Metadata},
		nodes.Entry{Name: "chunks", Dir: t.series("", false, t.dataFile)},
		nodes.Entry{Name: "lines", Dir: t.series(".jsonl", rec.Grows, t.linesFile)},
		nodes.Entry{Name: "ticks", Dir: t.lazy(func(d *dirs) nodes.Dir { return d.ticks })},
		nodes.Entry{Name: "scores.json", File: t.file(func(x *Index) (nodes.File, error) {
			return nodes.Func(func(context.Context) ([]byte, error) {
				return append(nodes.AppendIndented(nil, x.Scores), '\n'), nil
			}), nil
		})},
		nodes.Entry{Name: "events.jsonl", Grows: rec.Grows, File: t.file(func(x *Index) (nodes.File, error) {
			return nodes.Bytes(x.Events), nil
		})},
		nodes.Entry{Name: "tables", Dir: parquet.Dir(c, rec.Input, rec.Format, tables)},
		nodes.Entry{Name: "export", Dir: t.lazy(func(d *dirs) nodes.Dir { return d.export })},
	), tables
}

// Index returns the index.
func (t *Tree) Index(ctx context.Context) (*Index, error) {
	x, err := t.rec.Index(ctx)
	if err != nil {
		return nil, err
	}
	if x := x.(*Index); x.Bytes == t.rec.Size {
		return x, nil
	}
	return nil, nodes.ErrStale // a saved index that says it is of all bytes, and is not
}

// document is the value of index.json.
func (t *Tree) document(ctx context.Context) (any, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	damage, err := t.rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	doc := x.document(t.rec.Format)
	doc.Damaged(damage)
	return doc, nil
}

// lazy is a directory of those that are made of the index.
func (t *Tree) lazy(dir func(*dirs) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		if x.dirs.Load() == nil {
			x.dirs.CompareAndSwap(nil, &dirs{t.ticksDir(x), t.exportDir(x)})
		}
		return dir(x.dirs.Load()), nil
	})
}

// A partKey is a part of a chunk, the only one of most.
type partKey struct{ chunk, part int }

func (t *Tree) loadChunk(ctx context.Context, k partKey) (*Chunk, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	info := x.Chunks[k.chunk].part(k.part)
	var before *Chunk
	if n := k.chunk - 1; n >= 0 {
		before, _ = t.chunks.Peek(partKey{n, x.Chunks[n].parts() - 1})
	}
	c, cost, err := t.rec.Chunk(ctx, x, k.chunk, info, before)
	if err == nil && len(c.Frames) != info.Ticks() {
		return nil, 0, fmt.Errorf("%w: chunk %d has %d frames, had %d", nodes.ErrStale, k.chunk, len(c.Frames), info.Ticks())
	}
	return c, cost, err
}

// frames returns n frames of a chunk from one on, all of which are in one part.
func (t *Tree) frames(ctx context.Context, x *Index, chunk, first, n int) (*Chunk, error) {
	part, i := x.Chunks[chunk].partOf(first)
	c, err := t.chunks.Get(ctx, partKey{chunk, part})
	if err != nil {
		return nil, err
	}
	return c.Run(i, n), nil
}

// series is the directory of one file per chunk. It is listed without the index where the file
// tells how many there are.
func (t *Tree) series(suffix string, grows bool, file func(x *Index, n int) (nodes.File, error)) nodes.Dir {
	of := func(chunks int) *nodes.Series {
		return &nodes.Series{
			Suffix: suffix, Width: 6, N: chunks,
			Grows: func(int64) bool { return grows },
			File: func(n int64) nodes.File {
				return t.file(func(x *Index) (nodes.File, error) { return file(x, int(n)) })
			},
		}
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
