package compare

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"recfs/formats"
	"recfs/nodes"
)

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
