package datafile

import (
	"context"
	"fmt"
	"slices"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

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
				return columnar.NewTable(tilesTable, tilesColumns, c.Groups(), t.fillTiles), nil
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

// fillTiles adds the rows of a group, from those of a layer on. A layer that cannot be read to its
// end has none.
func (t *tree) fillTiles(ctx context.Context, b *columnar.Batch, first int) error {
	for i := first; i < len(t.m.Layers) && !b.Full(); i++ {
		err := t.layerTiles(ctx, &t.m.Layers[i], func(tiles *Tiles, n int, record []byte) bool {
			tileRow(b, i, tiles, n, record)
			return !b.Full()
		})
		if err != nil && !isFault(err) {
			return err
		}
	}
	return nil
}

// layerTiles calls do with each tile of a layer that a grid does not show as a dot, in order, until
// it returns false.
func (t *tree) layerTiles(ctx context.Context, l *Layer, do func(tiles *Tiles, n int, record []byte) bool) error {
	if l.Tiles == nil {
		return nil
	}
	if err := t.r.checkContent(l, nil); err != nil {
		return err
	}
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return err
	}
	defer tiles.held.Free()
	err = tiles.each(ctx, func(n int, records []byte) error {
		for record := range slices.Chunk(records, tiles.size) {
			if !tiles.isDot(record) && !do(tiles, n, record) {
				return errEnough
			}
			n++
		}
		return nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

// countTiles decodes all layers to count their rows: each layer is a chunk.
func (t *tree) countTiles(ctx context.Context) (*rowcount.Counter, error) {
	c := rowcount.New(tilesColumns)
	for i := range t.m.Layers {
		err := t.layerTiles(ctx, &t.m.Layers[i], func(tiles *Tiles, n int, record []byte) bool {
			tileRow(c.Batch, i, tiles, n, record)
			c.EndRow()
			return true
		})
		if err != nil && !isFault(err) {
			return nil, err
		}
		c.NextChunk()
	}
	return c, nil
}

// tileRowsName names the limit of data items, too: a layer with a greater one has no rows.
func (t *tree) tileRowsName(struct{}) string {
	return fmt.Sprintf("tile-rows-%d", t.r.MaxData)
}

// codeTileRows is the layout of the counts on disk.
func codeTileRows(c indexfile.Codec, n **rowcount.Counter) { rowcount.Code(c, n, tilesColumns) }

func (t *tree) checkTileRows(_ context.Context, _ struct{}, n *rowcount.Counter) error {
	if n.Chunks() != len(t.m.Layers)+1 {
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
