package hcrp

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
)

// An indexer makes an index, or goes on with one.
type indexer struct {
	eventReader
	index    *index
	replay   *replay
	progress       // where it is
	given    int64 // bytes of the file that are given to the pass, if it is one

	current map[int64]int // entity to its track
	lives   map[int64]int // entity to how many tracks it has

	placed []placement // memory for those of a tick
}

func newIndexer(r eventReader) *indexer {
	s := &indexer{
		eventReader: r, replay: newReplay(r.Header.Layout),
		index: &index{
			rows: newRows(r.Chunks()), names: map[string]int64{}, order: r.byTick,
			eventRows: rowcount.New(eventsColumns), positionRows: rowcount.New(positionsColumns),
		},
		progress: progress{unknown: -1, sound: true}, given: math.MaxInt64,
		current: map[int64]int{}, lives: map[int64]int{},
	}
	// In the published layout ticks before the first chunk are missing.
	if len(r.byTick) > 0 && r.Header.Layout == Design {
		s.next = r.Entry(int(r.byTick[0])).Start
	}
	return s
}

// resume makes s go on with an index: what follows its progress is taken back.
func (s *indexer) resume(ctx context.Context, old *index) (err error) {
	s.index, s.progress = old, old.progress
	old.ranges = old.ranges[:s.ranges]
	for n := len(old.checkpoints); n > 0 && old.checkpoints[n-1].Range >= s.ranges; n-- {
		old.checkpoints = old.checkpoints[:n-1]
	}
	for i := range old.tracks {
		t := &old.tracks[i]
		s.lives[t.Entity] = t.Life
		if t.open() {
			s.current[t.Entity] = i
		}
	}
	if s.chunks < len(s.byTick) {
		p := playback{layout: s.Header.Layout, index: old, decode: s.decode}
		s.replay, err = p.before(ctx, s.ranges)
	}
	return err
}

// run decodes the chunks that the indexer has not come to yet. Chunks at the end whose bytes are
// missing may come with the next version of the recording, so the saved progress stays before them.
// Errors other than damage end the pass.
func (s *indexer) run(ctx context.Context) (*index, error) {
	if err := s.enough(ctx); err != nil {
		return nil, err
	}
	bodies := newPass(s.eventReader, allText)
	defer bodies.end()
	order := s.byTick
	end := len(order)
	for end > s.chunks && s.flaw(int(order[end-1])) != nil {
		end--
	}
	if n := slices.IndexFunc(order[s.chunks:end], s.beyond); n >= 0 {
		end = s.chunks + n
	}
	for ; s.chunks < end; s.chunks++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.chunks > 0 {
			s.index.eventRows.EndChunk()
			s.index.positionRows.EndChunk()
		}
		i := int(order[s.chunks])
		c, err := bodies.decode(ctx, i)
		bad, damaged := formats.Coded(err)
		switch {
		case damaged:
			s.unreadable(i)
			if s.flaw(i) == nil { // else it is known without the index
				s.index.problems.append(bad.Problem())
			}
		case err != nil:
			return nil, err
		default:
			s.chunk(i, c)
		}
	}
	s.ranges = len(s.index.ranges)
	s.index.progress = s.progress
	s.index.sum, s.index.files = s.sumOf(s.chunks), s.reach(s.chunks)
	for _, i := range order[end:] {
		s.unreadable(int(i))
	}
	s.index.complete = s.sound && s.whole && len(order) == s.Chunks()
	slices.SortStableFunc(s.index.problems, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	s.index.ticks.finish()
	return s.index, nil
}

// beyond reports whether a chunk lies in bytes that are not given.
func (s *indexer) beyond(i int32) bool {
	return !s.segmented && s.flaw(int(i)) == nil && s.place(int(i)).offset+s.Entry(int(i)).Stored > s.given
}

// unreadable notes a chunk that cannot be decoded.
func (s *indexer) unreadable(i int) {
	s.sound, s.lost = false, true
	s.advance(s.Entry(i).Start)
	s.unknown = max(s.unknown, s.Entry(i).Last())
}

// chunk takes in a decoded chunk.
func (s *indexer) chunk(i int, c *chunk) {
	s.index.rows[i] = row{int32(c.records), int32(len(c.events))}
	for _, p := range c.problems {
		s.sound = false
		s.index.problems.append(p)
	}
	for k := range c.events {
		s.index.names[c.name(&c.events[k])]++
	}
	for k := range c.ticks {
		if !s.index.ticks.add(c.ticks[k].n) {
			s.sound = false
		}
	}
	if c.stop == nil {
		s.index.empty += c.entry.Ticks - int64(len(c.ticks))
	}
	c.countEvents(s.index.eventRows, i)
	s.tickRange(i, c)
	if c.known < c.entry.Last() {
		s.unknown = max(s.unknown, c.entry.Last())
	}
}

// advance goes on to tick first, where a chunk begins. A gap in which nothing happened becomes a
// hole. It reports whether ticks are missing instead.
func (s *indexer) advance(first int64) (lost bool) {
	switch n := len(s.index.ranges); {
	case first <= s.next:
		return false
	case s.unknown >= s.next || s.Header.Layout == Published:
		return true
	case n > 0:
		s.add(tickRange{First: s.next, Last: first - 1, Chunk: s.index.ranges[n-1].Chunk, Hole: true}, &chunk{}, 0)
	}
	s.next = first
	return false
}

// tickRange appends the part of the chunk that is known and that no tick range has.
func (s *indexer) tickRange(i int, c *chunk) {
	lost := s.advance(c.entry.Start)
	first := max(c.entry.Start, s.next)
	s.note(c, first)
	if c.known < first {
		return
	}
	s.add(tickRange{First: first, Last: c.known, Chunk: int32(i), Lost: lost}, c, c.entry.Size)
	s.next = c.known + 1
}

// add plays a tick range of a chunk with a body of size bytes, and appends it. A checkpoint is made
// before it once at least as many bytes of bodies were played since the last one as the checkpoint
// takes, so all of them together never outgrow the recording. As the bytes that must be played also
// grow by 1 with every 16 checkpoints, a recording of very many tiny chunks has few.
func (s *indexer) add(st tickRange, c *chunk, size int64) {
	number := len(s.index.ranges)
	if number == 0 || s.played > int64(len(s.index.checkpoints))/16 {
		if saved := s.replay.encode(); number == 0 || s.played >= int64(len(saved)) {
			s.index.checkpoints = append(s.index.checkpoints, checkpoint{number, saved})
			s.played = 0
		}
	}
	s.played += size
	w := sizer{indexer: s, chunk: c, ghost: ghostRows{replay: s.replay}, rows: map[int]int64{}}
	s.replay.play(&st, c, st.Last, &w)
	st.Ghost = w.ghost.size
	for _, k := range slices.Sorted(maps.Keys(w.rows)) {
		t := &s.index.tracks[k]
		t.Pieces = append(t.Pieces, piece{number, w.rows[k]})
	}
	s.index.ranges = append(s.index.ranges, st)
}

// A sizer measures the rows that a tick range gives.
type sizer struct {
	*indexer
	chunk *chunk
	ghost ghostRows
	rows  map[int]int64 // bytes, by track
	buf   []byte
}

func (w *sizer) event(t *tick, k int, placed bool) {
	e := &w.chunk.events[k]
	if i := w.trackOf(e, moment{t.n, k - t.first}, placed, k < w.chunk.marked); i >= 0 {
		w.placed = append(w.placed, placement{i, e.entity, w.index.tracks[i].Life, w.replay.positions[e.entity]})
	}
}

func (w *sizer) tick(n int64) {
	list := lastPlacements(w.placed)
	for i := range list {
		p := &list[i]
		w.buf = appendTrackRow(w.buf[:0], n, &p.pos)
		w.rows[p.track] += int64(len(w.buf))
		if positionRow(w.index.positionRows.Batch, n, p) {
			w.index.positionRows.EndRow()
		}
	}
	w.placed = w.placed[:0]
	w.ghost.tick(n)
}

// trackOf returns the track that this event gives a row, or -1. An entity id that is spawned again
// begins a new track.
func (s *indexer) trackOf(e *event, at moment, placed, snapshot bool) int {
	if e.def == nil || !e.hasAll(captureEntity) {
		return -1
	}
	if e.def.Role == roleRemove {
		s.endTrack(e.entity, at)
		delete(s.current, e.entity)
	}
	if !placed {
		return -1
	}
	i, ok := s.current[e.entity]
	if ok && (e.def.Role != roleSpawn || snapshot) {
		return i
	}
	if len(s.index.tracks) >= maxTracks {
		return -1
	}
	s.endTrack(e.entity, at)
	s.lives[e.entity]++
	i = len(s.index.tracks)
	s.current[e.entity] = i
	s.index.tracks = append(s.index.tracks, track{Entity: e.entity, Life: s.lives[e.entity], From: at, To: endless})
	return i
}

func (s *indexer) endTrack(entity int64, at moment) {
	if i, ok := s.current[entity]; ok {
		s.index.tracks[i].To = at
	}
}

// note appends the markers of the recorded ticks from first on. Of more text than a document may
// have only as much is kept as shows that it is too much.
func (s *indexer) note(c *chunk, first int64) {
	for i := range c.ticks {
		t := &c.ticks[i]
		if t.n < first {
			continue
		}
		for k := t.first; k < t.last; k++ {
			e := &c.events[k]
			if e.def == nil || e.def.Role != roleMarker || len(s.index.markers) > s.limits.Text {
				continue
			}
			if len(s.index.markers) > 0 {
				s.index.markers = append(s.index.markers, ',')
			}
			s.index.markers = appendMoment(s.index.markers, t.n)
			s.index.markers = append(append(s.index.markers, ','), c.bytes(e.text)[1:]...)
		}
	}
}
