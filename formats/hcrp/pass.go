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
	*Reader
	index    *index
	replay   *replay
	progress       // where it is
	given    int64 // how many bytes of the file the pass may read

	current map[int64]int // entity to its track
	lives   map[int64]int // entity to how many tracks it has

	placed []placement // memory for those of a tick
}

func newIndexer(r *Reader) *indexer {
	s := &indexer{
		Reader: r, replay: newReplay(r.Header.Layout),
		index: &index{
			rows: newRows(r.Chunks()), names: map[string]int64{}, order: r.byTick,
			eventRows: rowcount.New(eventsColumns), positionRows: rowcount.New(positionsColumns), markerRows: rowcount.New(markersColumns),
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

// resume makes s go on with an index, without what follows the progress of that.
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
	if err := formats.Claim(ctx, s.largest()); err != nil {
		return nil, err
	}
	bodies := newPass(s.Reader, false)
	defer bodies.end()
	s.replay.floats = &bodies.floats
	order := s.byTick
	end := len(order)
	for end > s.chunks && s.flaw(int(order[end-1])) != nil {
		end--
	}
	if n := slices.IndexFunc(order[s.chunks:end], s.beyond); n >= 0 {
		for end = s.chunks + n; end > s.chunks && !s.splits(end); end-- {
		}
	}
	if s.chunks < end && !s.splits(s.chunks) { // ticks in the index may belong to other chunks now
		return nil, formats.ErrOther
	}
	for s.chunks < end {
		n := s.chunks + 1
		for n < end && !s.splits(n) {
			n++
		}
		if err := s.group(ctx, bodies, n); err != nil {
			return nil, err
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

// beyond reports whether a chunk ends after the bytes that the pass may read.
func (s *indexer) beyond(i int32) bool {
	return !s.segmented && s.flaw(int(i)) == nil && s.place(int(i)).offset+s.Entry(int(i)).Stored > s.given
}

// group adds the chunks up to place end in the order of ticks. Together they overlap no other
// chunk.
func (s *indexer) group(ctx context.Context, bodies *pass, end int) error {
	var claims []claim
	bodies.decoded = 0
	first := s.Entry(int(s.byTick[s.chunks])).Start
	for ; s.chunks < end; s.chunks++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.chunks > 0 {
			s.index.eventRows.EndChunk()
		}
		i := s.byTick[s.chunks]
		c, err := bodies.decode(ctx, int(i))
		bad, damaged := formats.Coded(err)
		switch {
		case damaged:
			s.sound, s.lost = false, true
			if s.flaw(int(i)) == nil { // otherwise the problem is known without the index
				s.index.problems.append(bad.Problem())
			}
		case err != nil:
			return err
		default:
			s.chunk(int(i), c)
			claims = c.claims(claims, i)
		}
	}
	s.advance(first)
	err := s.play(ctx, bodies, settle(claims))
	if last := int64(s.lasts[end-1]); s.next <= last {
		s.unknown = last
	}
	s.countTo(s.index.positionRows, math.MaxInt64)
	s.countTo(s.index.markerRows, math.MaxInt64)
	return err
}

// unreadable notes a chunk that cannot be decoded.
func (s *indexer) unreadable(i int) {
	s.sound, s.lost = false, true
	s.advance(s.Entry(i).Start)
	s.unknown = max(s.unknown, s.Entry(i).Last())
}

// chunk adds a decoded chunk.
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
	s.index.foreign = s.index.foreign || c.foreign
	c.addEvents(s.index.eventRows.Batch, i, s.index.eventRows.EndRow)
}

// advance moves on to tick first, where a chunk begins, unless ticks before it are unknown. A gap,
// in which nothing happened, becomes a hole.
func (s *indexer) advance(first int64) {
	n := len(s.index.ranges)
	if first <= s.next || s.unknown >= s.next || s.Header.Layout == Published {
		return
	}
	if n > 0 {
		s.add(tickRange{First: s.next, Last: first - 1, Chunk: s.index.ranges[n-1].Chunk, Hole: true}, &chunk{}, 0)
	}
	s.next = first
}

// maxTurns bounds how often overlapping chunks are decoded again. They may take turns at each tick,
// and be too large to be kept in between.
const maxTurns = 16

// play plays the ticks that belong to chunks. A body counts once for the next checkpoint.
func (s *indexer) play(ctx context.Context, bodies *pass, list []tickRange) error {
	played, most := map[int32]bool{}, (maxTurns+1)*bodies.decoded+maxKeptWeight
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if bodies.decoded > most {
			s.sound = false
			s.index.problems.addChunk(codeIndexTicks, int(r.Chunk), place{-1, s.Entry(int(r.Chunk)).at}, "overlapping chunks take turns too often: from tick %d on they are unknown", r.First)
			return nil
		}
		c, err := bodies.decode(ctx, int(r.Chunk))
		if err != nil {
			return err
		}
		if r.Cut {
			s.note(&r, c)
			s.index.ranges = append(s.index.ranges, r)
			continue
		}
		size := c.entry.Size
		if played[r.Chunk] {
			size = 0
		}
		played[r.Chunk] = true
		r.Lost = r.First > s.next
		s.add(r, c, size)
		s.next = r.Last + 1
	}
	return nil
}

// maxRange is how many ticks a range has at most, so that files of rows can be made range by range.
const maxRange = 1 << 16

// add plays the ticks of a chunk with a body of size bytes, and appends them as ranges.
func (s *indexer) add(r tickRange, c *chunk, size int64) {
	for last := r.Last; r.First <= last; r.First, r.Lost, size = r.Last+1, false, 0 {
		r.Last = min(last, r.First+maxRange-1)
		s.note(&r, c)
		s.addRange(r, c, size)
	}
}

// addRange plays a tick range and appends it. It makes a checkpoint before the range if the bodies
// that were played since the last one have at least as many bytes as the checkpoint, so checkpoints
// never take more than the recording. The number of bytes that must be played grows by 1 with every
// 16 checkpoints, so that a recording of many tiny chunks has few.
func (s *indexer) addRange(r tickRange, c *chunk, size int64) {
	number := len(s.index.ranges)
	if number == 0 || s.played > int64(len(s.index.checkpoints))/16 {
		if saved := s.replay.encode(); number == 0 || s.played >= int64(len(saved)) {
			s.index.checkpoints = append(s.index.checkpoints, checkpoint{number, saved})
			s.played = 0
		}
	}
	s.played += size
	w := sizer{indexer: s, ghost: ghostRows{replay: s.replay}, rows: map[int]int64{}}
	s.replay.play(&r, c, r.Last, &w)
	r.Ghost = w.ghost.size
	for _, k := range slices.Sorted(maps.Keys(w.rows)) {
		t := &s.index.tracks[k]
		t.Pieces = append(t.Pieces, piece{number, w.rows[k]})
	}
	s.index.ranges = append(s.index.ranges, r)
}

// countTo tells a table that its next rows are of tick n. Its rows are in the order of ticks, and a
// row counts for the last chunk that begins at or before its tick.
func (s *indexer) countTo(rows *rowcount.Counter, n int64) {
	for k := rows.Chunks(); k < s.chunks && s.Entry(int(s.byTick[k])).Start <= n; k++ {
		rows.EndChunk()
	}
}

// A sizer measures the rows that a tick range gives.
type sizer struct {
	*indexer
	chunk *chunk
	ghost ghostRows
	rows  map[int]int64 // bytes, by track
	buf   []byte
}

func (w *sizer) begin(_ *tickRange, c *chunk) { w.chunk = c }

func (w *sizer) event(t *tick, k int, placed bool) {
	e := &w.chunk.events[k]
	if i := w.trackOf(e, moment{t.n, k - t.first}, placed, k < w.chunk.marked); i >= 0 {
		w.placed = append(w.placed, placement{i, e.entity, w.index.tracks[i].Life, w.replay.positions[e.entity]})
	}
}

func (w *sizer) tick(n int64) {
	list := lastPlacements(w.placed)
	if len(list) > 0 {
		w.countTo(w.index.positionRows, n)
	}
	for i := range list {
		p := &list[i]
		w.buf = appendTrackRow(w.buf[:0], n, &p.pos, w.indexer.replay.floats)
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

// note adds the markers of a tick range.
func (s *indexer) note(r *tickRange, c *chunk) {
	var text []byte
	for m := range c.markers(r.First, r.Last) {
		s.countTo(s.index.markerRows, m.Tick)
		m.row(s.index.markerRows.Batch)
		s.index.markerRows.EndRow()
		text = m.appendLine(text[:0])
		r.Markers += int64(len(text))
		s.index.markers.add(m)
	}
}
