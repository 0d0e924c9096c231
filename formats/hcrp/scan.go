package hcrp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// Bounds of what a scan keeps; no real recording comes near.
const (
	maxTracks = 1 << 20
	maxRuns   = 1 << 23
)

// A scan is what is known of a recording after decoding every chunk once.
type scan struct {
	rows     []row // by chunk
	names    map[string]int64
	empty    int64 // ticks without record in chunks that decode to their end
	problems problemList
	complete bool

	ticks     runs
	stretches []stretch
	saves     []save
	tracks    []track
	markers   []byte // elements of a JSON list

	seal seal // of the chunks that need not be decoded again
	mark mark // what was known behind them
}

// A row is what the scan adds to the table of chunks.
type row struct{ records, events int32 }

// unreadable is the row of a chunk of which nothing can be had.
var unreadable = row{-1, -1}

func newRows(n int) []row { return slices.Repeat([]row{unreadable}, n) }

// A save is the player in front of a stretch.
type save struct {
	Stretch int
	Player  []byte
}

// A track is the way of one entity, until its id stands for another one.
type track struct {
	Entity int64
	Life   int
	From   moment // its first event
	To     moment // the first event that is not of it; endless: there is none yet
	Parts  []part // where its rows are
}

// A moment is an event's place in time.
type moment struct {
	Tick  int64
	Event int
}

func (m moment) before(o moment) bool {
	return m.Tick < o.Tick || m.Tick == o.Tick && m.Event < o.Event
}

// endless is behind every event.
var endless = moment{Tick: math.MaxInt64}

// A part is how many bytes of rows a stretch gives.
type part struct {
	Stretch int
	Size    int64
}

// open tells whether the track may go on.
func (t *track) open() bool { return t.To == endless }

// Bytes returns the size of the track's rows.
func (t *track) Bytes() (n int64) {
	for _, p := range t.Parts {
		n += p.Size
	}
	return n
}

// A mark is how far a scan has come.
type mark struct {
	chunks, stretches int
	next              int64 // first tick that no stretch has
	unknown           int64 // last tick that is unknown
	played            int64 // bytes of bodies since the last saved player
	sound             bool  // nothing is wrong so far
	lost              bool  // a chunk is not readable
}

// A scanner makes a scan, or goes on with one.
type scanner struct {
	reader *Reader
	decode func(context.Context, int) (*chunk, error)
	scan   *scan
	player *player
	mark   // where it is

	current map[int64]int // entity to its track
	lives   map[int64]int // entity to how many tracks it has
}

func newScanner(r *Reader, decode func(context.Context, int) (*chunk, error)) *scanner {
	s := &scanner{
		reader: r, decode: decode, player: newPlayer(r.Header.Layout),
		scan:    &scan{rows: newRows(r.Chunks()), names: map[string]int64{}},
		mark:    mark{unknown: -1, sound: true},
		current: map[int64]int{}, lives: map[int64]int{},
	}
	if len(r.byTick) > 0 && r.Header.Layout == Design { // in the published layout ticks are missing in front of it
		s.next = r.Entry(int(r.byTick[0])).Start
	}
	return s
}

// run decodes the chunks behind the mark. Chunks at the end whose bytes are
// not there may come with the next version of the recording, so the mark
// stays in front of them. Errors other than damage end the scan.
func (s *scanner) run(ctx context.Context) (*scan, error) {
	order := s.reader.byTick
	end := len(order)
	for end > s.chunks && s.reader.flaw(int(order[end-1])) != nil {
		end--
	}
	for ; s.chunks < end; s.chunks++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		i := int(order[s.chunks])
		c, err := s.decode(ctx, i)
		var bad *damage
		switch {
		case errors.As(err, &bad):
			s.unreadable(i)
			if s.reader.flaw(i) == nil { // else it is known without the scan
				s.scan.problems.append(bad.Problem)
			}
		case err != nil:
			return nil, err
		default:
			s.chunk(i, c)
		}
	}
	s.stretches = len(s.scan.stretches)
	s.scan.mark = s.mark
	for _, i := range order[end:] {
		s.unreadable(int(i))
	}
	s.scan.complete = s.sound && s.reader.whole && len(order) == s.reader.Chunks()
	slices.SortStableFunc(s.scan.problems, func(a, b formats.Problem) int { return cmp.Compare(*a.Chunk, *b.Chunk) })
	s.scan.ticks.finish()
	return s.scan, nil
}

// unreadable notes a chunk of which nothing can be had.
func (s *scanner) unreadable(i int) {
	s.sound, s.lost = false, true
	s.reach(s.reader.Entry(i).Start)
	s.unknown = max(s.unknown, s.reader.Entry(i).Last())
}

// chunk takes in a decoded chunk.
func (s *scanner) chunk(i int, c *chunk) {
	s.scan.rows[i] = row{int32(c.records), int32(len(c.events))}
	for _, p := range c.problems {
		s.sound = false
		s.scan.problems.append(p)
	}
	for k := range c.events {
		s.scan.names[c.name(&c.events[k])]++
	}
	for k := range c.ticks {
		if !s.scan.ticks.add(c.ticks[k].n) {
			s.sound = false
		}
	}
	if c.stop == nil {
		s.scan.empty += c.entry.Ticks - int64(len(c.ticks))
	}
	s.stretch(i, c)
	if c.known < c.entry.Last() {
		s.unknown = max(s.unknown, c.entry.Last())
	}
}

// name returns the name of an event.
func (c *chunk) name(e *event) string {
	if e.def == nil {
		return "unknown"
	}
	return e.def.Name
}

// reach goes on to tick first, where a chunk begins: over a hole, if there is
// one in which nothing happened. It returns true if ticks are missing there.
func (s *scanner) reach(first int64) (lost bool) {
	switch n := len(s.scan.stretches); {
	case first <= s.next:
		return false
	case s.unknown >= s.next || s.reader.Header.Layout == Published:
		return true
	case n > 0:
		s.add(stretch{First: s.next, Last: first - 1, Chunk: s.scan.stretches[n-1].Chunk, Hole: true}, &chunk{}, 0)
	}
	s.next = first
	return false
}

// stretch appends the part of the chunk that is known and that no stretch
// has.
func (s *scanner) stretch(i int, c *chunk) {
	lost := s.reach(c.entry.Start)
	first := max(c.entry.Start, s.next)
	s.note(c, first)
	if c.known < first {
		return
	}
	s.add(stretch{First: first, Last: c.known, Chunk: int32(i), Lost: lost}, c, c.entry.Size)
	s.next = c.known + 1
}

// add plays a stretch and appends it. The player is saved in front of it
// once more was played since the last time than saving takes, so the saved
// ones never outgrow the recording. Of very many chunks few are saved.
func (s *scanner) add(st stretch, c *chunk, size int64) {
	number := len(s.scan.stretches)
	if number == 0 || s.played > int64(len(s.scan.saves))/16 {
		if saved := s.player.pack(); number == 0 || s.played >= int64(len(saved)) {
			s.scan.saves = append(s.scan.saves, save{number, saved})
			s.played = 0
		}
	}
	s.played += size
	w := surveyor{scanner: s, chunk: c, ghost: ghostRows{player: s.player}, rows: map[int]int64{}, touched: map[int]position{}}
	s.player.play(&st, c, st.Last, &w)
	st.Ghost = w.ghost.size
	for _, k := range slices.Sorted(maps.Keys(w.rows)) {
		t := &s.scan.tracks[k]
		t.Parts = append(t.Parts, part{number, w.rows[k]})
	}
	s.scan.stretches = append(s.scan.stretches, st)
}

// A surveyor measures the rows that a stretch gives.
type surveyor struct {
	*scanner
	chunk   *chunk
	ghost   ghostRows
	rows    map[int]int64    // by track
	touched map[int]position // in this tick, by track
	buf     []byte
}

func (w *surveyor) event(t *tick, k int, placed bool) {
	e := &w.chunk.events[k]
	if i := w.trackOf(e, moment{t.n, k - t.first}, placed, k < w.chunk.marked); i >= 0 {
		w.touched[i] = w.player.positions[e.entity]
	}
}

func (w *surveyor) tick(n int64) {
	for i, pos := range w.touched {
		w.buf = appendTrackRow(w.buf[:0], n, &pos)
		w.rows[i] += int64(len(w.buf))
	}
	clear(w.touched)
	w.ghost.tick(n)
}

// trackOf returns the track that gets a row by this event, or -1. An id that
// comes back begins a new one.
func (s *scanner) trackOf(e *event, at moment, placed, snapshot bool) int {
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
	if len(s.scan.tracks) >= maxTracks {
		return -1
	}
	s.endTrack(e.entity, at)
	s.lives[e.entity]++
	i = len(s.scan.tracks)
	s.current[e.entity] = i
	s.scan.tracks = append(s.scan.tracks, track{Entity: e.entity, Life: s.lives[e.entity], From: at, To: endless})
	return i
}

func (s *scanner) endTrack(entity int64, at moment) {
	if i, ok := s.current[entity]; ok {
		s.scan.tracks[i].To = at
	}
}

// note appends the markers among the recorded ticks from first on.
func (s *scanner) note(c *chunk, first int64) {
	for i := range c.ticks {
		t := &c.ticks[i]
		if t.n < first {
			continue
		}
		for k := t.first; k < t.last; k++ {
			e := &c.events[k]
			if e.def == nil || e.def.Role != roleMarker || len(s.scan.markers) > s.reader.limits.Text {
				continue
			}
			if len(s.scan.markers) > 0 {
				s.scan.markers = append(s.scan.markers, ',')
			}
			s.scan.markers = appendMoment(s.scan.markers, t.n)
			s.scan.markers = append(append(s.scan.markers, ','), c.bytes(e.text)[1:]...)
		}
	}
}

// appendMoment appends the start of an object: its tick and time.
func appendMoment(dst []byte, n int64) []byte {
	dst = append(dst, `{"tick":`...)
	dst = jsonenc.Int(dst, n)
	dst = append(dst, `,"time_ms":`...)
	return jsonenc.Int(dst, n*msPerTick)
}
