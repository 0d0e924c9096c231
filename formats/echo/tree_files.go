package echo

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"sort"
	"time"

	"recfs/formats/internal/zipfile"
	"recfs/nodes"
)

// file returns a file that only the index can tell of.
func (t *Tree) file(make func(x *Index) (nodes.File, error)) nodes.File {
	return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		return make(x)
	})
}

var (
	errUnreadable = errors.New("the chunk cannot be read to its end")
	errNoFrames   = errors.New("no frame of the chunk is readable")
)

// dataFile is chunks/N.
func (t *Tree) dataFile(x *Index, n int) (nodes.File, error) {
	if x.Chunks[n].Size == Unreadable {
		return nil, fmt.Errorf("chunk %d: %w", n, errUnreadable)
	}
	return t.rec.Data(n, &x.Chunks[n]), nil
}

// linesFile is lines/N.jsonl.
func (t *Tree) linesFile(x *Index, n int) (nodes.File, error) {
	c := &x.Chunks[n]
	if c.Ticks() == 0 {
		return nil, fmt.Errorf("chunk %d: %w", n, errNoFrames)
	}
	text := &pieced{t: t}
	for i := range c.Pieces {
		k := pieceKey{viewLines, n, i}
		text.add(k, c.pieceSize(k))
	}
	return text.file(), nil
}

// ticksDir is ticks/, with the readable frames of all chunks.
func (t *Tree) ticksDir(x *Index) nodes.Dir {
	first := make([]int, len(x.Chunks)+1) // index in the listing of each chunk's first frame
	for i := range x.Chunks {
		first[i+1] = first[i] + x.Chunks[i].Ticks()
	}
	ticks := &nodes.Series{
		Suffix: ".json", Width: 8, N: first[len(x.Chunks)],
		Number: func(i int) int64 {
			n := sort.SearchInts(first, i+1) - 1
			return x.Chunks[n].FirstTick + int64(i-first[n])
		},
		File: func(tick int64) nodes.File {
			n := sort.Search(len(x.Chunks), func(i int) bool { return x.Chunks[i].FirstTick > tick }) - 1
			i := int(tick - x.Chunks[n].FirstTick)
			return nodes.Stream(int64(x.Chunks[n].TickSizes[i]), func(ctx context.Context) (nodes.Content, error) {
				return t.tick(ctx, x, n, i)
			})
		},
	}
	return &nodes.Timed{Dir: ticks, Suffix: ".json", Clock: t.clock(x), Listed: true}
}

// tick returns the document of a frame, which is laid out as it is read if it is long.
func (t *Tree) tick(ctx context.Context, x *Index, chunk, i int) (nodes.Content, error) {
	info := &x.Chunks[chunk]
	size, laidOut := int64(info.Lines[i])-1, int64(info.TickSizes[i])
	c, err := t.frames(ctx, x, chunk, i, 1)
	if err != nil {
		return nil, err
	}
	if laidOut <= smallText {
		return nodes.BytesContent(c.Tick(0)), nil
	}
	line, held, err := t.render(ctx, c, size, func(b []byte) []byte { return c.appendLine(b, 0) })
	if err != nil {
		return nil, err
	}
	defer held.Free()
	if shown := writeValid(io.Discard, line); shown != size {
		return nil, nodes.SizeError(size, shown)
	}
	open := func(io.Reader) (io.Reader, error) { return &indenter{src: line}, nil }
	length := int64(len(line))
	src := nodes.NewCursor(nodes.BytesContent(line), 0, length)
	return nodes.NewForward(src, open, laidOut, length), nil
}

// clock tells the frames by their times, which do not go back.
func (t *Tree) clock(x *Index) nodes.Clock {
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

// tickAt returns the last frame at or before a time, which is not before the first one. It decodes as
// many parts of chunks as a binary search looks at.
func (t *Tree) tickAt(ctx context.Context, x *Index, ms int64) (int64, error) {
	if ms > x.Last {
		return 0, iofs.ErrNotExist
	}
	var readable []partKey
	for i := range x.Chunks {
		for part := range x.Chunks[i].parts() {
			if x.Chunks[i].part(part).Ticks() > 0 {
				readable = append(readable, partKey{i, part})
			}
		}
	}
	var failed error
	frames := func(i int) []Frame {
		c, err := t.chunks.Get(ctx, readable[i])
		if err != nil {
			failed = err
			return nil
		}
		return c.Frames
	}
	after := sort.Search(len(readable), func(i int) bool {
		f := frames(i)
		return len(f) == 0 || f[0].Time > ms
	})
	if failed != nil {
		return 0, failed
	}
	if after == 0 {
		return 0, iofs.ErrNotExist
	}
	f := frames(after - 1)
	if failed != nil {
		return 0, failed
	}
	i := sort.Search(len(f), func(i int) bool { return f[i].Time > ms }) - 1
	last := readable[after-1]
	return x.Chunks[last.chunk].part(last.part).FirstTick + int64(max(i, 0)), nil
}

// exportDir is export/.
func (t *Tree) exportDir(x *Index) nodes.Dir {
	if x.Ticks == 0 {
		return nodes.List()
	}
	name := ExportName(t.rec.Name, "."+t.rec.Format) + ".echoreplay"
	text := t.export(x, viewText)
	archive := &pieced{t: t}
	z := zipfile.NewStored(name, time.UnixMilli(x.First), text.size, x.CRC)
	archive.addBytes(z.Head)
	archive.append(text)
	archive.addBytes(z.Tail)
	entries := []nodes.Entry{
		{Name: name, File: archive.file()},
		{Name: name + ".txt", Grows: t.rec.Grows, File: text.file()},
		{Name: "players.csv", Grows: t.rec.Grows, File: t.export(x, viewPlayers).file()},
	}
	if !t.rec.Combat {
		entries = append(entries, nodes.Entry{Name: "disc.csv", Grows: t.rec.Grows, File: t.export(x, viewDisc).file()})
	}
	return nodes.List(entries...)
}

// export is one of the files that go through all chunks.
func (t *Tree) export(x *Index, v view) *pieced {
	p := &pieced{t: t}
	switch v {
	case viewDisc:
		p.addBytes([]byte(DiscHead))
	case viewPlayers:
		p.addBytes([]byte(PlayersHead))
	}
	for n := range x.Chunks {
		for i := range x.Chunks[n].Pieces {
			k := pieceKey{v, n, i}
			p.add(k, x.Chunks[n].pieceSize(k))
		}
	}
	return p
}
