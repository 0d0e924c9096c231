package echovr

import (
	"context"
	"errors"
	"fmt"
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
		size := int64(0)
		for _, l := range c.Lines[i*PieceFrames : min((i+1)*PieceFrames, len(c.Lines))] {
			size += int64(l)
		}
		text.add(pieceKey{viewLines, n, i}, size)
	}
	return text.file(), nil
}

// ticksDir is ticks/, with the readable frames of all chunks.
func (t *Tree) ticksDir(x *Index) nodes.Dir {
	first := make([]int, len(x.Chunks)+1) // index in the listing of each chunk's first frame
	for i := range x.Chunks {
		first[i+1] = first[i] + x.Chunks[i].Ticks()
	}
	return &nodes.Series{
		Suffix: ".json", Width: 8, N: first[len(x.Chunks)],
		Number: func(i int) int64 {
			n := sort.SearchInts(first, i+1) - 1
			return x.Chunks[n].FirstTick + int64(i-first[n])
		},
		File: func(tick int64) nodes.File {
			n := sort.Search(len(x.Chunks), func(i int) bool { return x.Chunks[i].FirstTick > tick }) - 1
			i := int(tick - x.Chunks[n].FirstTick)
			return nodes.Sized(int64(x.Chunks[n].TickSizes[i]), func(ctx context.Context) ([]byte, error) {
				c, err := t.chunks.Get(ctx, n)
				if err != nil {
					return nil, err
				}
				return c.Tick(i), nil
			})
		},
	}
}

// exportDir is export/.
func (t *Tree) exportDir(x *Index) nodes.Dir {
	if x.Ticks == 0 {
		return nodes.List()
	}
	name := ExportName(t.rec.Source.Name, "."+t.rec.Format) + ".echoreplay"
	text := t.export(x, viewText)
	archive := &pieced{t: t}
	z := zipfile.NewStored(name, time.UnixMilli(x.First), text.size, x.CRC)
	archive.addBytes(z.Head)
	archive.append(text)
	archive.addBytes(z.Tail)
	entries := []nodes.Entry{
		{Name: name, File: archive.file()},
		{Name: name + ".txt", File: text.file()},
		{Name: "players.csv", File: t.export(x, viewPlayers).file()},
	}
	if !t.rec.Combat {
		entries = append(entries, nodes.Entry{Name: "disc.csv", File: t.export(x, viewDisc).file()})
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
		for i, s := range x.Chunks[n].Pieces {
			p.add(pieceKey{v, n, i}, [...]int64{viewText: s.Text, viewDisc: s.Disc, viewPlayers: s.Players}[v])
		}
	}
	return p
}
