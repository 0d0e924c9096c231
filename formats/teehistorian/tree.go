package teehistorian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/views"
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
			return newTree(rec, c, opt)
		},
		Summary: summary,
	}
}

// A tree is an opened recording.
type tree struct {
	*views.Tree[index]
	header  *header
	start   startTime
	readMap func(context.Context, []byte) (*Map, error)

	// Each Memo uses only those before it.
	names  *cache.Memo[struct{}, *names]
	blocks *cache.Memo[blockKey, *block]
	tables *cache.Memo[tableKey, map[int32][]byte]
	active *cache.Memo[int, []activity]
	demoMemos
}

// names are those of the directories of the stays.
type names struct {
	dirs    []string
	players func() nodes.Dir
}

// A blockKey names a block of ticks, or of states.
type blockKey struct {
	chunk, block int
	states       bool
}

// A tableKey names the rows of one table in one chunk.
type tableKey struct {
	chunk int
	table table
}

// newTree declares the views of a recording.
func newTree(rec formats.Recording, c *cache.Cache, opt Options) (nodes.Dir, []columnar.Maker) {
	h := rec.Head.(*header)
	t := &tree{Tree: views.New[index](name, rec, c), header: h, start: h.startTime(), readMap: opt.Map}
	t.names = cache.NewMemo(c, t.loadNames)
	t.blocks = cache.NewMemo(c, t.loadBlock)
	t.tables = cache.NewMemo(c, t.loadTable)
	t.active = cache.NewMemo(c, t.loadActivity)
	t.demoMemos = t.newDemoMemos(c)
	return t.Dir(views.Game[index]{
		Header:   t.headerJSON,
		Document: t.document,
		Metadata: nodes.Bytes(h.json),
		Chunks:   &views.Chunks[index]{N: (*index).chunkCount, File: t.chunk},
		Lines:    &views.Chunks[index]{N: (*index).chunkCount, Grows: rec.Grows, File: t.lines},
		Ticks: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Listed: true,
			Make: t.doc(false), Long: t.longTick, Run: (*index).run, Each: t.eachDoc(false),
		},
		States: &views.Documents[index]{
			Numbers: (*index).numbers, Clock: t.clock, Opens: t.hasState,
			Make: t.doc(true), Run: (*index).run, Each: t.eachDoc(true),
		},
		Tables: t.rowTables(),
		Files: []nodes.Entry{
			{Name: "players.json", File: t.Text("players.json", 0, t.playersJSON)},
			{Name: "players", Dir: nodes.Lazy(t.players)},
			{Name: "demos", Dir: t.demosDir()},
			{Name: "export", Dir: nodes.List(
				nodes.Entry{Name: "events.txt", Grows: rec.Grows, File: t.Text("events.txt", 0, t.eventsText)},
				nodes.Entry{Name: "paths.svg", File: t.Text("paths.svg", 0, t.pathsSVG)},
			)},
		},
	})
}

// get returns the indexed recording.
func (t *tree) get(ctx context.Context) (*recording, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	n, err := t.names.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	r := &recording{src: t.Input, idx: x, version1: t.header.version1, render: renderer{t.header.idents}, names: n}
	r.growing = t.Grows && x.mayGrow()
	r.events = logWriter{t.start, r.who}
	return r, nil
}

func (t *tree) loadNames(ctx context.Context, _ struct{}) (*names, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	n := &names{dirs: x.dirs(nodes.SafeName)}
	n.players = sync.OnceValue(func() nodes.Dir { return t.stays(n.dirs) })
	return n, int64(320 * len(n.dirs)), nil
}

// chunkCount is the number of chunks.
func (x *index) chunkCount() int { return len(x.chunks) }

// mayGrow reports whether the records may go on.
func (x *index) mayGrow() bool { return x.end == endUnfinished || x.end == endCut }

// numbers are the ticks with records.
func (x *index) numbers() views.Numbers {
	return views.Numbers{
		N:      x.tickCount(),
		Number: func(i int) int64 { return int64(x.tickNumber(i)) },
		Search: x.searchTick,
	}
}

// run returns the ticks of the chunk of tick i.
func (x *index) run(i int) (first, end int) {
	k := sort.Search(len(x.chunks), func(k int) bool { return x.chunks[k].ordinal > i }) - 1
	return x.chunks[k].ordinal, x.chunks[k].ordinal + x.chunks[k].count
}

// chunk is a file of chunks/.
func (t *tree) chunk(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	return nodes.Section(t, c.offset, c.size), nil
}

// lines is a file of lines/. The last tick of one that is being written may go on.
func (t *tree) lines(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	last, size, isLong := c.last, c.lines, c.isLong()
	lines := func(ctx context.Context) ([]byte, error) {
		r, err := t.get(ctx)
		if err != nil {
			return nil, err
		}
		b, err := r.lines(ctx, n, last)
		return b, stale(err)
	}
	switch {
	case t.Running && t.Grows && x.mayGrow() && n == len(x.chunks)-1:
		last--
		return nodes.Func(lines), nil
	case isLong:
		return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) { return t.longLines(ctx, n) }), nil
	}
	return nodes.Sized(size, lines), nil
}

// hasState reports whether there is a state of tick n.
func (t *tree) hasState(ctx context.Context, n int64) (bool, error) {
	x, err := t.Index(ctx)
	return err == nil && x.spans(n), err
}

// doc returns what makes the document of a tick, or of the state after it.
func (t *tree) doc(states bool) func(context.Context, int64) ([]byte, error) {
	return func(ctx context.Context, n int64) ([]byte, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		k, i := x.findTick(int32(n))
		size := x.blockLen(k)
		b, err := t.blocks.Get(ctx, blockKey{k, i / size, states})
		if err != nil {
			return nil, err
		}
		doc := b.doc(i % size)
		if states { // of a tick without records, too
			doc = append(appendDocumentHead(make([]byte, 0, len(doc)+64), int32(n)), doc...)
		}
		return doc, nil
	}
}

// eachDoc returns what makes the documents of a chunk one after the other, but for a long one.
func (t *tree) eachDoc(states bool) func(context.Context, *index, int, int, func(int, []byte) error) error {
	return func(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
		r, err := t.get(ctx)
		if err != nil {
			return err
		}
		k, _ := x.findTick(x.tickNumber(first))
		from, err := r.chunkStart(k)
		if err == nil {
			err = x.enough(ctx, k, longLines)
		}
		if err != nil {
			return err
		}
		c := r.cursor(ctx, from, k, chunkSize)
		var b []byte
		for i, tick := range x.ticksOf(k) {
			if !states && x.chunks[k].isLong() && first+i == end-1 {
				break
			}
			b = b[:0]
			if states {
				b = appendDocumentHead(b, tick)
			}
			if b, err = r.appendTick(b, c, tick, states); err == nil {
				err = fn(first+i, b)
			}
			if err != nil {
				return stale(err)
			}
		}
		return nil
	}
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
