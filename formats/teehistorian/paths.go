package teehistorian

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// tile is the length of a side of a map tile in the units of positions.
const (
	tileBits = 5
	tile     = 1 << tileBits
)

// A position of a character.
type position struct{ x, y int32 }

// A path is the way of the characters of a stay: a line for each life, and one more after each
// teleport.
type path struct {
	lives [][]position
	jumps map[int]bool // which of them go on after a teleport
	alive bool
	last  position
}

// maxStep is how far a character may get in one record. A longer step is a teleport, or a respawn
// within a tick.
const maxStep = 10 * tile

// maxPoints bounds the points of paths.svg. Beyond it the lines become coarser.
const maxPoints = 1 << 20

// A plotter collects the paths of a recording.
type plotter struct {
	only     int32 // the stay whose path is collected; noStay: all
	paths    map[int32]*path
	points   int
	step     int32 // lines leave out points nearer than this to the one before
	min, max position

	best *run // nil: nobody finished
	run  path // of it
}

func newPlotter(only int32) *plotter {
	return &plotter{
		only: only, paths: map[int32]*path{},
		min: position{math.MaxInt32, math.MaxInt32}, max: position{math.MinInt32, math.MinInt32},
	}
}

// add follows an event.
func (p *plotter) add(e *event) {
	if t, ok := tableOf(e.kind); !ok || t != positionTable || e.stay == noStay || p.only != noStay && e.stay != p.only {
		return
	}
	way := p.paths[e.stay]
	if !e.known {
		if way != nil {
			p.end(way)
		}
		return
	}
	if way == nil {
		way = &path{}
		p.paths[e.stay] = way
	}
	at := position{e.player.x, e.player.y}
	p.min = position{min(p.min.x, at.x), min(p.min.y, at.y)}
	p.max = position{max(p.max.x, at.x), max(p.max.y, at.y)}
	if p.best != nil && e.stay == p.best.stay && p.best.began() <= int64(e.tick) && e.tick <= p.best.tick {
		p.run.add(at, p.step)
	}
	if way.add(at, p.step) {
		if p.points++; p.points > maxPoints {
			p.thin()
		}
	}
}

// add goes on to a position, and reports whether the path got another point.
func (p *path) add(at position, step int32) bool {
	jump := p.alive && !near(p.last, at, maxStep)
	if jump {
		if p.jumps == nil {
			p.jumps = map[int]bool{}
		}
		p.jumps[len(p.lives)] = true
	}
	if !p.alive || jump {
		p.alive, p.lives = true, append(p.lives, nil)
	}
	p.last = at
	life := &p.lives[len(p.lives)-1]
	if n := len(*life); n > 0 && near((*life)[n-1], at, step) {
		return false
	}
	*life = append(*life, at)
	return true
}

// end ends the life of a path, with its last position.
func (p *plotter) end(path *path) {
	if !path.alive {
		return
	}
	path.alive = false
	life := &path.lives[len(path.lives)-1]
	if n := len(*life); (*life)[n-1] != path.last {
		*life = append(*life, path.last)
		p.points++
	}
}

// near reports whether two positions are closer than step in both directions.
func near(a, b position, step int32) bool {
	return abs(int64(a.x)-int64(b.x)) < int64(step) && abs(int64(a.y)-int64(b.y)) < int64(step)
}

func abs(v int64) int64 { return max(v, -v) }

// thin makes the lines coarser. Every life keeps its first point.
func (p *plotter) thin() {
	p.step = max(2*p.step, 2)
	p.points = 0
	for _, path := range p.paths {
		p.points += path.thin(p.step)
	}
	p.run.thin(p.step)
}

// thin leaves out points nearer than step to the one before, and returns how many are left.
func (p *path) thin(step int32) (points int) {
	for i, life := range p.lives {
		kept := life[:1]
		for _, at := range life[1:] {
			if !near(kept[len(kept)-1], at, step) {
				kept = append(kept, at)
			}
		}
		p.lives[i] = append([]position(nil), kept...)
		points += len(kept)
	}
	return points
}

// pointCost is about what a point takes, with its text.
const pointCost = 40

// paths renders paths.svg: the map, if there is one, and the paths of all stays; or path.svg, with
// the path and the best run of one.
func (r *recording) paths(ctx context.Context, m *formats.Outline, only int32) ([]byte, error) {
	p := newPlotter(only)
	list := r.runs()
	first, last, points := 0, len(r.idx.chunks)-1, r.idx.positions()
	if only != noStay {
		s := r.idx.stays[only]
		list = slices.DeleteFunc(list, func(n run) bool { return n.stay != only })
		first, last, points = max(0, int(s.FirstChunk)), int(s.LastChunk), s.Rows[positionTable]
	}
	held, err := formats.Charge(ctx, pointCost*min(points, maxPoints))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	if len(list) > 0 {
		p.best = bestRun(list)
	}
	for k := first; k <= last; k++ {
		if err := r.each(ctx, k, math.MaxInt32, 0, p.add); err != nil {
			return nil, err
		}
	}
	for _, path := range p.paths {
		p.end(path)
	}
	if len(p.paths) == 0 {
		p.min, p.max = position{}, position{}
	}
	return r.drawPaths(p, m), nil
}

// drawPaths renders the paths that p has collected.
func (r *recording) drawPaths(p *plotter, m *formats.Outline) []byte {
	left, top := int64(p.min.x), int64(p.min.y)
	right, bottom := int64(p.max.x), int64(p.max.y)
	if m != nil {
		left, top = min(left, 0), min(top, 0)
		right, bottom = max(right, int64(m.Width)*tile), max(bottom, int64(m.Height)*tile)
	}
	const margin = tile / 2
	width, height := right-left+2*margin, bottom-top+2*margin
	stroke := min(max(max(right-left, bottom-top)/screenPixels, minStroke), tile)
	l := r.legend(p, left-margin, bottom+margin, width)
	b := fmt.Appendf(nil, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%d %d %d %d\">\n", left-margin, top-margin, width, height+l.height)
	b = fmt.Appendf(b, "<style>polyline,path.l{fill:none;stroke-width:%d;stroke-linejoin:round;stroke-linecap:round}"+
		"g[id]{stroke-opacity:%.2f}text{font:%dpx sans-serif}</style>\n", stroke, p.opacity(stroke, float64(width)*float64(height)), l.size)
	b = appendOutline(b, m)
	for i := range r.idx.stays {
		if path := p.paths[int32(i)]; path != nil {
			b = appendPath(b, r.dirs[i], r.idx.stays[i], i, path)
		}
	}
	b = p.appendBest(b, stroke)
	return append(append(b, l.svg...), "</svg>\n"...)
}

// opacity is the lower the more of the area the lines cover, so that it shows where many went.
func (p *plotter) opacity(stroke int64, area float64) float64 {
	length := 0.0
	for _, path := range p.paths {
		for _, life := range path.lives {
			for i := 1; i < len(life); i++ {
				length += math.Hypot(float64(life[i].x)-float64(life[i-1].x), float64(life[i].y)-float64(life[i-1].y))
			}
		}
	}
	return min(max(0.1*area/max(length*float64(stroke), 1), 0.25), 0.9)
}

// A path is as wide as a pixel when the whole map fills a screen, but between an eighth of a tile
// and a tile.
const (
	minStroke    = 4
	screenPixels = 1500
)

// goldenAngle turns the hue so that the colours of successive stays differ.
const goldenAngle = 137.508

// strokeColour is hsl(degrees, 70%, 45%) as #rrggbb.
func strokeColour(degrees float64) string { return hsl(degrees, 0.7, 0.45) }

// hsl returns a colour as #rrggbb by the formula of CSS Color 4. Not all programs that draw SVG
// know hsl().
func hsl(degrees, saturation, light float64) string {
	channel := func(n float64) int {
		k := math.Mod(n+degrees/30, 12)
		return int(math.Round(255 * (light - saturation*min(light, 1-light)*max(-1, min(k-3, 9-k, 1)))))
	}
	return fmt.Sprintf("#%02x%02x%02x", channel(0), channel(8), channel(4))
}

func appendPath(b []byte, dir string, s *stay, i int, path *path) []byte {
	b = append(b, `<g id="`...)
	b = appendXML(b, dir)
	b = fmt.Appendf(b, "\" stroke=\"%s\">\n<title>", strokeColour(float64(i)*goldenAngle))
	if n := len(s.Names); n > 0 {
		b = appendXML(b, s.Names[n-1])
	}
	b = append(b, "</title>\n"...)
	for i, life := range path.lives {
		if path.jumps[i] {
			b = append(appendPoints(append(b, `<path class="l" d="M`...), life), "\"/>\n"...)
		} else {
			b = append(appendPoints(append(b, `<polyline points="`...), life), "\"/>\n"...)
		}
	}
	return append(b, "</g>\n"...)
}

func appendPoints(b []byte, life []position) []byte {
	for k, at := range life {
		if k > 0 {
			b = append(b, ' ')
		}
		b = jsonenc.AppendInt(b, at.x)
		b = append(b, ',')
		b = jsonenc.AppendInt(b, at.y)
	}
	return b
}

// appendXML appends text, escaped. What XML cannot hold becomes U+FFFD.
func appendXML(b []byte, text string) []byte {
	buf := bytes.NewBuffer(b)
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	xml.EscapeText(buf, []byte(text)) //nolint:errcheck // a buffer takes everything
	return buf.Bytes()
}

// appendOutline appends the solid tiles of m, each stretch of a row as one rectangle.
func appendOutline(b []byte, m *formats.Outline) []byte {
	if m == nil {
		return b
	}
	b = append(b, "<path fill=\"#ccc\" d=\""...)
	for y := range m.Height {
		row := m.Solid[y*m.Width : (y+1)*m.Width]
		for x := 0; x < len(row); x++ {
			start := x
			for x < len(row) && row[x] {
				x++
			}
			if x > start {
				b = appendRectangle(b, start*tile, y*tile, (x-start)*tile)
			}
		}
	}
	return append(b, "\"/>\n"...)
}

// appendRectangle appends a rectangle as high as a tile as part of a path.
func appendRectangle(b []byte, x, y, width int) []byte {
	b = jsonenc.AppendInt(append(b, 'M'), x)
	b = jsonenc.AppendInt(append(b, ' '), y)
	b = jsonenc.AppendInt(append(b, 'h'), width)
	b = jsonenc.AppendInt(append(b, 'v'), tile)
	b = jsonenc.AppendInt(append(b, 'h'), -width)
	return append(b, 'z')
}

// bestRun returns the fastest run of a list, the first of equal ones.
func bestRun(list []run) *run {
	best := slices.MinFunc(list, func(a, b run) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.tick, b.tick)) })
	return &best
}

// appendBest appends the best run, in black under its own colour, from its start to its finish.
func (p *plotter) appendBest(b []byte, stroke int64) []byte {
	if len(p.run.lives) == 0 {
		return b
	}
	var d []byte
	for _, life := range p.run.lives {
		d = appendPoints(append(d, 'M'), life)
	}
	for _, line := range []struct {
		colour string
		width  int64
	}{{"#000", 4 * stroke}, {strokeColour(float64(p.best.stay) * goldenAngle), 5 * stroke / 2}} {
		b = fmt.Appendf(b, "<path class=\"l\" style=\"stroke:%s;stroke-width:%d\" d=\"%s\"/>\n", line.colour, line.width, d)
	}
	first := p.run.lives[0][0]
	for _, end := range []struct {
		at   position
		fill string
		word string
	}{{first, "#fff", "start"}, {p.run.last, "#000", "finish"}} {
		b = fmt.Appendf(b, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" fill=\"%s\" stroke=\"#000\" stroke-width=\"%d\"><title>%s</title></circle>\n",
			end.at.x, end.at.y, 5*stroke, end.fill, stroke, end.word)
	}
	return b
}

// A legend below the picture says whose colours these are.
type legend struct {
	size, height int64 // of letters, and of all
	svg          []byte
}

// maxLegend is how many players a legend names.
const maxLegend = 24

// legend returns the legend of a picture that ends at x and y.
func (r *recording) legend(p *plotter, x, y, width int64) (l legend) {
	l.size = max(width/80, 8)
	const perRow = 4
	n, more := int64(0), 0
	text := func(dot, line string) {
		at, row := x+(n%perRow)*width/perRow+l.size, y+(n/perRow)*l.size*3/2+l.size
		l.svg = fmt.Appendf(l.svg, "%s<text x=\"%d\" y=\"%d\">", fmt.Sprintf(dot, at+l.size/2, row-l.size/3, l.size/3), at+l.size*3/2, row)
		l.svg = append(appendXML(l.svg, line), "</text>\n"...)
		n++
	}
	if p.best != nil && len(p.run.lives) > 0 {
		text(`<circle cx="%d" cy="%d" r="%d" fill="#fff" stroke="#000"/>`, "start of the best run")
		text(`<circle cx="%d" cy="%d" r="%d"/>`, "finish: "+r.dirs[p.best.stay]+", "+finishClock(p.best.time))
	}
	for i := range r.idx.stays {
		switch {
		case p.paths[int32(i)] == nil:
		case n >= maxLegend:
			more++
		default:
			text(`<circle cx="%d" cy="%d" r="%d" fill="`+strokeColour(float64(i)*goldenAngle)+`"/>`, r.dirs[i])
		}
	}
	if more > 0 {
		text("<!-- %d %d %d -->", fmt.Sprintf("and %d more", more))
	}
	l.height = (n + perRow - 1) / perRow * l.size * 3 / 2
	return l
}
