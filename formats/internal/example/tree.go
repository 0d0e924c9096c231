package example

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	iofs "io/fs"
	"maps"
	"sort"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// Format is what the list of a program has of this room.
var Format = formats.Format{
	Name: name, Extensions: []string{".scores"},
	Prefixes:  true,
	Match:     func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) },
	Open:      open,
	ReadHead:  readHead,
	Scan:      scan,
	ReadIndex: readIndex,
	Tree:      newTree,
	Summary:   summary,
}

// A tree is the directory of a recording.
type tree struct {
	formats.Recording
	chunks *cache.Memo[int, []score]
}

func newTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	t := &tree{Recording: rec}
	t.chunks = cache.NewMemo(c, t.load)
	tables := []columnar.Maker{columnar.NewMaker("scores", columns, t.groups, t.fill)}
	return nodes.List(
		nodes.Entry{Name: "header.json", File: nodes.JSON(t.header)},
		formats.IndexEntry(nodes.JSON(t.document)),
		rec.RawEntry(),
		nodes.Entry{Name: "lines", Dir: t.dir((*tree).lines)},
		nodes.Entry{Name: "ticks", Dir: t.dir((*tree).ticks)},
		nodes.Entry{Name: "tables", Dir: parquet.Dir(c, rec.Input, name, tables)},
	), tables
}

// index returns the index, made by the first who asks.
func (t *tree) index(ctx context.Context) (*index, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	return x.(*index), nil
}

// dir is a directory that only the index can list.
func (t *tree) dir(list func(*tree, *index) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		x, err := t.index(ctx)
		if err != nil {
			return nil, err
		}
		return list(t, x), nil
	})
}

// header is the value of header.json.
func (t *tree) header(context.Context) (any, error) {
	type header struct {
		Start  time.Time `json:"start"`
		TickMS int64     `json:"tick_ms"`
		Map    string    `json:"map"`
	}
	h := t.head()
	return &formats.HeaderDocument[header]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: "1"},
		Source:     t.Info(),
		Header:     header{h.start, h.tickMS, h.world},
		Problems:   []formats.Problem{},
	}, nil
}

// document is the value of index.json.
func (t *tree) document(ctx context.Context) (any, error) {
	type totals struct {
		Ticks   int `json:"ticks"`
		Players int `json:"players"`
		Chunks  int `json:"chunks"`
	}
	type row struct {
		Chunk  int   `json:"chunk"`
		First  int64 `json:"first_tick"`
		Offset int64 `json:"offset"`
		Stored int64 `json:"stored"`
		Lines  int   `json:"lines"`
	}
	x, err := t.index(ctx)
	if err != nil {
		return nil, err
	}
	damage, err := t.Damage(ctx)
	if err != nil {
		return nil, err
	}
	doc := &formats.IndexDocument[totals, row]{
		IndexHead: formats.IndexHead{Format: name, Complete: len(x.problems) == 0, Finished: x.ended, End: x.ending()},
		Totals:    totals{len(x.ticks), len(x.scores), len(x.chunks)},
		Chunks:    []row{}, Problems: append([]formats.Problem{}, x.problems...),
	}
	for i := range x.chunks {
		c := &x.chunks[i]
		doc.Chunks = append(doc.Chunks, row{i, c.first, c.offset, c.end - c.offset, c.lines})
	}
	doc.Damaged(damage)
	return doc, nil
}

func (t *tree) head() *header { return t.Head.(*header) }

// load reads the lines of a chunk.
func (t *tree) load(ctx context.Context, n int) ([]score, int64, error) {
	x, err := t.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	c := &x.chunks[n]
	list, last := make([]score, 0, c.lines), c.first
	for l := readLines(ctx, t, c.offset, c.end); len(list) < c.lines; {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil, 0, nodes.ErrStale
		}
		if err != nil {
			return nil, 0, err
		}
		if s, ok := parseScore(line); ok && s.Tick >= last && x.knows(s.Player) {
			list, last = append(list, s), s.Tick
		}
	}
	return list, c.end - c.offset + int64(64*len(list)), nil
}

// lines is lines/, a file for each chunk.
func (t *tree) lines(x *index) nodes.Dir {
	return &nodes.Series{Suffix: ".jsonl", Width: 6, N: len(x.chunks), File: func(n int64) nodes.File {
		return nodes.Sized(x.chunks[n].size, func(ctx context.Context) ([]byte, error) {
			list, err := t.chunks.Get(ctx, int(n))
			var b []byte
			for _, s := range list {
				b = s.appendJSON(b)
			}
			return b, err
		})
	}}
}

// ticks is ticks/, a file for each tick at which a score changed.
func (t *tree) ticks(x *index) nodes.Dir {
	series := &nodes.Series{
		Suffix: ".json", Width: 8, N: len(x.ticks),
		Number: func(i int) int64 { return x.ticks[i] },
		File: func(tick int64) nodes.File {
			return nodes.Func(func(ctx context.Context) ([]byte, error) { return t.tick(ctx, x, tick) })
		},
	}
	return &nodes.Timed{Dir: series, Suffix: ".json", Clock: t.clock(x), Listed: true}
}

// tick makes ticks/N.json, of one chunk: the last one that begins at or before the tick.
func (t *tree) tick(ctx context.Context, x *index, tick int64) ([]byte, error) {
	n := sort.Search(len(x.chunks), func(i int) bool { return x.chunks[i].first > tick }) - 1
	if n < 0 {
		return nil, nodes.ErrStale
	}
	list, err := t.chunks.Get(ctx, n)
	if err != nil {
		return nil, err
	}
	scores := maps.Clone(x.chunks[n].before)
	for _, s := range list {
		if s.Tick <= tick {
			scores[s.Player] = s.Score
		}
	}
	b, err := json.Marshal(map[string]any{"tick": tick, "scores": scores})
	return append(nodes.AppendIndented(nil, b), '\n'), err
}

// groups returns the row groups of the table scores.
func (t *tree) groups(ctx context.Context) ([]columnar.Group, error) {
	x, err := t.index(ctx)
	if err != nil {
		return nil, err
	}
	return x.rows.Groups(), nil
}

// fill adds the rows from a chunk on.
func (t *tree) fill(ctx context.Context, b *columnar.Batch, chunk int) error {
	for ; !b.Full(); chunk++ {
		if x, err := t.index(ctx); err != nil {
			return err
		} else if chunk >= len(x.chunks) {
			return nodes.ErrStale
		}
		list, err := t.chunks.Get(ctx, chunk)
		if err != nil {
			return err
		}
		for _, s := range list {
			s.row(b)
		}
	}
	return nil
}

// clock tells the ticks by their times.
func (t *tree) clock(x *index) nodes.Clock {
	h := t.head()
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) { return h.start, nil },
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			length := at.Sub(h.start)
			if length > h.length(x.last) {
				return 0, iofs.ErrNotExist
			}
			return length.Milliseconds() / h.tickMS, nil
		},
	}
}
