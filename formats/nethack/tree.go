package nethack

import (
	"context"
	"fmt"
	"sync/atomic"
	"weak"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// Format opens logs of NetHack 4.3 and its forks.
var Format = formats.Format{
	Name:       name,
	Extensions: []string{".nhgame"},
	Match:      match,
	Open:       open,
	ReadHead:   readHead,
	Scan:       scan,
	Prefixes:   true,
	ReadIndex:  readIndex,
	Steady:     steady,
	HoldsBack:  true,
	Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
		return newTree(rec, c).root(c)
	},
	Summary: summary,
}

// A recording is one opened log.
type recording struct {
	formats.Recording // whose ReaderAt notices when the log is cut
	header            *header
	last              atomic.Pointer[weak.Pointer[index]] // what index returned
	cache             *cache.Cache
	ahead             int64 // how many bytes of a file are kept that were made for its size

	// Each Memo uses only those before it.
	listings *cache.Memo[struct{}, *listing]
	saves    *cache.Memo[int, []byte]
	states   *cache.Memo[int, *state]
	texts    *cache.Memo[text, []byte]
	pieces   *cache.Memo[text, *pieces]
	sizes    *cache.Memo[sizesKey, []uint32]
}

// A text is a document that is remembered: one of lines/, states/ or export/, or index.json; or a part of one.
type text struct {
	view view
	n    int
	part int // in the pieces of a linesFile
}

type view int

const (
	chunkView view = iota
	stateView
	commandsView
	heroView
	castView
	indexView
)

// littlePeak is what a save, a state, or a document takes beside what is counted when it is made.
const littlePeak = 32 << 10

func newTree(rec formats.Recording, c *cache.Cache) *recording {
	r := &recording{Recording: rec, header: rec.Head.(*header), cache: c, ahead: c.Budget() / 8}
	r.ReaderAt = live(rec.Input, r.header)
	r.listings = cache.NewMemo(c, r.loadListing)
	// These count what is more than a little themselves: what one of states/ takes is small, so that it is made beside
	// an index of any size, which would else be given up for it and read again.
	r.saves = cache.NewMemo(c, r.loadSave).Peak(func(int) int64 { return littlePeak })
	r.states = cache.NewMemo(c, r.loadState).Peak(func(int) int64 { return littlePeak })
	r.texts = cache.NewMemo(c, r.loadText).Peak(func(text) int64 { return littlePeak })
	r.pieces = cache.NewMemo(c, r.loadPieces)
	r.sizes = cache.NewMemo(c, r.loadSizes)
	return r
}

func (rec *recording) root(c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	tables := (&tables{rec.Input, rec.index}).makers()
	return nodes.List(
		nodes.Entry{Name: "header.json", File: headerFile(rec.Input, rec.header)},
		formats.IndexEntry(rec.linesFile(indexView, 0)),
		rec.RawEntry(),
		nodes.Entry{Name: "metadata", File: nodes.Bytes(rec.header.lines)},
		nodes.Entry{Name: "chunks", Dir: rec.listing(chunksDir)},
		nodes.Entry{Name: "lines", Dir: rec.listing(linesDir)},
		nodes.Entry{Name: "ticks", Dir: rec.listing(ticksDir)},
		nodes.Entry{Name: "states", Dir: rec.listing(statesDir)},
		nodes.Entry{Name: "saves", Dir: rec.savesDir()},
		nodes.Entry{Name: "tables", Dir: parquet.Dir(c, rec.Input, name, tables)},
		nodes.Entry{Name: "export", Dir: rec.exports()},
	), tables
}

// index returns the index, made by the first who asks. Who reads the whole game holds it, while the cache may
// give it up for what that takes: then it is not made again for each save.
func (rec *recording) index(ctx context.Context) (*index, error) {
	if last := rec.last.Load(); last != nil {
		if x := last.Value(); x != nil {
			return x, nil
		}
	}
	found, err := rec.Index(ctx)
	if err != nil {
		return nil, err
	}
	x := found.(*index)
	last := weak.Make(x)
	rec.last.Store(&last)
	return x, nil
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

func (rec *recording) listing(dir int) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		l, err := rec.listings.Get(ctx, struct{}{})
		if err != nil {
			return nil, err
		}
		return l.dirs[dir], nil
	})
}

// outline returns that of the index, if there is one, else it looks at the log.
func (rec *recording) outline(ctx context.Context) (*outline, error) {
	x, err := rec.index(cache.SavedOnly(ctx))
	if err == nil {
		return x.outline(), nil
	}
	if formats.IsShort(err) {
		return nil, err
	}
	return readOutline(ctx, rec.At(ctx), rec.header.size, rec.Size)
}

func (rec *recording) loadListing(ctx context.Context, _ struct{}) (*listing, int64, error) {
	o, err := rec.outline(ctx)
	if err != nil {
		return nil, 0, err
	}
	l := &listing{outline: o}
	l.dirs[chunksDir] = &nodes.Series{Width: 6, N: o.chunks.rows, File: func(n int64) nodes.File {
		start, end := o.chunk(int(n))
		return nodes.Section(rec, start, end-start)
	}}
	l.dirs[linesDir] = &nodes.Series{
		Width: 6, Suffix: ".jsonl", N: o.chunks.rows,
		Grows: func(int64) bool { return rec.Grows },
		File:  func(n int64) nodes.File { return rec.linesFile(chunkView, int(n)) },
	}
	ticks := &nodes.Series{Width: 8, Suffix: ".json", N: o.ticks, File: func(n int64) nodes.File {
		size := func(ctx context.Context) (int64, error) { return rec.docSize(ctx, int(n), false) }
		return nodes.Computed(size, func(ctx context.Context) ([]byte, error) { return rec.tick(ctx, int(n)) })
	}}
	states := &nodes.Series{Width: 8, Suffix: ".json", N: o.ticks, File: func(n int64) nodes.File {
		size := func(ctx context.Context) (int64, error) { return rec.docSize(ctx, int(n), true) }
		return nodes.Computed(size, func(ctx context.Context) ([]byte, error) { return rec.stateText(ctx, int(n)) })
	}}
	l.dirs[ticksDir] = &nodes.Timed{Dir: ticks, Suffix: ".json", Clock: clock(rec.index), Listed: true}
	l.dirs[statesDir] = &nodes.Timed{Dir: states, Suffix: ".json", Clock: clock(rec.index)}
	return l, 512 + o.chunks.memory(), nil
}

// indexed returns the index, which must have tick n.
func (rec *recording) indexed(ctx context.Context, n int) (*index, error) {
	x, err := rec.index(ctx)
	if err == nil && n >= x.ticks.len() {
		err = fmt.Errorf("there is no tick %d: %w", n, nodes.ErrStale)
	}
	return x, err
}

func (rec *recording) tick(ctx context.Context, n int) ([]byte, error) {
	x, err := rec.indexed(ctx, n)
	if err != nil {
		return nil, err
	}
	held, err := formats.Charge(ctx, 2*linesPerByte*x.eventBytes(n, n+1))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	doc, err := x.tick(ctx, rec.At(ctx), n)
	if err != nil {
		return nil, err
	}
	return appendDocument(make([]byte, 0, 512+len(doc)*5/4), doc), nil
}

// loadText makes one of states/. Parts of other texts come from whoever has their pieces.
func (rec *recording) loadText(ctx context.Context, t text) (doc []byte, cost int64, err error) {
	doc, err = rec.stateDocument(ctx, t.n)
	return doc, int64(cap(doc)), err
}
