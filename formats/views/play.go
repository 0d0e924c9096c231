package views

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/play"
)

// A Play declares how a recording plays (docs/tree/page.md section 3).
type Play[T any] struct {
	Kind string // one of those of package play

	// About tells what the index alone knows: TickMS, Start, Unit, Bounds, Map, and Lanes if there are
	// others than that of Players and that of the bytes of Chunk.
	About func(ctx context.Context, x *T) (*play.About, error)
	// Marks returns how many moments there are to jump to, in their order, and each; nil: none.
	Marks func(ctx context.Context, x *T) (int, func(i int) play.Mark, error)
	// Players returns how many took part, in the order of players.json, and each; nil: none.
	Players func(ctx context.Context, x *T) (int, func(i int) play.Player, error)

	// Chunks is how many stretches are decoded at once, and Chunk where each lies. They are in the
	// order of time; between two of them, all is as at the end of the first. What has no time leaves
	// out these and all below, and its About gets no index.
	Chunks func(x *T) int
	Chunk  func(x *T, i int) Stretch

	// Open returns a Player of a chunk, for one request, that stands before the first tick of it; or
	// where another one stood whose Point returned at.
	Open func(ctx context.Context, x *T, chunk int, at any) (Player, error)
}

// A Stretch is a chunk in time.
type Stretch struct {
	First, Last int64 // ticks
	Bytes       int64 // that are decoded
}

// A Player goes through the ticks of a chunk. The error of what is damaged is a [formats.Error]:
// the rest of the chunk has then no frames.
type Player interface {
	// Play goes on to the end of a tick, which may be after the chunk, and tells of what happens on
	// the way: nil takes nothing.
	Play(ctx context.Context, tick int64, events *Events) error
	// Show puts on the stage who is there.
	Show(ctx context.Context, s *Stage) error
	// Point returns where it stands, for Open, and about how many bytes that keeps alive. The Player
	// is not used any more.
	Point() (at any, cost int64)
}

// A playing is a recording that plays.
type playing[T any] struct {
	*Play[T]
	index  func(context.Context) (*T, error)
	abouts *cache.Memo[struct{}, *play.About]
	blocks *cache.Memo[blockKey, *block]
	usual  atomic.Int64 // bytes that a block takes, by the last one
}

// A playingDir is the directory of a recording that plays.
type playingDir struct {
	nodes.Dir
	play.Recording
}

// chunks is how many there are.
func (p *playing[T]) chunks(x *T) int {
	if p.Chunks == nil {
		return 0
	}
	return p.Chunks(x)
}

// last is the last tick.
func (p *playing[T]) last(x *T) int64 { return p.Chunk(x, p.chunks(x)-1).Last }

// chunkOf returns the chunk that is decoded for a tick, -1 before the first one.
func (p *playing[T]) chunkOf(x *T, tick int64) int {
	return sort.Search(p.chunks(x), func(k int) bool { return p.Chunk(x, k).First > tick }) - 1
}

// About implements play.Recording.
func (p *playing[T]) About(ctx context.Context) (*play.About, error) {
	return p.abouts.Get(ctx, struct{}{})
}

func (p *playing[T]) about(ctx context.Context, _ struct{}) (*play.About, int64, error) {
	var x *T
	var err error
	if p.Chunks != nil { // what has no time is told of without
		x, err = p.index(ctx)
	}
	if err != nil {
		return nil, 0, err
	}
	a, err := p.Play.About(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	a.Kind = p.Kind
	if a.Lanes == nil {
		a.Lanes = []play.Lane{}
	}
	if err := p.marks(ctx, x, a); err != nil || p.chunks(x) == 0 {
		return a, aboutCost, err
	}
	first, last := p.Chunk(x, 0).First, p.last(x)
	a.First, a.Last = &first, &last
	if len(a.Lanes) == 0 && p.Play.Players != nil {
		players, err := p.presence(ctx, x, first, last)
		if err != nil {
			return nil, 0, err
		}
		a.Lanes = []play.Lane{{Name: "players", Values: players}, {Name: "activity", Values: p.activity(x, first, last)}}
	}
	return a, aboutCost, nil
}

// aboutCost is about what one keeps alive.
const aboutCost = 128 << 10

// marks adds at most MaxMarks, spread evenly.
func (p *playing[T]) marks(ctx context.Context, x *T, a *play.About) error {
	a.Marks = []play.Mark{}
	if p.Marks == nil {
		return nil
	}
	n, mark, err := p.Marks(ctx, x)
	if err != nil {
		return err
	}
	a.Marks = play.Spread(n, play.MaxMarks, mark)
	a.More = int64(n - len(a.Marks))
	return nil
}

// presence returns the most players who were there at once in each piece of the time.
func (p *playing[T]) presence(ctx context.Context, x *T, first, last int64) ([]float64, error) {
	n, player, err := p.Play.Players(ctx, x)
	if err != nil {
		return nil, err
	}
	held, err := formats.Charge(ctx, 32*int64(n))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	type change struct{ tick, by int64 }
	changes := make([]change, 0, 2*n)
	for i := range n {
		who := player(i)
		changes = append(changes, change{max(who.First, first), 1}, change{who.Last + 1, -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.by, b.by)) })
	lane := newLane(first, last)
	there, at := int64(0), first
	for _, c := range append(changes, change{last + 1, 0}) {
		if c.tick > at && at <= last {
			for i, end := lane.piece(at), lane.piece(min(c.tick-1, last)); i <= end; i++ {
				lane.values[i] = max(lane.values[i], float64(there))
			}
			at = c.tick
		}
		there += c.by
	}
	return lane.values, nil
}

// activity returns how many bytes a tick each piece of the time has.
func (p *playing[T]) activity(x *T, first, last int64) []float64 {
	lane := newLane(first, last)
	for k := range p.chunks(x) {
		c := p.Chunk(x, k)
		end := p.end(x, k) + 1
		perTick := float64(c.Bytes) / float64(max(end-c.First, 1))
		for i := lane.piece(c.First); i < len(lane.values) && lane.start(i) < end; i++ {
			covered := min(end, lane.start(i+1)) - max(c.First, lane.start(i))
			lane.values[i] += perTick * float64(covered) / float64(lane.start(i+1)-lane.start(i))
		}
	}
	for i, v := range lane.values {
		lane.values[i] = float64(int64(v*10+0.5)) / 10
	}
	return lane.values
}

// A lane is the time of a recording in pieces.
type lane struct {
	first, ticks int64
	values       []float64
}

func newLane(first, last int64) lane {
	ticks := last - first + 1
	return lane{first, ticks, make([]float64, min(ticks, play.LaneValues))}
}

// piece returns the one that a tick is in.
func (l *lane) piece(tick int64) int {
	n := int64(len(l.values))
	return int(((tick-l.first)*n + n - 1) / l.ticks)
}

// start returns the first tick of a piece.
func (l *lane) start(i int) int64 { return l.first + int64(i)*l.ticks/int64(len(l.values)) }

// Players implements play.Recording.
func (p *playing[T]) Players(ctx context.Context, q string, first, limit int) ([]play.Player, int, error) {
	x, err := p.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	list, found := []play.Player{}, 0
	if p.Play.Players == nil {
		return list, 0, nil
	}
	n, player, err := p.Play.Players(ctx, x)
	if err != nil {
		return nil, 0, err
	}
	for i := range n {
		who := player(i)
		if !play.HasWords(who.Name, q) {
			continue
		}
		if found >= first && len(list) < limit {
			list = append(list, who)
		}
		found++
	}
	return list, found, nil
}
