package nethack

import (
	"context"
	"errors"
	"fmt"
	"io"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// Format opens logs of NetHack 4.3 and its forks.
var Format = formats.Format{
	Name:       name,
	Extensions: []string{".nhgame"},
	Match:      match,
	Open:       open,
}

// A recording is one opened log.
type recording struct {
	src      formats.Input
	header   *header
	listings *cache.Memo[struct{}, *listing]
	index    *cache.Memo[struct{}, *index]
	saves    *cache.Memo[int, []byte]
	texts    *cache.Memo[text, []byte]
}

// A text is a document that is remembered: one of lines/ or states/, export/commands.jsonl, or index.json.
type text struct {
	view view
	n    int
}

type view int

const (
	chunkView view = iota
	stateView
	commandsView
	indexView
)

func open(ctx context.Context, src formats.Input, c *cache.Cache) (nodes.Dir, error) {
	_, tree, err := openRecording(ctx, src, c)
	return tree, err
}

func openRecording(ctx context.Context, src formats.Input, c *cache.Cache) (*recording, nodes.Dir, error) {
	if src.Raw == nil {
		live, err := newLiveLog(ctx, src.ReaderAt, src.Size)
		if err != nil {
			return nil, nil, err
		}
		src.ReaderAt = live
	}
	h, err := readHeader(src.At(ctx), src.Size)
	if err != nil {
		return nil, nil, err
	}
	metadata := make([]byte, h.size)
	if _, err := src.ReadAt(ctx, metadata, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	rec := &recording{src: src, header: h}
	rec.listings = cache.NewMemo(c, rec.loadListing)
	rec.index = cache.NewMemo(c, rec.loadIndex).Durable(
		func(struct{}) string { return src.IndexName(name, "") }, (*index).encode, rec.resumeIndex)
	rec.saves = cache.NewMemo(c, rec.loadSave)
	rec.texts = cache.NewMemo(c, rec.loadText)
	return rec, nodes.List(
		nodes.Entry{Name: "header.json", File: headerFile(src, h)},
		nodes.Entry{Name: "index.json", File: rec.textFile(indexView, 0)},
		nodes.Entry{Name: "raw", File: src.RawFile()},
		nodes.Entry{Name: "metadata", File: nodes.Bytes(metadata)},
		nodes.Entry{Name: "chunks", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return rec.listing(ctx, chunksDir) })},
		nodes.Entry{Name: "lines", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return rec.listing(ctx, linesDir) })},
		nodes.Entry{Name: "ticks", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return rec.listing(ctx, ticksDir) })},
		nodes.Entry{Name: "states", Dir: nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) { return rec.listing(ctx, statesDir) })},
		nodes.Entry{Name: "saves", Dir: &savesDir{rec}},
		nodes.Entry{Name: "export", Dir: nodes.List(
			nodes.Entry{Name: "commands.jsonl", File: rec.textFile(commandsView, 0)},
		)},
	), nil
}

// A listing is the directories that need no index.
type listing struct {
	*outline
	dirs [4]nodes.Dir
}

const (
	chunksDir = iota
	linesDir
	ticksDir
	statesDir
)

func (rec *recording) listing(ctx context.Context, dir int) (nodes.Dir, error) {
	l, err := rec.listings.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	return l.dirs[dir], nil
}

func (rec *recording) loadListing(ctx context.Context, _ struct{}) (*listing, int64, error) {
	o, err := readOutline(ctx, rec.src.At(ctx), rec.header.size, rec.src.Size)
	if err != nil {
		return nil, 0, err
	}
	l := &listing{outline: o}
	l.dirs[chunksDir] = &nodes.Series{Width: 6, N: len(o.chunks), File: func(n int64) nodes.File {
		start, end := o.chunk(int(n))
		return nodes.Section(rec.src, start, end-start)
	}}
	l.dirs[linesDir] = &nodes.Series{Width: 6, Suffix: ".jsonl", N: len(o.chunks), File: func(n int64) nodes.File {
		return rec.textFile(chunkView, int(n))
	}}
	l.dirs[ticksDir] = &nodes.Series{Width: 8, Suffix: ".json", N: o.ticks, File: func(n int64) nodes.File {
		return nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.tick(ctx, int(n)) })
	}}
	l.dirs[statesDir] = &nodes.Series{Width: 8, Suffix: ".json", N: o.ticks, File: func(n int64) nodes.File {
		return rec.textFile(stateView, int(n))
	}}
	return l, int64(512 + 8*len(o.chunks)), nil
}

// indexed returns the index, which must have tick n.
func (rec *recording) indexed(ctx context.Context, n int) (*index, error) {
	x, err := rec.index.Get(ctx, struct{}{})
	if err == nil && n >= len(x.ticks) {
		err = fmt.Errorf("there is no tick %d: %w", n, nodes.ErrStale)
	}
	return x, err
}

func (rec *recording) tick(ctx context.Context, n int) ([]byte, error) {
	x, err := rec.indexed(ctx, n)
	if err != nil {
		return nil, err
	}
	doc, err := x.tick(ctx, rec.src.At(ctx), n)
	if err != nil {
		return nil, err
	}
	return append(nodes.AppendIndented(make([]byte, 0, 2*len(doc)), doc), '\n'), nil
}

func (rec *recording) textFile(v view, n int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.texts.Get(ctx, text{v, n}) })
}

func (rec *recording) loadText(ctx context.Context, t text) (doc []byte, cost int64, err error) {
	x, err := rec.index.Get(ctx, struct{}{})
	if err != nil {
		return nil, 0, err
	}
	switch t.view {
	case chunkView:
		if t.n >= len(x.chunks) {
			return nil, 0, nodes.ErrStale
		}
		doc, err = x.chunkLines(ctx, rec.src.At(ctx), t.n)
	case stateView:
		doc, err = rec.state(ctx, t.n)
	case indexView:
		doc, err = x.document(ctx, rec.src.At(ctx))
	default:
		doc, err = x.commandLines(ctx, rec.src.At(ctx))
	}
	return doc, int64(cap(doc)), err
}

// state makes a document of states/.
func (rec *recording) state(ctx context.Context, n int) ([]byte, error) {
	x, err := rec.sound(ctx, n)
	if err != nil {
		return nil, err
	}
	t := &x.ticks[n]
	save, err := rec.saves.Get(ctx, n)
	if err != nil {
		return nil, err
	}
	s := state{
		Tick: n, Turn: t.turn, Time: timeOf(t.clock, x.zone(n)), Save: t.saveName(), Timezone: saveTimezone(save),
	}
	s.Incarnation, s.details = readState(save)
	doc, err := nodes.MarshalIndented(s)
	if err != nil || s.details == nil {
		return doc, err
	}
	return appendMap(doc, s.Map)
}

// appendMap puts the map, a row on each line, behind the last key of a document.
func appendMap(doc []byte, rows []string) ([]byte, error) {
	doc = append(doc[:len(doc)-len("\n}\n")], ",\n  \"map\": "...)
	if rows == nil {
		return append(doc, "null\n}\n"...), nil
	}
	doc = append(doc, '[')
	for i, row := range rows {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, "\n    "...)
		doc = jsonenc.AppendString(doc, row)
	}
	return append(doc, "\n  ]\n}\n"...), nil
}

func timeOf(clock uint64, tz int32) *string {
	t, ok := utc(clock, tz)
	if !ok {
		return nil
	}
	s := t.Format(utcLayout)
	return &s
}

func (rec *recording) loadIndex(ctx context.Context, _ struct{}) (*index, int64, error) {
	x, err := buildIndex(ctx, rec.src, rec.src.Size, rec.header)
	if err != nil {
		return nil, 0, err
	}
	x.seal.Stamp = rec.src.Stamp
	return x, x.cost(), nil
}

func (rec *recording) resumeIndex(ctx context.Context, _ struct{}, stored []byte) (*index, int64, error) {
	x, err := resumeIndex(ctx, rec.src, rec.header, stored)
	if err != nil {
		return nil, 0, err
	}
	return x, x.cost(), nil
}
