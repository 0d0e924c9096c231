package example

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"strconv"
	"strings"
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
	Single:    []columnar.Table{{Name: scoresTable, Columns: scoresColumns}},
	Match:     func(head []byte) bool { return strings.HasPrefix(string(head), magic) },
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
	chunks *cache.Memo[frame, body]
}

// newTree declares the views of a recording. Of its files export/changes.csv alone grows: a chunk
// appears whole.
func newTree(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	t := &tree{Tree: views.New[index](name, rec, c)}
	t.chunks = cache.NewMemo(c, func(ctx context.Context, f frame) (body, int64, error) {
		b, err := f.chunk(ctx, t)
		return b, int64(cap(b.bytes)), err
	}).Peak(frame.cost)
	return t.Dir(views.Game[index]{
		Header:   t.header,
		Document: t.document,
		Chunks:   &views.Chunks[index]{N: (*index).count, File: t.chunk},
		Lines:    &views.Chunks[index]{N: (*index).count, File: t.lines},
		Ticks: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Listed: true,
			Make: t.one(tickDocument), Long: t.longTick, Stretch: (*index).together, Each: t.all(tickDocument),
		},
		States: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Opens: t.hasState,
			Make: t.one(stateDocument), Stretch: (*index).together, Each: t.all(stateDocument),
		},
		Tables: t.tables,
		Files: []nodes.Entry{
			{Name: "export", Dir: nodes.List(
				nodes.Entry{Name: "changes.csv", Grows: rec.Grows, File: t.Text("changes.csv", 0, t.csv)},
			)},
		},
	})
}

// header is the value of header.json.
func (t *tree) header(context.Context) (any, error) {
	h := t.Head.(*header)
	type fields struct {
		Start  *time.Time `json:"start"`
		TickMS int64      `json:"tick_ms"`
		Map    string     `json:"map"`
		MapHex string     `json:"map_hex,omitempty"`
	}
	return &formats.HeaderDocument[fields]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: "1"},
		Source:     t.Info(),
		Header:     fields{h.start, h.tickMS, h.world, formats.HexOf(h.world)},
		Problems:   h.problems(),
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
		Chunk  int    `json:"chunk"`
		First  *int64 `json:"first_tick"`
		Last   *int64 `json:"last_tick"`
		Ticks  int    `json:"ticks"`
		Offset int64  `json:"offset"`
		Stored int64  `json:"stored"`
		Size   int64  `json:"size"`
	}
	doc := &formats.IndexDocument[totals, row]{
		IndexHead: formats.IndexHead{Format: name, Complete: len(x.problems) == 0, Finished: x.ended, End: x.ending(t.Size)},
		Totals:    totals{len(x.ticks), len(x.scores), len(x.chunks)},
		Chunks:    []row{}, Problems: append(t.Head.(*header).problems(), x.problems...),
	}
	for i := range x.chunks {
		c, first, end := &x.chunks[i], x.chunks[i].first, x.endOf(i)
		r := row{i, nil, nil, end - first, c.offset, c.end() - c.offset, c.size}
		if first < end {
			r.First, r.Last = &x.ticks[first], &x.ticks[end-1]
		}
		doc.Chunks = append(doc.Chunks, r)
	}
	return doc, nil
}

// chunk is a file of chunks/. It opens if the chunk inflates, whatever is wrong in it.
func (t *tree) chunk(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	return c.file(c.damaged, c.size, func(ctx context.Context) ([]byte, error) {
		b, err := t.chunks.Get(ctx, c.frame)
		return b.bytes, cmp.Or(err, b.bad)
	}), nil
}

// file returns a file that is made of the chunk alone. One that may be lost tells its size only by
// its bytes.
func (c *chunk) file(lost bool, size int64, content func(context.Context) ([]byte, error)) nodes.File {
	if lost {
		return nodes.Func(content)
	}
	return nodes.Sized(size, func(ctx context.Context) ([]byte, error) {
		b, err := content(ctx)
		return b, c.failure(err)
	})
}

// failure returns the error of reading a chunk. If it is damaged, and was not when the index was
// made, the bytes are other ones.
func (c *chunk) failure(err error) error {
	if _, damaged := formats.Coded(err); damaged && !c.damaged {
		return nodes.ErrStale
	}
	return err
}

// play returns the records of a chunk, before the first that is lost.
func (t *tree) play(ctx context.Context, x *index, n int) (*records, error) {
	c := &x.chunks[n]
	b, err := t.chunks.Get(ctx, c.frame)
	if err != nil {
		return nil, err
	}
	return newRecords(c.frame, b, x.least(c.first)), nil
}

// each calls fn for the records of a chunk before the first that is lost. If there are none for
// that, it returns the error. Meanwhile it charges what lines of them take; what is kept is counted
// where the file is opened.
func (t *tree) each(ctx context.Context, x *index, n int, fn func(r *records)) error {
	c := &x.chunks[n]
	held, err := formats.Charge(ctx, 2*c.lines) // as what grows is in memory twice
	if err != nil {
		return err
	}
	defer held.Free()
	r, err := t.play(ctx, x, n)
	if err != nil {
		return err
	}
	some := r.ok
	for ; r.ok; r.next() {
		fn(r)
	}
	if some && c.damaged {
		return nil
	}
	return c.failure(r.fault())
}

// lines is a file of lines/.
func (t *tree) lines(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	return c.file(c.damaged && c.records == 0, c.lines, func(ctx context.Context) (b []byte, err error) {
		err = t.each(ctx, x, n, func(r *records) { b = append(r.append(b), '\n') })
		return b, err
	}), nil
}

// csv is export/changes.csv, a part for each chunk and one more before them.
func (t *tree) csv(_ context.Context, x *index) (*views.Text, error) {
	return &views.Text{N: len(x.chunks) + 1, Make: func(ctx context.Context, i int, _ any) (views.Part, error) {
		if i == 0 {
			return views.Part{Bytes: []byte("tick,player,score\n")}, nil
		}
		x, err := t.Index(ctx)
		if err != nil || x.chunks[i-1].records == 0 {
			return views.Part{}, err
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		err = t.each(ctx, x, i-1, func(r *records) {
			w.Write([]string{strconv.FormatInt(r.now.Tick, 10), shown(r.names[r.now.Player]), strconv.Itoa(int(r.now.Points))})
		})
		w.Flush()
		return views.Part{Bytes: b.Bytes()}, err
	}}, nil
}

// A maker makes the document of a tick of the records of a chunk. nil: it is too long.
type maker func(r *records, tick int64) ([]byte, error)

// of returns the chunk that tells of a tick, and its records.
func (t *tree) of(ctx context.Context, tick int64) (*chunk, *records, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, nil, err
	}
	n := x.chunkOf(tick)
	r, err := t.play(ctx, x, n)
	return &x.chunks[n], r, err
}

// one makes a document of one tick.
func (t *tree) one(make maker) func(context.Context, int64) ([]byte, error) {
	return func(ctx context.Context, tick int64) ([]byte, error) {
		c, r, err := t.of(ctx, tick)
		if err != nil {
			return nil, err
		}
		doc, err := make(r, tick)
		return doc, c.failure(err)
	}
}

// all makes the documents of a chunk, which it plays once. It leaves out those that are too long,
// and ends at the first that cannot be made, as then none after it can.
func (t *tree) all(make maker) func(context.Context, *index, int, int, func(int, []byte) error) error {
	return func(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
		r, err := t.play(ctx, x, x.chunkAt(first))
		for i := first; i < end && err == nil; i++ {
			var doc []byte
			if doc, err = make(r, x.ticks[i]); doc != nil {
				err = fn(i, doc)
			}
		}
		return err
	}
}

// longTick is how many scores of a tick are made at once: some 200 KiB, which are free.
const longTick = 100

// tickDocument makes ticks/N.json of a tick with up to longTick scores.
func tickDocument(r *records, tick int64) ([]byte, error) {
	b, n := append(strconv.AppendInt([]byte(`{"tick":`), tick, 10), `,"scores":[`...), 0
	r.play(tick, func() {
		if n++; n <= longTick {
			b = append(r.append(b), ',')
		}
	})
	switch {
	case n == 0:
		return nil, nodes.ErrStale // the index has a score here
	case n > longTick:
		return nil, nil
	}
	b = append(bytes.TrimSuffix(b, []byte{','}), "]}"...)
	return append(jsonenc.AppendIndented(nil, b), '\n'), nil
}

// longTick opens ticks/N.json of a tick with many scores. Each part goes through all records of the
// chunk, of which there are not too many for that.
func (t *tree) longTick(ctx context.Context, tick int64) (nodes.Content, error) {
	c, r, err := t.of(ctx, tick)
	if err != nil || c.records <= longTick {
		return nil, err
	}
	scores := 0
	if r.play(tick, func() { scores++ }); scores <= longTick {
		return nil, nil
	}
	list := views.Elements("scores", scores, longTick, func(ctx context.Context, b []byte, first, end int) ([]byte, error) {
		_, r, err := t.of(ctx, tick)
		if err != nil {
			return nil, err
		}
		i := 0
		r.play(tick, func() {
			if first <= i && i < end {
				b = r.append(append(b, views.NextElement...))
			}
			i++
		})
		return b, nil
	})
	list.Document = func(context.Context) (any, error) { return tickHead{tick, []standing{}}, nil }
	return t.Text("ticks", tick, func(context.Context, *index) (*views.Text, error) { return list.Text(), nil }).Open(ctx)
}

// A tickHead is the value of states/N.json, and of ticks/N.json without its scores.
type tickHead struct {
	Tick   int64      `json:"tick"`
	Scores []standing `json:"scores"`
}

// hasState reports whether there is a state of a tick: from the first one to the last of the log.
func (t *tree) hasState(ctx context.Context, tick int64) (bool, error) {
	x, err := t.Index(ctx)
	return err == nil && len(x.ticks) > 0 && x.ticks[0] <= tick && tick <= x.last(), err
}

// stateDocument makes states/N.json. From the last record of a chunk that is damaged on it cannot
// be known.
func stateDocument(r *records, tick int64) ([]byte, error) {
	if r.play(tick, func() {}); !r.ok && r.fault() != nil {
		return nil, r.fault()
	}
	return jsonenc.MarshalIndented(tickHead{tick, r.standings()})
}

// tables declares the tables of the recording.
func (t *tree) tables() []views.Table[index] {
	return []views.Table[index]{
		{
			Name: changesTable, Columns: changesColumns, Groups: func(x *index) []columnar.Group { return x.rows.Groups() },
			Chunks: (*index).count, Rows: func(ctx context.Context, x *index, b *columnar.Batch, chunk int) error {
				if x.chunks[chunk].records == 0 {
					return nil
				}
				return t.each(ctx, x, chunk, func(r *records) { r.row(b) })
			},
		},
		{Name: scoresTable, Columns: scoresColumns, Known: func(_ context.Context, x *index) (views.Rows, error) {
			return views.Rows{N: len(x.scores), Add: func(b *columnar.Batch, i int) { x.scores[i].row(b) }}, nil
		}},
	}
}

// clock tells the ticks by their times.
func (t *tree) clock(x *index) nodes.Clock {
	h := t.Head.(*header)
	if len(x.ticks) == 0 {
		return views.SteadyClock(nil, 0, 0, 0)
	}
	return views.SteadyClock(h.start, h.length(1), x.ticks[0], x.last())
}
