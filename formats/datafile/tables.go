package datafile

import (
	"context"
	"fmt"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// tileRows are the counts of the table tiles.
type tileRows struct {
	layers []int // rows of each layer, 0 for one that has no tiles or cannot be read
	rows   *rowcount.Counter
}

// tables returns what makes the tables: all layers are decoded once to count the rows of tiles.
func (t *tree) tables() []columnar.Maker {
	return []columnar.Maker{
		smallTable(itemsTable, itemsColumns, len(t.r.Items), func(b *columnar.Batch, i int) {
			itemRow(b, i, &t.r.Items[i], t.r.itemPath(i))
		}),
		smallTable(layersTable, layersColumns, len(t.m.Layers), func(b *columnar.Batch, i int) {
			layerRow(b, &t.m.Layers[i])
		}),
		{
			Name:    tilesTable,
			Counted: func(ctx context.Context) bool { return t.counts.Knows(ctx, struct{}{}) },
			Make: func(ctx context.Context) (columnar.Table, error) {
				c, err := t.counts.Get(ctx, struct{}{}, t.countTiles)
				if err != nil {
					return columnar.Table{}, err
				}
				groups := c.rows.Groups()
				return columnar.Table{
					Name: tilesTable, Columns: tilesColumns, Groups: groups,
					Fill: func(ctx context.Context, b *columnar.Batch, k int) error {
						return t.fillTiles(ctx, b, groups[k].Skip, c.layers)
					},
				}, nil
			},
		},
	}
}

// smallTable returns what makes a table of n rows that are all in memory.
func smallTable(name string, columns []columnar.Column, n int, row func(b *columnar.Batch, i int)) columnar.Maker {
	groups := func(context.Context) ([]columnar.Group, error) {
		c := rowcount.New(columns)
		for i := range n {
			row(c.Batch, i)
			c.EndRow()
		}
		return c.Groups(), nil
	}
	return columnar.NewMaker(name, columns, groups, func(_ context.Context, b *columnar.Batch, _ int) error {
		for i := 0; i < n && !b.Full(); i++ {
			row(b, i)
		}
		return nil
	})
}

// fillTiles adds the rows of a group, which begins after skip rows. Layers that end before it are
// not read.
func (t *tree) fillTiles(ctx context.Context, b *columnar.Batch, skip int, layers []int) error {
	first := 0
	for first < len(layers) && layers[first] <= skip {
		b.Pass(layers[first])
		skip -= layers[first]
		first++
	}
	for i := first; i < len(layers) && !b.Full(); i++ {
		if layers[i] == 0 {
			continue
		}
		err := t.layerTiles(ctx, &t.m.Layers[i], func(tiles *Tiles, n int, record []byte) bool {
			tileRow(b, i, tiles, n, record)
			return !b.Full()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layerTiles calls do with each tile of a layer that has a row, until it returns false.
func (t *tree) layerTiles(ctx context.Context, l *Layer, do func(tiles *Tiles, n int, record []byte) bool) error {
	if err := t.r.checkContent(l, nil); err != nil {
		return err
	}
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return err
	}
	defer tiles.held.Free()
	return tiles.cells(ctx, func(n int, record []byte) bool { return do(tiles, n, record) })
}

// countTiles decodes all layers to count their rows. One that cannot be read to its end adds none.
func (t *tree) countTiles(ctx context.Context) (tileRows, error) {
	c := tileRows{make([]int, len(t.m.Layers)), rowcount.New(tilesColumns)}
	for i := range c.layers {
		l := &t.m.Layers[i]
		if l.Tiles == nil {
			continue
		}
		err := t.layerTiles(ctx, l, func(tiles *Tiles, n int, record []byte) bool {
			tileRow(c.rows.Batch, i, tiles, n, record)
			c.rows.EndRow()
			c.layers[i]++
			return true
		})
		if err != nil && !isFault(err) {
			return c, err
		}
	}
	return c, nil
}

// tileRowsName names the limit of data items, too: a layer with a greater one has no rows.
func (t *tree) tileRowsName(struct{}) string {
	return fmt.Sprintf("tiles-%d", t.r.MaxData)
}

func (c tileRows) cost() int64 { return c.rows.Cost() + 8*int64(len(c.layers)) }

// codeTileRows is the layout of the counts on disk.
//
//	| count | rows of each layer | counter |
func codeTileRows(c indexfile.Codec, n *tileRows) {
	indexfile.List(c, &n.layers, 1, func(n *int) { indexfile.Uint(c, n, math.MaxInt32) })
	rowcount.Code(c, &n.rows, tilesColumns)
}

func (t *tree) checkTileRows(_ context.Context, _ struct{}, n tileRows) error {
	sum := 0
	for _, rows := range n.layers {
		sum += rows
	}
	for _, g := range n.rows.Groups() {
		sum -= g.Rows
	}
	if len(n.layers) != len(t.m.Layers) || sum != 0 {
		return formats.ErrOther
	}
	return nil
}

// The tables of a map and their columns (docs/tree/tables.md section 6).
const (
	itemsTable  = "items"
	layersTable = "layers"
	tilesTable  = "tiles"
)

var itemsColumns = slices.Concat(
	columnar.Required(columnar.Int32, "item", "type_id", "id"), columnar.Required(columnar.Int64, "offset"),
	columnar.Required(columnar.Int32, "size"), columnar.Required(columnar.Text, "path"),
)

var layersColumns = slices.Concat(
	columnar.Required(columnar.Int32, "index"), columnar.Optional(columnar.Int32, "group", "layer"),
	columnar.Required(columnar.Text, "kind"), columnar.Optional(columnar.Text, "name"), columnar.Required(columnar.Bool, "detail"),
	columnar.Optional(columnar.Int32, "width", "height", "image", "num_quads"),
)

var tilesColumns = slices.Concat(
	columnar.Required(columnar.Int32, "layer", "x", "y", "tile"), columnar.Optional(columnar.Int32, "flags", "number"),
)

// itemRow adds item i to items.
func itemRow(b *columnar.Batch, i int, it *Item, path string) {
	b.Int32(int32(i))
	b.Int32(int32(it.Type))
	b.Int32(int32(it.ID))
	b.Int64(it.Offset)
	b.Int32(it.Size)
	b.Text(path)
}

// layerRow adds a layer to layers.
func layerRow(b *columnar.Batch, l *Layer) {
	b.Int32(int32(l.Index))
	columnar.AddIf(b, l.Group != noGroup, b.Int32, int32(l.Group))
	columnar.AddIf(b, l.Group != noGroup, b.FitInt32, int64(l.Pos))
	b.Text(string(l.Kind))
	b.Text(l.Name.Value)
	b.Bool(l.Detail)
	var width, height, image, quads *int32
	switch {
	case l.Tiles != nil:
		width, height, image = l.Tiles.Width, l.Tiles.Height, l.Tiles.Image
	case l.Quads != nil:
		image, quads = l.Quads.Image, l.Quads.NumQuads
	}
	for _, n := range [...]*int32{width, height, image, quads} {
		columnar.AddOptional(b, n, b.Int32)
	}
}

// tileRow adds tile n of a layer to tiles.
func tileRow(b *columnar.Batch, layer int, t *Tiles, n int, record []byte) {
	b.Int32s(int32(layer), int32(n%t.Width), int32(n/t.Width), int32(record[t.main]))
	switch t.Kind {
	case KindTele, KindTune, KindSpeedup:
		b.Null()
	case KindSwitch:
		b.Int32(int32(record[2]))
	default:
		b.Int32(int32(record[1]))
	}
	columnar.AddIf(b, t.numbered(), b.Int32, int32(record[0]))
}
