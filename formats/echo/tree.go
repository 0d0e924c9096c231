package echo

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"sort"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
	"recfs/nodes"
)

// UnknownChunks is the NumChunks of a recording whose chunks only the index can count.
const UnknownChunks = -1

// A Recording is what the formats do differently. The tree is the same for both.
type Recording struct {
	formats.Recording // whose index is an *Index

	Format   string
	Text     bool // sessions are stored as text
	Combat   bool // a map without a disc
	Grows    bool // files that are made of frames grow with the recording
	Header   any  // header.json
	Match    *Match
	Metadata nodes.File

	// NumChunks is how many chunks there are, or UnknownChunks if only the index knows.
	NumChunks int

	// Chunk decodes chunk n, or the part of it that info describes, and returns how much memory it
	// takes. before is the end of the chunk before if that is in memory, else nil.
	Chunk func(ctx context.Context, x *Index, n int, info *ChunkInfo, before *Chunk) (*Chunk, int64, error)

	// Visit calls fn for each frame that Chunk decodes, up to the number in the index, with what
	// tables need. A frame is valid until fn returns. ok is false if only Chunk can tell which frames
	// there are.
	Visit func(ctx context.Context, n int, info *ChunkInfo, fn func(f *Frame) error) (ok bool, err error)

	// Data returns the file that shows the bytes of chunk n, which are readable.
	Data func(n int, info *ChunkInfo) nodes.File
}

// A tree is what the views of a recording share.
type tree struct {
	*views.Tree[Index]
	rec    Recording
	chunks *cache.Memo[partKey, *Chunk]
	rows   *cache.Memo[partKey, tableRows]
	scenes *cache.Memo[partKey, scenes]
}

// A partKey names a part of a chunk. Most chunks have one.
type partKey struct{ chunk, part int }

// NewTree declares the views of a recording.
func NewTree(rec Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	t := &tree{Tree: views.New[Index](rec.Format, rec.Recording, c), rec: rec}
	t.Check = func(x *Index) error {
		if x.Bytes != rec.Size {
			return nodes.ErrStale // a saved index claims to be of all bytes, and is not
		}
		return nil
	}
	t.chunks = cache.NewMemo(c, t.loadChunk)
	t.rows = cache.NewMemo(c, t.loadRows)
	t.scenes = cache.NewMemo(c, t.loadScenes)
	chunks := views.Chunks[Index]{Known: rec.NumChunks, AllGrow: true}
	if rec.NumChunks == UnknownChunks {
		chunks.N = (*Index).count
	}
	data, lines := chunks, chunks
	data.File = t.data
	lines.File, lines.Grows = t.lines, rec.Grows
	return t.Dir(views.Game[Index]{
		Header: func(context.Context) (any, error) { return rec.Header, nil },
		Document: func(_ context.Context, x *Index) (views.Document, error) {
			return x.document(rec.Format), nil
		},
		Metadata: rec.Metadata,
		Chunks:   &data,
		Lines:    &lines,
		Ticks: &views.Documents[Index]{
			Numbers: (*Index).numbers, Clock: t.clock, Listed: true,
			Make: t.tick, Long: t.longTick, Stretch: (*Index).run, Each: t.eachTick,
		},
		Tables: t.tables,
		Play:   t.playing(),
		Files: []nodes.Entry{
			{Name: "scores.json", File: t.File(func(x *Index) (nodes.File, error) {
				scores, err := x.scores(rec.Match)
				return nodes.Bytes(scores), err
			})},
			{Name: "events.jsonl", Grows: rec.Grows, File: t.Text("events.jsonl", 0, t.events)},
			{Name: "export", Dir: t.Lazy(t.export)},
		},
	})
}

func (t *tree) loadChunk(ctx context.Context, k partKey) (*Chunk, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	info := x.Chunks[k.chunk].part(k.part)
	var before *Chunk
	if n := k.chunk - 1; n >= 0 {
		before, _ = t.chunks.Peek(partKey{n, len(x.Chunks[n].Parts) - 1})
	}
	c, cost, err := t.rec.Chunk(ctx, x, k.chunk, info, before)
	if err == nil && len(c.Frames) != info.Ticks {
		return nil, 0, fmt.Errorf("%w: chunk %d has %d frames, had %d", nodes.ErrStale, k.chunk, len(c.Frames), info.Ticks)
	}
	return c, cost, err
}

// frames returns n frames of a chunk, from frame first on. All of them are in one part.
func (t *tree) frames(ctx context.Context, x *Index, chunk, first, n int) (*Chunk, error) {
	part, i := x.Chunks[chunk].partOf(first)
	c, err := t.chunks.Get(ctx, partKey{chunk, part})
	if err != nil {
		return nil, err
	}
	return c.Run(i, n), nil
}

// data is a file of chunks/.
func (t *tree) data(x *Index, n int) (nodes.File, error) {
	if x.Chunks[n].Size == Unreadable {
		return nil, fmt.Errorf("chunk %d: %w", n, errUnreadable)
	}
	return t.rec.Data(n, &x.Chunks[n]), nil
}

var (
	errUnreadable = errors.New("the chunk cannot be read to its end")
	errNoFrames   = errors.New("no frame of the chunk is readable")
)

// frame returns the frame of a tick, as a chunk.
func (t *tree) frame(ctx context.Context, tick int64) (*Chunk, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	n := x.chunkOf(tick)
	if n < 0 || tick >= x.Chunks[n].FirstTick+int64(x.Chunks[n].Ticks) {
		return nil, nodes.ErrStale
	}
	return t.frames(ctx, x, n, int(tick-x.Chunks[n].FirstTick), 1)
}

// tick makes ticks/N.json.
func (t *tree) tick(ctx context.Context, tick int64) ([]byte, error) {
	c, err := t.frame(ctx, tick)
	if err != nil {
		return nil, err
	}
	return c.Tick(0), nil
}

// Tick returns the document that ticks/ shows for frame i.
func (c *Chunk) Tick(i int) []byte {
	line, _, _ := c.appendLine(nil, i)
	return append(AppendIndented(make([]byte, 0, len(line)*3/2), line), '\n')
}

// longTick opens a document that is laid out as it is read.
func (t *tree) longTick(ctx context.Context, tick int64) (nodes.Content, error) {
	c, err := t.frame(ctx, tick)
	if err != nil {
		return nil, err
	}
	room := int64(c.room(0))
	if room <= smallText {
		return nil, nil
	}
	held, err := rendering(ctx, room)
	if err != nil {
		return nil, err
	}
	defer held.Free()
	line, _, _ := c.appendLine(make([]byte, 0, room), 0)
	size, err := io.Copy(io.Discard, &indenter{src: line})
	if err != nil {
		return nil, err
	}
	open := func(io.Reader) (io.Reader, error) { return &indenter{src: line}, nil }
	length := int64(len(line))
	return nodes.NewForward(nodes.NewCursor(nodes.BytesContent(line), 0, length), open, size, length), nil
}

// eachTick makes the documents of a run, except long ones.
func (t *tree) eachTick(ctx context.Context, x *Index, first, end int, fn func(i int, doc []byte) error) error {
	n, at := x.listed(first)
	c, err := t.frames(ctx, x, n, at, end-first)
	for i := 0; err == nil && i < len(c.Frames); i++ {
		if c.room(i) <= smallText {
			err = fn(first+i, c.Tick(i))
		}
	}
	return err
}

// clock finds frames by their times, which never go back.
func (t *tree) clock(x *Index) nodes.Clock {
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if !x.hasDates() {
				return time.Time{}, iofs.ErrNotExist
			}
			return time.UnixMilli(x.First), nil
		},
		Tick: func(ctx context.Context, at time.Time) (int64, error) { return t.tickAt(ctx, x, at.UnixMilli()) },
	}
}

// tickAt returns the last frame at or before a time: it is in the last part that begins by then.
func (t *tree) tickAt(ctx context.Context, x *Index, ms int64) (int64, error) {
	var last *partKey
	for i := range x.Chunks {
		for k, p := range x.Chunks[i].Parts {
			if p.Frames > 0 && p.Time <= ms {
				last = &partKey{i, k}
			}
		}
	}
	if last == nil || ms > x.Last {
		return 0, iofs.ErrNotExist
	}
	c, err := t.chunks.Get(ctx, *last)
	if err != nil {
		return 0, err
	}
	i := sort.Search(len(c.Frames), func(i int) bool { return c.Frames[i].Time > ms }) - 1
	return c.FirstTick + int64(max(i, 0)), nil
}
