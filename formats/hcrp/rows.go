package hcrp

import (
	"math"
	"sort"
	"strconv"

	"recfs/formats/internal/jsonenc"
)

const (
	trackHead = "tick,x,y,z,yaw,pitch\n"
	ghostHead = "tick,time_ms,x,y,z,yaw,pitch\n"
)

func appendTrackRow(dst []byte, n int64, p *position, known *jsonenc.Floats) []byte {
	dst = strconv.AppendInt(dst, n, 10)
	return appendCoordinates(dst, p, known)
}

// appendCoordinates appends a position as the rest of a row, in the numbers of JSON.
func appendCoordinates(dst []byte, p *position, known *jsonenc.Floats) []byte {
	for _, x := range p {
		dst = append(dst, ',')
		switch {
		case math.IsNaN(x):
			dst = append(dst, "NaN"...)
		case math.IsInf(x, 1):
			dst = append(dst, "Infinity"...)
		case math.IsInf(x, -1):
			dst = append(dst, "-Infinity"...)
		default:
			dst = known.Append(dst, x)
		}
	}
	return append(dst, '\n')
}

// ghostRows makes the rows of export/ghost.csv: where entity 0 is, for every tick.
type ghostRows struct {
	replay *replay
	from   int64   // the tick since which the position has not changed
	coords []byte  // the position as the rest of a row; empty: unknown
	size   int64   // of the rows
	out    *[]byte // to which the rows are appended; nil: they are only measured
}

func (g *ghostRows) begin(*tickRange, *chunk) { g.coords = g.coords[:0] }

func (g *ghostRows) event(*tick, int, bool) {}

func (g *ghostRows) tick(n int64) {
	if len(g.coords) > 0 && n > g.from {
		g.size += (n-g.from)*int64(len(g.coords)+1) + digits(g.from, n, 1) + digits(g.from, n, msPerTick)
		for t := g.from; g.out != nil && t < n; t++ {
			b := append(strconv.AppendInt(*g.out, t, 10), ',')
			*g.out = append(strconv.AppendInt(b, t*msPerTick, 10), g.coords...)
		}
	}
	g.from, g.coords = n, g.coords[:0]
	if p, ok := g.replay.positions[0]; ok {
		g.coords = appendCoordinates(g.coords, &p, g.replay.floats)
	}
}

// digits returns how many digits the numbers from*step, (from+1)*step … below to*step have.
func digits(from, to, step int64) (n int64) {
	n = to - from
	for p := int64(10); p <= (to-1)*step; p *= 10 {
		least := (p + step - 1) / step // the first with one more digit
		n += to - max(from, least)
	}
	return n
}

// lives returns the tracks of each entity from its n-th life on, one after the other.
func (x *index) lives(n int) map[int64][]*track {
	lives := map[int64][]*track{}
	for i := range x.tracks {
		if t := &x.tracks[i]; t.Life >= n {
			lives[t.Entity] = append(lives[t.Entity], t)
		}
	}
	return lives
}

// placementRows makes the rows of tracks.
type placementRows struct {
	replay *replay
	lives  map[int64][]*track
	chunk  *chunk
	first  int64       // tick that has rows
	placed []placement // in this tick
	row    func(n int64, p *placement)
}

func (w *placementRows) begin(_ *tickRange, c *chunk) { w.chunk = c }

func (w *placementRows) event(t *tick, k int, placed bool) {
	if !placed || t.n < w.first {
		return
	}
	e, at := &w.chunk.events[k], moment{t.n, k - t.first}
	lives := w.lives[e.entity]
	i := sort.Search(len(lives), func(i int) bool { return at.before(lives[i].From) }) - 1
	if i >= 0 && at.before(lives[i].To) {
		w.placed = append(w.placed, placement{entity: e.entity, life: lives[i].Life, pos: w.replay.positions[e.entity]})
	}
}

func (w *placementRows) tick(n int64) {
	list := lastPlacements(w.placed)
	for i := range list {
		w.row(n, &list[i])
	}
	w.placed = w.placed[:0]
}
