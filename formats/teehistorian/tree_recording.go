package teehistorian

import (
	"context"
	"errors"
	"sort"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

// A tree is an opened recording.
type tree struct {
	*views.Tree[index]
	header  *header
	readMap func(context.Context, []byte) (*formats.Outline, error)

	// Each Memo uses only those before it.
	names  *cache.Memo[struct{}, *names]
	blocks *cache.Memo[blockKey, *block]
	tables *cache.Memo[tableKey, map[int32][]byte]
	active *cache.Memo[int, []activity]
	runs   *cache.Memo[struct{}, []run]
	shots  *cache.Memo[int32, *shot] // of runs
}

// names are the names of the directories of the stays, and the directory of these.
type names struct {
	dirs    []string
	players func() nodes.Dir
}

// A blockKey names a block of ticks or of states.
type blockKey struct {
	chunk, block int
	states       bool
}

// A tableKey names the rows of one table in one chunk.
type tableKey struct {
	chunk int
	table table
}

// of returns a decoder of the recording.
func (t *tree) of(x *index) *recording {
	return &recording{src: t.Input, idx: x, version1: t.header.version1, render: renderer{t.header.idents}}
}

// get returns the indexed recording.
func (t *tree) get(ctx context.Context) (*recording, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	return t.of(x), nil
}

// named returns the indexed recording with the names of its stays.
func (t *tree) named(ctx context.Context) (*recording, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	n, err := t.names.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	r.dirs, r.growing, r.events = n.dirs, t.Grows && r.idx.mayGrow(), logWriter{t.header.began, r.who}
	return r, nil
}

// named returns a recording that has only the index and the directories of the stays.
func (x *index) named() *recording { return &recording{idx: x, dirs: x.dirs(nodes.SafeName)} }

// stale tells a source that was replaced from one that cannot be read: what could be decoded once
// does not become bad.
func stale(err error) error {
	if errors.Is(err, errBad) || errors.Is(err, errShort) {
		return nodes.ErrStale
	}
	return err
}

// chunkCount is the number of chunks.
func (x *index) chunkCount() int { return len(x.chunks) }

// mayGrow reports whether the records may go on.
func (x *index) mayGrow() bool { return x.end == endUnfinished || x.end == endCut }

// numbers returns the ticks with records.
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
	return x.chunks[k].ordinal, x.chunks[k].ordinal + x.chunks[k].Count
}

// chunk returns a file of chunks/.
func (t *tree) chunk(x *index, n int) (nodes.File, error) {
	c := &x.chunks[n]
	return nodes.Section(t, c.offset, c.Size), nil
}

// lines returns a file of lines/. While the recording is being written, its last tick may go on.
func (t *tree) lines(x *index, n int) (nodes.File, error) {
	if c := &x.chunks[n]; !t.Running || !t.Grows || !x.mayGrow() || n < len(x.chunks)-1 {
		return nodes.Stream(c.Lines, t.Text("lines", n, t.text(n, c.Last, false)).Open), nil
	}
	return t.Text("lines", n, t.text(n, x.lastTick()-1, false)), nil
}

// hasState reports whether there is a state of tick n.
func (t *tree) hasState(ctx context.Context, n int64) (bool, error) {
	x, err := t.Index(ctx)
	return err == nil && x.spans(n), err
}

// longTick returns the document of a tick if it is a long one.
func (t *tree) longTick(ctx context.Context, n int64) (nodes.Content, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	k, tick := x.chunkOf(int32(n)), int32(n)
	if c := &x.chunks[k]; !c.isLong() || c.Last != tick {
		return nil, nil
	}
	return t.Text("ticks", k, t.text(k, tick, true)).Open(ctx)
}

// doc returns the function that makes the document of a tick, or of the state after it.
func (t *tree) doc(states bool) func(context.Context, int64) ([]byte, error) {
	return func(ctx context.Context, n int64) ([]byte, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		k := x.chunkOf(int32(n))
		ticks := x.ticksOf(k)
		i := sort.Search(len(ticks), func(i int) bool { return int64(ticks[i]) > n }) - 1 // the last one that is not after n
		size := x.blockLen(k)
		b, err := t.blocks.Get(ctx, blockKey{k, i / size, states})
		if err != nil {
			return nil, err
		}
		start := 0
		if i %= size; i > 0 {
			start = b.ends[i-1]
		}
		doc := b.docs[start:b.ends[i]]
		if states { // of a tick without records, too
			doc = append(appendDocumentHead(make([]byte, 0, len(doc)+64), int32(n)), doc...)
		}
		return doc, nil
	}
}

// eachDoc returns the function that makes the documents of a chunk in order, without a long one.
func (t *tree) eachDoc(states bool) func(context.Context, *index, int, int, func(int, []byte) error) error {
	return func(ctx context.Context, x *index, first, end int, fn func(i int, doc []byte) error) error {
		r, err := t.get(ctx)
		if err != nil {
			return err
		}
		i, whole := first, []byte(nil)
		_, err = r.docs(ctx, nil, x.chunkOf(x.tickNumber(first)), 0, end-first, chunkSize, states, func(tick int32, doc []byte) error {
			if states {
				whole = append(appendDocumentHead(whole[:0], tick), doc...)
				doc = whole
			}
			i++
			return fn(i-1, doc)
		})
		return stale(err)
	}
}

// loadBlock renders a block. If the one before is at hand, it goes on from there, so that reading
// them in order is linear.
func (t *tree) loadBlock(ctx context.Context, k blockKey) (*block, int64, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	var from *point
	if before, ok := t.blocks.Peek(blockKey{k.chunk, k.block - 1, k.states}); ok {
		from = before.next
	}
	b, n := &block{}, r.idx.blockLen(k.chunk)
	end := min((k.block+1)*n, r.idx.chunks[k.chunk].Count)
	b.next, err = r.docs(ctx, from, k.chunk, k.block*n, end, blockWindow, k.states, func(_ int32, doc []byte) error {
		b.docs = append(b.docs, doc...)
		b.ends = append(b.ends, len(b.docs))
		return nil
	})
	if err != nil {
		return nil, 0, stale(err)
	}
	return b, int64(cap(b.docs) + 8*cap(b.ends) + cap(b.next.state.players)*playerSize + stateSize), nil
}

// text returns the lines of a chunk up to a tick, or the document of that tick.
func (t *tree) text(k int, last int32, document bool) func(context.Context, *index) (*views.Text, error) {
	return func(_ context.Context, x *index) (*views.Text, error) {
		c := &x.chunks[k]
		return &views.Text{
			N: c.parts(), Cost: int64(c.parts() * (stateSize + c.Weight*playerSize)), Claim: c.held(),
			Make: func(ctx context.Context, i int, at any) (views.Part, error) {
				r, err := t.get(ctx)
				if err != nil {
					return views.Part{}, err
				}
				p, ok := at.(partPlace)
				if !ok {
					p = partPlace{lines: jsonLines{render: &r.render}, first: true}
				}
				b, err := r.part(ctx, make([]byte, 0, min(c.Lines/int64(c.parts()), longLines)), &p, k, i, last, document)
				return views.Part{Bytes: b, Next: p}, stale(err)
			},
		}, nil
	}
}

// clock counts ticks from the start of the game, tick 0.
func (t *tree) clock(x *index) nodes.Clock {
	first, last := x.span()
	return views.SteadyClock(t.header.began.Time, tickTime(1), first, last)
}

// tick returns the tick of a date, or of a time of day: the first from the start on.
func (s startTime) tick(text string) (int64, bool) {
	if s.Time == nil {
		return 0, false
	}
	t, ok := nodes.MomentFrom(text, *s.Time)
	return int64(t.Sub(*s.Time) / tickTime(1)), ok
}
