package hcrp

import (
	"context"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"sync"
)

const (
	trackHead = "tick,x,y,z,yaw,pitch\n"
	ghostHead = "tick,time_ms,x,y,z,yaw,pitch\n"

	maxPart = 256 << 20 // bytes of rows that one stretch may give
)

func appendTrackRow(dst []byte, n int64, p *position) []byte {
	dst = strconv.AppendInt(dst, n, 10)
	return appendCoordinates(dst, p)
}

// appendCoordinates appends a position as the rest of a row, in the numbers
// of JSON.
func appendCoordinates(dst []byte, p *position) []byte {
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
			dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
		}
	}
	return append(dst, '\n')
}

// ghostRows makes the rows of export/ghost.csv: where entity 0 is, for every
// tick.
type ghostRows struct {
	player *player
	from   int64  // the tick since which the position has not changed
	coords []byte // the position as the rest of a row; empty: unknown
	size   int64  // of the rows
	out    []byte
	write  bool // append the rows to out, too
}

func (g *ghostRows) event(*tick, int, bool) {}

func (g *ghostRows) tick(n int64) {
	if len(g.coords) > 0 && n > g.from {
		g.size += (n-g.from)*int64(len(g.coords)+1) + digits(g.from, n, 1) + digits(g.from, n, msPerTick)
		for t := g.from; g.write && t < n; t++ {
			g.out = strconv.AppendInt(g.out, t, 10)
			g.out = append(g.out, ',')
			g.out = strconv.AppendInt(g.out, t*msPerTick, 10)
			g.out = append(g.out, g.coords...)
		}
	}
	g.from, g.coords = n, g.coords[:0]
	if p, ok := g.player.positions[0]; ok {
		g.coords = appendCoordinates(g.coords, &p)
	}
}

// digits returns how many digits the numbers from*step, (from+1)*step …
// below to*step have.
func digits(from, to, step int64) (n int64) {
	n = to - from
	for p := int64(10); p <= (to-1)*step; p *= 10 {
		least := (p + step - 1) / step // the first with one more digit
		n += to - max(from, least)
	}
	return n
}

// A trackRows makes the rows of a track.
type trackRows struct {
	track  *track
	player *player
	chunk  *chunk
	placed bool
	pos    position
	out    []byte
}

func (w *trackRows) event(t *tick, k int, placed bool) {
	e := &w.chunk.events[k]
	at := moment{t.n, k - t.first}
	if placed && e.entity == w.track.Entity && !at.before(w.track.From) && at.before(w.track.To) {
		w.placed, w.pos = true, w.player.positions[e.entity]
	}
}

func (w *trackRows) tick(n int64) {
	if w.placed {
		w.out = appendTrackRow(w.out, n, &w.pos)
		w.placed = false
	}
}

// A rowFile is the content of a CSV file whose rows are made from stretches
// when they are read.
type rowFile struct {
	head  string
	parts []part
	ends  []int64 // offset behind each part, the head included
	make  func(p *player, stretch int) ([]byte, error)
	start func(stretch int) (*player, error) // a player in front of a stretch

	mu     sync.Mutex
	player *player // in front of stretch next
	next   int
	last   int    // the part that was made last; -1: none
	rows   []byte // its rows
}

func newRowFile(head string, parts []part) *rowFile {
	f := &rowFile{head: head, parts: parts, ends: make([]int64, len(parts)), last: -1}
	n := int64(len(head))
	for i, p := range parts {
		n += p.Size
		f.ends[i] = n
	}
	return f
}

// Size returns the number of bytes.
func (f *rowFile) Size() int64 {
	if len(f.ends) == 0 {
		return int64(len(f.head))
	}
	return f.ends[len(f.ends)-1]
}

// ReadAt implements io.ReaderAt.
func (f *rowFile) ReadAt(b []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off < int64(len(f.head)) {
		n = copy(b, f.head[off:])
	}
	i := sort.Search(len(f.ends), func(i int) bool { return f.ends[i] > off+int64(n) })
	for ; n < len(b) && i < len(f.parts); i++ {
		rows, err := f.part(i)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], rows[off+int64(n)-(f.ends[i]-f.parts[i].Size):])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// part returns the rows of part i. Read in order, each stretch is played
// once.
func (f *rowFile) part(i int) ([]byte, error) {
	if f.last == i {
		return f.rows, nil
	}
	p := f.parts[i]
	if p.Size > maxPart {
		return nil, fmt.Errorf("%d bytes of rows in one stretch, %d are the limit", p.Size, maxPart)
	}
	if f.player == nil || f.next != p.Stretch {
		var err error
		if f.player, err = f.start(p.Stretch); err != nil {
			f.player = nil
			return nil, err
		}
	}
	rows, err := f.make(f.player, p.Stretch)
	f.next, f.last, f.rows = p.Stretch+1, i, rows
	if err == nil && int64(len(rows)) != p.Size {
		err = fmt.Errorf("%d bytes of rows, %d were counted", len(rows), p.Size)
	}
	if err != nil {
		f.player, f.last = nil, -1
	}
	return rows, err
}

// A theatre plays the stretches of a scan.
type theatre struct {
	ctx    context.Context
	layout Layout
	scan   *scan
	decode func(context.Context, int) (*chunk, error)
}

// before returns a player in front of a stretch.
func (t *theatre) before(stretch int) (*player, error) {
	saves := t.scan.saves
	k := sort.Search(len(saves), func(k int) bool { return saves[k].Stretch > stretch }) - 1
	if k < 0 {
		return newPlayer(t.layout), nil
	}
	p, err := unpackPlayer(t.layout, saves[k].Player)
	for i := saves[k].Stretch; err == nil && i < stretch; i++ {
		err = t.play(p, i, t.scan.stretches[i].Last, nil)
	}
	return p, err
}

// play plays a stretch up to a tick. The watcher, if any, is made for its
// chunk.
func (t *theatre) play(p *player, stretch int, through int64, watch func(*chunk) watcher) error {
	s := &t.scan.stretches[stretch]
	c := &chunk{}
	if !s.Hole {
		var err error
		if c, err = t.decode(t.ctx, int(s.Chunk)); err != nil {
			return err
		}
	}
	var w watcher
	if watch != nil {
		w = watch(c)
	}
	p.play(s, c, through, w)
	return nil
}

// ghost returns the content of export/ghost.csv.
func (t *theatre) ghost() *rowFile {
	var parts []part
	for i := range t.scan.stretches {
		if n := t.scan.stretches[i].Ghost; n > 0 {
			parts = append(parts, part{i, n})
		}
	}
	f := newRowFile(ghostHead, parts)
	f.start = t.before
	f.make = func(p *player, stretch int) ([]byte, error) {
		g := &ghostRows{player: p, write: true}
		err := t.play(p, stretch, t.scan.stretches[stretch].Last, func(*chunk) watcher { return g })
		return g.out, err
	}
	return f
}

// track returns the content of a file in tracks/.
func (t *theatre) track(tr *track) *rowFile {
	f := newRowFile(trackHead, tr.Parts)
	f.start = t.before
	f.make = func(p *player, stretch int) ([]byte, error) {
		w := &trackRows{track: tr, player: p}
		err := t.play(p, stretch, t.scan.stretches[stretch].Last, func(c *chunk) watcher {
			w.chunk = c
			return w
		})
		return w.out, err
	}
	return f
}

// state returns the world after tick n as compact JSON, or errUnknownTick.
func (t *theatre) state(n int64) ([]byte, error) {
	list := t.scan.stretches
	i := sort.Search(len(list), func(i int) bool { return list[i].Last >= n })
	if i == len(list) || list[i].First > n {
		return nil, errUnknownTick
	}
	p, err := t.before(i)
	if err != nil {
		return nil, err
	}
	if err := t.play(p, i, n, nil); err != nil {
		return nil, err
	}
	if p.world == nil {
		return nil, errUnknownTick
	}
	out := appendMoment(nil, n)
	out = append(out, `,"chunk":`...)
	out = strconv.AppendInt(out, int64(list[i].Chunk), 10)
	out = append(out, ',')
	return append(p.world.appendState(out), '}'), nil
}
