package views

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unsafe"

	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/play"
)

// A blockKey names a block.
type blockKey struct {
	block int64
	step  int
}

// A block is a play.Block with the point behind its last tick, where the next one goes on.
type block struct {
	*play.Block
	chunk int
	point any // nil: there is none
}

// A Key tells entities apart: a Track ends where either number changes.
type Key struct{ ID, Part int64 }

// A Stage is where a Player shows who is there, frame by frame.
type Stage struct {
	*play.Block
	Tick int64 // of the frame that is being shown, which is number Frames

	step   int64
	events *Events

	meter
	tracks map[Key]int // the latest of each entity
}

// A meter counts what is being made to the request.
type meter struct {
	held          *formats.Held
	used, charged int64
	err           error
}

// newMeter returns a meter, whose held is to be freed.
func newMeter(ctx context.Context) (meter, error) {
	held, err := formats.Charge(ctx, 0)
	return meter{held: held}, err
}

// Use counts bytes that are kept alive.
func (m *meter) Use(n int64) {
	const once = 64 << 10
	if m.used += n; m.used > m.charged && m.err == nil {
		m.err = m.held.Grow(m.used + once - m.charged)
		m.charged = m.used + once
	}
}

// Track returns the Track of an entity in this frame, until the next is asked for. To a fresh one
// the Player gives ID, Name, Team and Kind; to every one a number for each of its columns.
func (s *Stage) Track(k Key) (t *play.Track, fresh bool) {
	i, ok := s.tracks[k]
	if !ok || s.Tracks[i].At+s.Tracks[i].N != s.Frames {
		i, fresh = len(s.Tracks), true
		s.Tracks = append(s.Tracks, play.Track{At: s.Frames})
		s.tracks[k] = i
		s.Use(trackCost)
	}
	t = &s.Tracks[i]
	t.N++
	s.Use(frameCost)
	return t, fresh
}

const (
	trackCost = 2*int64(unsafe.Sizeof(play.Track{})) + 64
	frameCost = 2 * 5 * 4 // of a track: the columns are at most half empty
)

// Frames implements play.Recording.
func (p *playing[T]) Frames(ctx context.Context, number int64, step int) (*play.Block, error) {
	if !play.IsStep(p.Kind, step) {
		return nil, play.BadParameter("step")
	}
	x, err := p.index(ctx)
	if err != nil {
		return nil, err
	}
	if _, _, ok := p.span(x, blockKey{number, step}); !ok {
		return nil, play.BadParameter("block")
	}
	b, err := p.blocks.Get(ctx, blockKey{number, step})
	if err != nil {
		return nil, err
	}
	return b.Block, nil
}

// span returns the ticks of a block that are in the recording; ok is false if none is.
func (p *playing[T]) span(x *T, k blockKey) (first, last int64, ok bool) {
	if p.chunks(x) == 0 || k.block < 0 {
		return 0, 0, false
	}
	size := play.FramesPerBlock(p.Kind) * int64(k.step)
	end := p.last(x)
	if k.block > end/size {
		return 0, 0, false
	}
	first = max(k.block*size, p.Chunk(x, 0).First)
	last = min(k.block*size+size-1, end)
	return first, last, first <= last
}

// end returns the last tick before the next chunk.
func (p *playing[T]) end(x *T, chunk int) int64 {
	if chunk+1 < p.chunks(x) {
		return p.Chunk(x, chunk+1).First - 1
	}
	return p.last(x)
}

// block makes a block. It goes on from the one before if that is at hand or is being made.
func (p *playing[T]) block(ctx context.Context, k blockKey) (*block, int64, error) {
	x, err := p.index(ctx)
	if err != nil {
		return nil, 0, err
	}
	if err := formats.Claim(ctx, p.usual.Load()); err != nil {
		return nil, 0, err
	}
	s := &Stage{Block: &play.Block{}, step: int64(k.step), tracks: map[Key]int{}}
	if s.meter, err = newMeter(ctx); err != nil {
		return nil, 0, err
	}
	defer s.held.Free()
	first, last, _ := p.span(x, k)
	s.Tick = (first + s.step - 1) / s.step * s.step
	s.First = s.Tick
	s.events = &Events{meter: &s.meter, first: first}
	b := &block{Block: s.Block, chunk: p.chunkOf(x, first)}
	if before, ok := p.blocks.Await(ctx, blockKey{k.block - 1, k.step}); ok && before.chunk == b.chunk {
		b.point = before.point
	}
	for {
		end := min(last, p.end(x, b.chunk))
		if err := p.show(ctx, x, s, b, first, end); err != nil {
			return nil, 0, err
		}
		if end == last {
			break
		}
		first, b.point = end+1, nil
		b.chunk++
	}
	s.Events, s.More = s.events.rows, s.events.more
	slices.SortFunc(s.Tracks, func(a, b play.Track) int { // in whatever order a Player has them
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	p.usual.Store(s.charged * 5 / 4)
	return b, s.used, nil
}

// show puts the ticks of a chunk on the stage, from the point of b on if it has one, and leaves the
// point where they end. What is damaged has frames in which nobody is.
func (p *playing[T]) show(ctx context.Context, x *T, s *Stage, b *block, first, last int64) error {
	player, err := p.Open(ctx, x, b.chunk, b.point)
	if err == nil && b.point == nil && first > p.Chunk(x, b.chunk).First {
		err = player.Play(ctx, first-1, nil)
	}
	b.point = nil
	if err == nil {
		err = s.play(ctx, player, last)
	}
	if err == nil {
		cost := int64(0)
		b.point, cost = player.Point()
		s.Use(cost)
	} else if IsDamage(err) {
		err = nil
	}
	for ; s.Tick <= last; s.Tick += s.step {
		s.Frames++
	}
	return errors.Join(err, s.err)
}

// play shows the frames of a Player up to a tick.
func (s *Stage) play(ctx context.Context, player Player, last int64) error {
	for ; s.Tick <= last; s.Tick += s.step {
		if err := player.Play(ctx, s.Tick, s.events); err != nil {
			return err
		}
		if err := cmp.Or(player.Show(ctx, s), s.err); err != nil {
			return err
		}
		s.Frames++
	}
	return player.Play(ctx, last, s.events)
}

// IsDamage reports whether an error says that bytes make no sense, and not that they could not be
// read.
func IsDamage(err error) bool {
	e, ok := errors.AsType[*formats.Error](err)
	return ok && !formats.IsShort(e) && !errors.Is(e, nodes.ErrStale)
}

// Events takes those that a Player passes.
type Events struct {
	*meter
	query *play.Query // nil: all, and of more than MaxEvents how many they are
	first int64       // of the ticks that are wanted
	rows  []play.Event
	more  int64
	full  bool // those of later ticks are not taken
}

// Wants reports whether an event of a kind at a tick is taken, before a Player makes it.
func (s *Events) Wants(tick int64, kind string) bool {
	switch {
	case s == nil || tick < s.first || s.full:
		return false
	case s.query != nil:
		return s.query.Kinds == nil || slices.Contains(s.query.Kinds, kind)
	case len(s.rows) >= play.MaxEvents:
		s.more++
		return false
	}
	return true
}

// Put takes an event that is wanted.
func (s *Events) Put(e play.Event) {
	if q := s.query; q != nil {
		text := e.Text
		if q.Told {
			text = e.Told().Text
		}
		if !play.HasWords(text, q.Words) || q.ID != "" && q.ID != e.ID && q.ID != e.To {
			return
		}
		n := len(s.rows)
		switch {
		case q.Back && n >= 2*(q.Limit+play.MaxEvents): // the last are wanted
			s.rows = s.rows[:copy(s.rows, s.rows[n/2:])]
		case q.Back || n < q.Limit:
		case s.rows[n-1].Tick != e.Tick:
			s.full = true
			return
		case n >= q.Limit+play.MaxEvents:
			return
		}
	}
	s.rows = append(s.rows, e)
	s.Use(eventCost + int64(len(e.Text)+len(e.Secret)))
}

// eventCost is about what one takes, without its text.
const eventCost = 256

// Events implements play.Recording. The events of one tick stay together, as far as they are no
// more than MaxEvents.
func (p *playing[T]) Events(ctx context.Context, q play.Query) (*play.Found, error) {
	x, err := p.index(ctx)
	if err != nil {
		return nil, err
	}
	m, err := newMeter(ctx)
	if err != nil {
		return nil, err
	}
	defer m.held.Free()
	found := &play.Found{Rows: []play.Event{}, Searched: q.From}
	chunk, way := p.chunkOf(x, q.From), 1
	if q.Back {
		way = -1
	} else {
		chunk = max(chunk, 0)
	}
	events := &Events{meter: &m, query: &q, first: q.From}
	for n := 0; n < play.MaxChunks && !events.full && 0 <= chunk && chunk < p.chunks(x); n++ {
		first, end := p.Chunk(x, chunk).First, p.end(x, chunk)
		if q.Back {
			events.first, end = first, min(end, q.From)
		}
		if err := p.search(ctx, x, chunk, end, events); err != nil {
			return nil, err
		}
		found.Searched = end
		if q.Back {
			found.Searched = first
			events.takeBack(found)
		}
		chunk += way
	}
	if !q.Back {
		found.Rows = append(found.Rows, events.rows...)
	}
	if n := len(found.Rows); events.full {
		found.Searched = found.Rows[n-1].Tick
	}
	if p.chunks(x) > 0 {
		next := found.Searched + int64(way)
		if p.Chunk(x, 0).First <= next && next <= p.last(x) {
			found.Next = &next
		}
	}
	return found, nil
}

// search plays a chunk for its events.
func (p *playing[T]) search(ctx context.Context, x *T, chunk int, end int64, events *Events) error {
	player, err := p.Open(ctx, x, chunk, nil)
	if err == nil {
		err = player.Play(ctx, end, events)
	}
	if err == nil || IsDamage(err) {
		err = ctx.Err()
	}
	return errors.Join(err, events.err)
}

// takeBack takes those of a chunk from the last on.
func (s *Events) takeBack(found *play.Found) {
	for _, e := range slices.Backward(s.rows) {
		n := len(found.Rows)
		if n >= s.query.Limit && found.Rows[n-1].Tick != e.Tick {
			s.full = true
			break
		}
		if n < s.query.Limit+play.MaxEvents {
			found.Rows = append(found.Rows, e)
		}
	}
	s.rows = s.rows[:0]
}
