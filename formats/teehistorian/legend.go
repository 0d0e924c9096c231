package teehistorian

import (
	"cmp"
	"fmt"
	"slices"
)

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
