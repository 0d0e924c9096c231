package datafile

import (
	"slices"

	"recfs/formats/columnar"
)

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
