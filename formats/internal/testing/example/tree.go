package example

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
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

// A tree is what the views of a recording share.
type tree struct {
	*views.Tree[index]
	chunks *cache.Memo[int, []score]
}

// tables are those of the recording.
func (t *tree) tables() []views.Table[index] {
	return []views.Table[index]{{
		Name: "scores", Columns: columns, Groups: func(x *index) []columnar.Group { return x.rows.Groups() },
		Chunks: (*index).count, Rows: t.rows,
	}}
}

// newTree declares the views of a recording.
func newTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	t := &tree{Tree: views.New[index](name, rec, c)}
	t.chunks = cache.NewMemo(c, t.load)
	return t.Dir(views.Game[index]{
		Header:   t.header,
		Document: t.document,
		Chunks:   &views.Chunks[index]{N: (*index).count, Grows: rec.Grows, File: t.chunk},
		Lines:    &views.Chunks[index]{N: (*index).count, Grows: rec.Grows, File: t.lines},
		Ticks: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Listed: true,
			Make: t.tick, Stretch: (*index).run,
		},
		States: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Opens: t.hasState,
			Make: t.state, Stretch: (*index).run, Each: t.eachState,
		},
		Tables: t.tables,
		Files: []nodes.Entry{
			{Name: "players.json", File: t.Text("players.json", 0, t.players)},
			{Name: "export", Dir: nodes.List(
				nodes.Entry{Name: "scores.csv", Grows: rec.Grows, File: t.Text("scores.csv", 0, t.csv)},
			)},
		},
	})
}

func (t *tree) head() *header { return t.Head.(*header) }

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
func (t *tree) document(_ context.Context, x *index) (views.Document, error) {
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
	doc := &formats.IndexDocument[totals, row]{
		IndexHead: formats.IndexHead{Format: name, Complete: len(x.problems) == 0, Finished: x.ended, End: x.ending()},
		Totals:    totals{len(x.ticks), len(x.scores), len(x.chunks)},
		Chunks:    []row{}, Problems: append([]formats.Problem{}, x.problems...),
	}
	for i := range x.chunks {
		c := &x.chunks[i]
		doc.Chunks = append(doc.Chunks, row{i, c.first, c.offset, c.end - c.offset, c.lines})
	}
	return doc, nil
}

// load reads the lines of a chunk.
func (t *tree) load(ctx context.Context, n int) ([]score, int64, error) {
	x, err := t.Index(ctx)
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

// chunk is a file of chunks/.
func (t *tree) chunk(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	return nodes.Section(t, c.offset, c.end-c.offset), nil
}

// lines is a file of lines/.
func (t *tree) lines(x *index, n int) (nodes.File, error) {
	return nodes.Sized(x.chunks[n].size, func(ctx context.Context) ([]byte, error) {
		list, err := t.chunks.Get(ctx, n)
		var b []byte
		for _, s := range list {
			b = s.appendLine(b)
		}
		return b, err
	}), nil
}

// tick makes ticks/N.json: the scores that came at a tick, which may lie in several chunks.
func (t *tree) tick(ctx context.Context, tick int64) ([]byte, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	b := strconv.AppendInt([]byte(`{"tick":`), tick, 10)
	b = append(b, `,"scores":[`...)
	first := x.chunkOf(tick)
	for first > 0 && x.chunks[first].first == tick {
		first--
	}
	for n := max(first, 0); n < len(x.chunks) && x.chunks[n].first <= tick; n++ {
		list, err := t.chunks.Get(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if s.Tick == tick {
				b = append(bytes.TrimSuffix(s.appendLine(b), []byte{'\n'}), ',')
			}
		}
	}
	b = append(bytes.TrimSuffix(b, []byte{','}), "]}"...)
	return append(jsonenc.AppendIndented(nil, b), '\n'), nil
}

// hasState reports whether there is a state of a tick: from the first one to the last of the log.
func (t *tree) hasState(ctx context.Context, tick int64) (bool, error) {
	x, err := t.Index(ctx)
	return err == nil && len(x.ticks) > 0 && x.ticks[0] <= tick && tick <= x.last, err
}

// state makes states/N.json of one chunk: the last one that begins at or before the tick.
func (t *tree) state(ctx context.Context, tick int64) ([]byte, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	n := x.chunkOf(tick)
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
	return stateDocument(tick, scores)
}

// eachState plays the chunk of a run once for all states in it.
func (t *tree) eachState(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
	n := x.chunkOf(x.ticks[first])
	list, err := t.chunks.Get(ctx, n)
	if err != nil {
		return err
	}
	scores := maps.Clone(x.chunks[n].before)
	for i := first; i < end; i++ {
		for len(list) > 0 && list[0].Tick <= x.ticks[i] {
			scores[list[0].Player] = list[0].Score
			list = list[1:]
		}
		doc, err := stateDocument(x.ticks[i], scores)
		if err == nil {
			err = fn(i, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func stateDocument(tick int64, scores map[string]int32) ([]byte, error) {
	b, err := json.Marshal(map[string]any{"tick": tick, "scores": scores})
	return append(jsonenc.AppendIndented(nil, b), '\n'), err
}

// players is players.json: all players and their last scores, sixty-four in each part.
func (t *tree) players(_ context.Context, x *index) (*views.Text, error) {
	const together = 64
	names := slices.Sorted(maps.Keys(x.scores))
	list := views.Elements("players", len(names), together, func(_ context.Context, b []byte, first, end int) ([]byte, error) {
		for _, player := range names[first:end] {
			b = append(b, views.NextElement+`{"player":`...)
			b = jsonenc.AppendString(b, player)
			b = strconv.AppendInt(append(b, `,"score":`...), int64(x.scores[player]), 10)
			b = append(b, '}')
		}
		return b, nil
	})
	list.Document = func(context.Context) (any, error) { return map[string][]string{"players": {}}, nil }
	list.Cost = x.Memory()
	return list.Text(), nil
}

// csv is export/scores.csv, a part for each chunk and one more before them.
func (t *tree) csv(_ context.Context, x *index) (*views.Text, error) {
	return &views.Text{N: len(x.chunks) + 1, Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		if i == 0 {
			return views.Part{Bytes: []byte("tick,player,score\n")}, nil
		}
		list, err := t.chunks.Get(ctx, i-1)
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		for _, s := range list {
			w.Write([]string{strconv.FormatInt(s.Tick, 10), s.Player, strconv.Itoa(int(s.Score))})
		}
		w.Flush()
		return views.Part{Bytes: b.Bytes()}, err
	}}, nil
}

// rows adds the rows of a chunk.
func (t *tree) rows(ctx context.Context, _ *index, b *columnar.Batch, chunk int) error {
	list, err := t.chunks.Get(ctx, chunk)
	for _, s := range list {
		s.row(b)
	}
	return err
}

// clock tells the ticks by their times.
func (t *tree) clock(x *index) nodes.Clock {
	h := t.head()
	return views.SteadyClock(&h.start, h.length(1), 0, x.last)
}
