package teehistorian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// Format is the format of DDNet's teehistorian recordings.
var Format = New(Options{})

// Options are what a tree may need from outside; the zero value works.
type Options struct {
	Map func(ctx context.Context, file []byte) (*Map, error) // reads a map file; nil: paths.svg shows no maps

	MaxMetadata int64 // greatest size of the header; 0: 16 MiB
}

// New returns the format with options.
func New(opt Options) formats.Format {
	return formats.Format{
		Name:       name,
		Variant:    fmt.Sprint(opt.MaxMetadata),
		Extensions: []string{".teehistorian"},
		Match:      func(head []byte) bool { return bytes.HasPrefix(head, magic[:]) },
		Streams:    true,
		Runs:       true,
		TickLength: tickMS * time.Millisecond,
		HoldsBack:  true,
		Open:       opt.open,
		ReadHead:   opt.readHead,
		Scan:       scan,
		Prefixes:   true,
		ReadIndex:  readIndex,
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
			return newTree(rec, c, opt).root(c)
		},
		Summary: summary,
	}
}

// A tree is an opened recording.
type tree struct {
	rec     formats.Recording
	header  *header
	readMap func(context.Context, []byte) (*Map, error)

	// Each Memo uses only those before it.
	blocks *cache.Memo[blockKey, *block]
	docs   *cache.Memo[docsKey, []int64] // sizes of what blocks hold
	tables *cache.Memo[tableKey, map[int32][]byte]
	parts  *cache.Memo[partKey, []byte]
	active *cache.Memo[int, []activity]
	sizes  *cache.Memo[parted, []int64]
	files  *cache.Memo[string, []byte]
	demoMemos
}

// A view is an indexed recording with its directories.
type view struct {
	*recording
	chunks, lines, ticks, states nodes.Dir
	players                      func() nodes.Dir
	demos                        func() *demos
}

// A blockKey names a block of ticks, or of states.
type blockKey struct {
	chunk, block int
	states       bool
}

// A docsKey names all ticks of a chunk, or the states after them.
type docsKey struct {
	chunk  int
	states bool
}

// A tableKey names the rows of one table in one chunk.
type tableKey struct {
	chunk int
	table table
}

func newTree(rec formats.Recording, c *cache.Cache, opt Options) *tree {
	t := &tree{rec: rec, header: rec.Head.(*header), readMap: opt.Map}
	t.blocks = cache.NewMemo(c, t.loadBlock)
	t.docs = cache.NewMemo(c, t.loadDocSizes)
	t.tables = cache.NewMemo(c, t.loadTable)
	t.parts = cache.NewMemo(c, t.loadPart)
	t.active = cache.NewMemo(c, t.loadActivity)
	t.sizes = cache.NewMemo(c, t.loadPartSizes)
	t.files = cache.NewMemo(c, t.loadFile)
	t.demoMemos = t.newDemoMemos(c)
	return t
}

func (t *tree) root(c *cache.Cache) (nodes.Dir, []columnar.Maker) {
	tables := t.header.makers(t.indexed)
	return nodes.List(
		t.rec.RawEntry(),
		nodes.Entry{Name: "metadata", File: nodes.Bytes(t.header.json)},
		nodes.Entry{Name: "header.json", File: t.file("header.json")},
		formats.IndexEntry(t.file("index.json")),
		nodes.Entry{Name: "players.json", File: t.partedFile(playersParts)},
		nodes.Entry{Name: "chunks", Dir: t.lazy(func(v *view) nodes.Dir { return v.chunks })},
		nodes.Entry{Name: "lines", Dir: t.lazy(func(v *view) nodes.Dir { return v.lines })},
		nodes.Entry{Name: "ticks", Dir: t.lazy(func(v *view) nodes.Dir { return v.ticks })},
		nodes.Entry{Name: "states", Dir: t.lazy(func(v *view) nodes.Dir { return v.states })},
		nodes.Entry{Name: "players", Dir: t.lazy(func(v *view) nodes.Dir { return v.players() })},
		nodes.Entry{Name: "demos", Dir: t.demosDir()},
		nodes.Entry{Name: "tables", Dir: parquet.Dir(c, t.rec.Input, name, tables)},
		nodes.Entry{Name: "export", Dir: nodes.List(
			nodes.Entry{Name: "events.txt", Grows: t.rec.Grows, File: t.partedFile(logParts)},
			nodes.Entry{Name: "paths.svg", File: t.file("paths.svg")},
		)},
	), tables
}

func (t *tree) view(x *index) *view {
	r := &recording{
		src: t.rec.Input, idx: x, version1: t.header.version1(),
		render: renderer{t.header.idents}, dirs: x.dirs(nodes.SafeName),
	}
	r.growing = t.rec.Grows && (x.end == endUnfinished || x.end == endCut)
	r.events = logWriter{t.header.startTime(), r.who}
	return &view{
		recording: r,
		chunks:    t.chunks(r), lines: t.lines(r), ticks: t.ticks(r), states: t.states(r),
		players: sync.OnceValue(func() nodes.Dir { return t.players(r) }),
		demos:   sync.OnceValue(func() *demos { return newDemos(r) }),
	}
}

// get returns the indexed recording. What is made of an index stays with it.
func (t *tree) get(ctx context.Context) (*view, error) {
	found, err := t.rec.Index(ctx)
	if err != nil {
		return nil, err
	}
	x := found.(*index)
	if v, ok := x.view.Load().(*view); ok {
		return v, nil
	}
	x.view.CompareAndSwap(nil, t.view(x))
	return x.view.Load().(*view), nil
}

// indexed is get for who needs no directories.
func (t *tree) indexed(ctx context.Context) (*recording, error) {
	v, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return v.recording, nil
}

// lazy returns a directory that needs the index.
func (t *tree) lazy(dir func(*view) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		v, err := t.get(ctx)
		if err != nil {
			return nil, err
		}
		return dir(v), nil
	})
}

func (t *tree) chunks(r *recording) nodes.Dir {
	return &nodes.Series{Width: 6, N: len(r.idx.chunks), File: func(n int64) nodes.File {
		c := &r.idx.chunks[n]
		return nodes.Section(t.rec, c.offset, c.size)
	}}
}

func (t *tree) lines(r *recording) nodes.Dir {
	last := int64(len(r.idx.chunks) - 1)
	return &nodes.Series{
		Suffix: ".jsonl", Width: 6, N: len(r.idx.chunks),
		Grows: func(n int64) bool { return t.rec.Grows && n == last },
		File: func(n int64) nodes.File {
			c := &r.idx.chunks[n]
			lines := func(last int32) func(context.Context) ([]byte, error) {
				return func(ctx context.Context) ([]byte, error) {
					b, err := r.lines(ctx, int(n), last)
					return b, stale(err)
				}
			}
			switch {
			case t.rec.Running && r.growing && n == last:
				return nodes.Func(lines(c.last - 1)) // the last tick may go on
			case c.isLong():
				return nodes.Stream(c.lines, func(context.Context) (nodes.Content, error) { return r.longLines(int(n)), nil })
			}
			return nodes.Sized(c.lines, lines(c.last))
		},
	}
}

func (t *tree) ticks(r *recording) nodes.Dir {
	s := tickSeries(r, func(n int64) nodes.File {
		if k, _ := r.idx.findTick(int32(n)); r.idx.chunks[k].isLong() && r.idx.chunks[k].last == int32(n) {
			return nodes.Opened(func(ctx context.Context) (nodes.Content, error) { return t.longTick(ctx, r, k) })
		}
		return nodes.Computed(func(ctx context.Context) (int64, error) {
			return t.docSize(ctx, r, int32(n), false)
		}, func(ctx context.Context) ([]byte, error) {
			return t.doc(ctx, r, int32(n), false)
		})
	})
	return &nodes.Timed{Dir: s, Suffix: ".json", Clock: t.header.clock(r.idx), Listed: true}
}

func (t *tree) states(r *recording) nodes.Dir {
	s := tickSeries(r, func(n int64) nodes.File {
		return nodes.Computed(func(ctx context.Context) (int64, error) {
			size, err := t.docSize(ctx, r, int32(n), true)
			return size + int64(len(appendDocumentHead(nil, int32(n)))), err
		}, func(ctx context.Context) ([]byte, error) {
			tail, err := t.doc(ctx, r, int32(n), true)
			if err != nil {
				return nil, err
			}
			return append(appendDocumentHead(make([]byte, 0, len(tail)+64), int32(n)), tail...), nil
		})
	})
	s.Extra = func(_ context.Context, n int64) (bool, error) { return r.idx.spans(n), nil }
	return &nodes.Timed{Dir: s, Suffix: ".json", Clock: t.header.clock(r.idx)}
}

// tickSeries lists a file for every tick with records.
func tickSeries(r *recording, file func(n int64) nodes.File) *nodes.Series {
	return &nodes.Series{
		Suffix: ".json", Width: 8, N: r.idx.tickCount(),
		Number: func(i int) int64 { return int64(r.idx.tickNumber(i)) },
		Search: r.idx.searchTick,
		File:   file,
	}
}

// doc returns the document of tick n, or what stands behind time_ms in the one of the state after it.
func (t *tree) doc(ctx context.Context, r *recording, n int32, states bool) ([]byte, error) {
	k, i := r.idx.findTick(n)
	size := r.idx.blockLen(k)
	b, err := t.blocks.Get(ctx, blockKey{k, i / size, states})
	if err != nil {
		return nil, err
	}
	return b.doc(i % size), nil
}

// loadBlock renders a block. It goes on from the one before if that is at hand, which makes reading them in order
// linear.
func (t *tree) loadBlock(ctx context.Context, k blockKey) (*block, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := r.idx.enough(ctx, k.chunk, longLines); err != nil {
		return nil, 0, err
	}
	var from *point
	if before, ok := t.blocks.Peek(blockKey{k.chunk, k.block - 1, k.states}); ok {
		from = before.next
	} else if from, err = r.chunkStart(k.chunk); err != nil {
		return nil, 0, err
	}
	b, err := r.block(ctx, from, k.chunk, k.block, k.states)
	if err != nil {
		return nil, 0, stale(err)
	}
	return b, b.cost(), nil
}

// stale tells a source that was replaced from one that cannot be read: what was decoded once does not become bad.
func stale(err error) error {
	if errors.Is(err, errBad) || errors.Is(err, errShort) {
		return nodes.ErrStale
	}
	return err
}

func (t *tree) loadTable(ctx context.Context, k tableKey) (map[int32][]byte, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	rows, err := r.rows(ctx, k.chunk, k.table)
	cost := int64(0)
	for _, b := range rows {
		cost += int64(cap(b)) + 64
	}
	return rows, cost, stale(err)
}

func (t *tree) players(r *recording) nodes.Dir {
	entries := make([]nodes.Entry, 0, len(r.dirs))
	for i, dir := range r.dirs {
		entries = append(entries, nodes.Entry{Name: dir, Dir: nodes.Lazy(func(context.Context) (nodes.Dir, error) {
			return t.player(r, int32(i)), nil
		})})
	}
	return nodes.List(entries...)
}

func (t *tree) player(r *recording, stay int32) nodes.Dir {
	entries := make([]nodes.Entry, tables)
	grows := t.rec.Grows && len(r.idx.stays[stay].names) > 0 // without a name the directory may get another
	for k, name := range tableNames {
		k := table(k)
		size := int64(len(tableHeads[k])) + r.idx.stays[stay].bytes[k]
		entries[k] = nodes.Entry{Name: name, Grows: grows, File: nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
			return t.table(ctx, r, stay, k)
		})}
	}
	return nodes.List(entries...)
}

// table returns the content of a table of a stay.
func (t *tree) table(ctx context.Context, r *recording, stay int32, k table) (nodes.Content, error) {
	var chunks []int
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(tableHeads[k]), nil
		}
		rows, err := t.tables.Get(ctx, tableKey{chunks[i-1], k})
		return rows[stay], err
	})
	p.Add(int64(len(tableHeads[k])))
	s := r.idx.stays[stay]
	for c := int(s.firstChunk); c >= 0 && c <= int(s.lastChunk); c++ {
		list, err := t.active.Get(ctx, c)
		if err != nil {
			return nil, err
		}
		if i, ok := slices.BinarySearchFunc(list, stay, byStay); ok {
			chunks = append(chunks, c)
			p.Add(list[i].bytes[k])
		}
	}
	return p, nil
}
