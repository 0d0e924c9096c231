package compare

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/play"
)

// The most runs of tiles that are told of a layer, and of all layers together.
const (
	maxRuns    = 20_000
	maxAllRuns = 100_000
)

// Cost is about how much memory the parts of a side take.
func (s *Side) Cost() int64 {
	cost := int64(0)
	for _, list := range s.Lists {
		for i := range list {
			cost += partCost + int64(len(list[i].Fields))
		}
	}
	return cost
}

// partCost is about what a part takes besides its fields, with what is told of it.
const partCost = 512

// A mapComparison tells how two maps differ, as values.
type mapComparison struct {
	comparison
	diff *play.MapDiff

	changes int // of the part that is being compared

	runs  []play.Run // of the layer
	count int        // tiles of the layer that differ
	more  int        // runs that are left out
	last  play.Run   // even if it is left out
	left  int        // runs that may be told of all layers to come
}

// Maps returns how two maps differ: what Entries says of them, with the places of tiles. What
// cannot be read is told in the result.
func Maps(ctx context.Context, a, b Side) (*play.MapDiff, error) {
	if a.Dir == nil || b.Dir == nil || len(a.Lists) == 0 || len(a.Lists) != len(b.Lists) {
		return nil, ErrNothing
	}
	c := &mapComparison{
		diff: &play.MapDiff{Layers: []play.LayerDiff{}, Images: []play.PartDiff{}, Settings: []play.LineDiff{}, Errors: []string{}},
		left: maxAllRuns,
	}
	c.visit = func(Change) error { c.changes++; return ctx.Err() }
	c.marks = c.mark
	for i := range a.Lists {
		for old, now := range pairs(a.Lists[i], b.Lists[i]) {
			c.part(ctx, a, b, old, now)
			if err := cmp.Or(ctx.Err(), c.err); err != nil {
				return nil, err
			}
		}
	}
	return c.diff, nil
}

// part tells how two parts differ; one may be nil.
func (c *mapComparison) part(ctx context.Context, a, b Side, old, now *formats.Part) {
	c.changes, c.runs, c.count, c.more, c.last = 0, []play.Run{}, 0, 0, play.Run{}
	name := cmp.Or(now, old).Name
	c.pair(ctx, a.Dir, b.Dir, old, now)
	if c.err != nil && !errors.Is(c.err, syscall.ENOMEM) { // with more memory it can be read
		c.diff.Errors = append(c.diff.Errors, name+": "+reason(c.err))
		c.err = nil
	}
	list, name, _ := strings.Cut(name, "/")
	switch {
	case list == "layers":
		c.layer(old, now)
	case c.changes == 0:
	case list == "images":
		c.diff.Images = append(c.diff.Images, play.PartDiff{Name: name, What: string(what(old, now))})
	case list == "info":
		c.settings(old, now)
	default:
		c.diff.Other += c.changes
	}
}

// reason says why something cannot be read, without its name.
func reason(err error) string {
	if u, ok := errors.AsType[*UnreadableError](err); ok {
		err = u.Err
	}
	return err.Error()
}

// what tells what happened to a part.
func what(old, now *formats.Part) Kind {
	switch {
	case old == nil:
		return Added
	case now == nil:
		return Removed
	}
	return Changed
}

// mark is the Marks of the comparison. Tiles come row by row.
func (c *mapComparison) mark(_ string, x, y int, _, _ string) {
	c.count++
	if n := c.last[2]; n > 0 && c.last == (play.Run{x - n, y, n}) {
		if c.last[2]++; c.more == 0 {
			c.runs[len(c.runs)-1] = c.last
		}
		return
	}
	c.last = play.Run{x, y, 1}
	if len(c.runs) < maxRuns && c.left > 0 && c.more == 0 {
		c.runs = append(c.runs, c.last)
		c.left--
	} else {
		c.more++
	}
}

// layer adds a layer.
func (c *mapComparison) layer(old, now *formats.Part) {
	l := play.LayerDiff{Differing: c.count, Changed: c.changes > 0, Runs: c.runs, More: c.more}
	for _, side := range []struct {
		part  *formats.Part
		index **int
	}{{old, &l.A}, {now, &l.B}} {
		if side.part == nil {
			continue
		}
		var fields struct {
			Index         int
			Kind, Name    string
			Width, Height int
		}
		if err := json.Unmarshal(side.part.Fields, &fields); err != nil {
			c.diff.Errors = append(c.diff.Errors, side.part.Name+": "+err.Error())
		}
		*side.index, l.Kind, l.Name = &fields.Index, fields.Kind, fields.Name
		l.Width, l.Height = max(l.Width, fields.Width), max(l.Height, fields.Height)
	}
	c.diff.Layers = append(c.diff.Layers, l)
}

// settings adds the lines of the settings that differ, and counts what else differs of the info.
func (c *mapComparison) settings(old, now *formats.Part) {
	line := func(text json.RawMessage) string { return value{text: text}.str() }
	lines := &comparison{visit: func(change Change) error {
		d := play.LineDiff{Line: line(change.New), What: string(change.Kind)}
		if change.Kind == Removed {
			d.Line = line(change.Old)
		} else if change.Kind == Changed {
			d.Was = line(change.Old)
		}
		c.diff.Settings = append(c.diff.Settings, d)
		return nil
	}}
	list := func(p *formats.Part) value { return c.said(p.Name, p.Fields).member("settings") }
	if x, y := list(old), list(now); len(x.items)+len(y.items) > 0 {
		lines.lists("", x, y)
	}
	c.diff.Other += c.changes - min(c.changes, len(c.diff.Settings))
}

// maxReplaced is how many kinds of replacements are listed, and maxKinds how many are counted.
const (
	maxReplaced = 32
	maxKinds    = 1 << 16
)

const air = "."

// tiles compares the grids of two layers row by row.
func (c *comparison) tiles(ctx context.Context, name string, a, b *part) {
	x, err := openGrid(ctx, a)
	if err != nil {
		c.failed(name, err)
		return
	}
	defer x.close()
	y, err := openGrid(ctx, b)
	if err != nil {
		c.failed(name, err)
		return
	}
	defer y.close()
	d := tileDifference{marks: c.marks, layer: name, width: max(x.Width, y.Width), kinds: map[[2]string]int{}}
	for row := range max(x.Height, y.Height) {
		old, oldErr := x.row(row)
		now, nowErr := y.row(row)
		if err := cmp.Or(ctx.Err(), oldErr, nowErr); err != nil {
			c.failed(name, err)
			return
		}
		if bytes.Equal(old, now) && x.cell == y.cell && x.Width == y.Width {
			continue
		}
		d.row(row, x.cells(old), y.cells(now))
	}
	if t := d.tiles(y.Name); t != nil {
		c.add(Change{Kind: Changed, Path: name, Tiles: t})
	}
}

// A grid is the text of a layer, read row by row.
type grid struct {
	*formats.Grid
	cell    int // characters of one
	content nodes.Content
	r       *bufio.Reader
	line    []byte
}

func openGrid(ctx context.Context, p *part) (*grid, error) {
	e, err := nodes.Lookup(ctx, p.dir, p.Grid.Path)
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, errors.New("not a file")
	}
	content, err := e.File.Open(ctx)
	if err != nil {
		return nil, err
	}
	g := &grid{Grid: p.Grid, content: content, r: bufio.NewReaderSize(nodes.Reader(ctx, content), int(min(content.Size(), 4<<10)))}
	row := content.Size() / int64(max(g.Height, 1))
	g.cell = int(row-1) / max(g.Width, 1)
	if g.cell == 0 && g.Width > 0 || int64(g.Height)*int64(g.Width*g.cell+1) != content.Size() {
		g.close()
		return nil, fmt.Errorf("%d bytes are no %d rows of %d cells", content.Size(), g.Height, g.Width)
	}
	g.line = make([]byte, g.Width*g.cell+1)
	return g, nil
}

func (g *grid) close() { nodes.CloseContent(g.content) }

// row returns a row, nothing below the last one. Rows are asked for in order.
func (g *grid) row(i int) ([]byte, error) {
	if i >= g.Height {
		return nil, nil
	}
	_, err := io.ReadFull(g.r, g.line)
	return g.line, err
}

// cells returns the cell at a column of a row, air outside.
func (g *grid) cells(row []byte) func(int) []byte {
	return func(column int) []byte {
		if row == nil || column >= g.Width {
			return []byte(air)
		}
		return bytes.TrimSpace(row[column*g.cell : (column+1)*g.cell])
	}
}

// A tileDifference counts the tiles of a layer that differ.
type tileDifference struct {
	marks                    Marks
	layer                    string
	count, width             int
	left, top, right, bottom int
	kinds                    map[[2]string]int
	last                     [2]string // kinds of the tile that differed last: the next is often the same
}

func (d *tileDifference) row(y int, old, now func(int) []byte) {
	for x := range d.width {
		p, q := old(x), now(x)
		if bytes.Equal(p, q) {
			continue
		}
		if d.count == 0 {
			d.left, d.top, d.right = x, y, x
		}
		d.left, d.right, d.bottom = min(d.left, x), max(d.right, x), y
		d.count++
		if string(p) != d.last[0] || string(q) != d.last[1] {
			d.last = [2]string{string(p), string(q)}
		}
		if _, ok := d.kinds[d.last]; ok || len(d.kinds) < maxKinds {
			d.kinds[d.last]++
		}
		if d.marks != nil {
			d.marks(d.layer, x, y, d.last[0], d.last[1])
		}
	}
}

// tiles returns what was counted, nil if nothing differs. name is that of a Grid.
func (d *tileDifference) tiles(name func(cell string) string) *Tiles {
	if d.count == 0 {
		return nil
	}
	t := &Tiles{Count: d.count, X: d.left, Y: d.top, Width: d.right - d.left + 1, Height: d.bottom - d.top + 1}
	for kind, n := range d.kinds {
		t.Replaced = append(t.Replaced, Replace{Old: kind[0], New: kind[1], Count: n})
	}
	slices.SortFunc(t.Replaced, func(a, b Replace) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New))
	})
	t.Replaced = t.Replaced[:min(len(t.Replaced), maxReplaced)]
	for i := range t.Replaced {
		if r := &t.Replaced[i]; name != nil {
			r.OldName, r.NewName = name(r.Old), name(r.New)
		}
	}
	return t
}
