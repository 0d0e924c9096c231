package datafile

import (
	"context"
	"fmt"
	"math"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// A tables makes the tables of a map.
type tables struct {
	*view
	seal   sealer
	counts *cache.Memo[struct{}, tileRows]
}

// tileRows are the counts of the table tiles.
type tileRows struct {
	seal   formats.Seal
	layers []int // rows of each layer, 0 for one that has no tiles or cannot be read
	rows   *rowcount.Counter
}

// tables returns what makes the tables: all layers are decoded once to count the rows of tiles.
func (v *view) tables(seal sealer) []columnar.Maker {
	t := &tables{view: v, seal: seal}
	t.counts = cache.NewMemo(v.cache, t.load).Durable(t.keptName, tileRows.encode, t.resume)
	return []columnar.Maker{
		smallTable(itemsTable, itemsColumns, len(t.r.Items), func(b *columnar.Batch, i int) {
			itemRow(b, i, &t.r.Items[i], t.r.itemPath(i))
		}),
		smallTable(layersTable, layersColumns, len(t.m.Layers), func(b *columnar.Batch, i int) {
			layerRow(b, &t.m.Layers[i])
		}),
		{Name: tilesTable, Make: t.tilesTable, Counted: t.counted},
	}
}

// counted reports whether the rows of tiles are known.
func (t *tables) counted(ctx context.Context) bool {
	if _, ok := t.counts.Peek(struct{}{}); ok {
		return true
	}
	if t.keptName(struct{}{}) == "" {
		return false
	}
	_, err := t.counts.Get(cache.SavedOnly(ctx), struct{}{})
	return err == nil
}

// smallTable returns what makes a table of n rows that are all in memory.
func smallTable(name string, columns []columnar.Column, n int, row func(b *columnar.Batch, i int)) columnar.Maker {
	return columnar.Maker{Name: name, Make: func(context.Context) (columnar.Table, error) {
		c := rowcount.New(columns)
		for i := range n {
			row(c.Batch, i)
			c.EndRow()
		}
		groups := c.Groups()
		return columnar.Table{Name: name, Columns: columns, Groups: groups, Fill: func(_ context.Context, b *columnar.Batch, k int) error {
			first := groups[k].Skip
			b.Pass(first)
			for i := first; i < n && !b.Full(); i++ {
				row(b, i)
			}
			return nil
		}}, nil
	}}
}

func (t *tables) tilesTable(ctx context.Context) (columnar.Table, error) {
	counts, err := t.counts.Get(ctx, struct{}{})
	if err != nil {
		return columnar.Table{}, err
	}
	groups := counts.rows.Groups()
	return columnar.Table{
		Name: tilesTable, Columns: tilesColumns, Groups: groups,
		Fill: func(ctx context.Context, b *columnar.Batch, k int) error {
			return t.fillTiles(ctx, b, groups[k].Skip, counts.layers)
		},
	}, nil
}

// fillTiles adds the rows of a group, which begins after skip rows. Layers that end before it are not read.
func (t *tables) fillTiles(ctx context.Context, b *columnar.Batch, skip int, layers []int) error {
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
		err := t.layerTiles(ctx, &t.m.Layers[i], func(tiles *Tiles) error {
			return tiles.cells(ctx, func(n int, record []byte) bool {
				tileRow(b, i, tiles, n, record)
				return !b.Full()
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// layerTiles calls fn with the tiles of a layer, which are held until it returns.
func (t *tables) layerTiles(ctx context.Context, l *Layer, fn func(*Tiles) error) error {
	if err := t.r.checkContent(l); err != nil {
		return err
	}
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return err
	}
	defer tiles.held.Free()
	return fn(tiles)
}

// load decodes all layers to count their rows. One that is not kept needs no seal, as for pictures.
func (t *tables) load(ctx context.Context, k struct{}) (c tileRows, cost int64, err error) {
	if t.keptName(k) != "" {
		if c.seal, err = t.seal(ctx); err != nil {
			return tileRows{}, 0, err
		}
	}
	c.layers, c.rows = make([]int, len(t.m.Layers)), rowcount.New(tilesColumns)
	for i := range c.layers {
		if t.m.Layers[i].Tiles == nil {
			continue
		}
		c.layers[i], err = t.countLayer(ctx, &t.m.Layers[i], c.rows)
		if err != nil && !isFault(err) {
			return tileRows{}, 0, err
		}
	}
	return c, c.cost(), nil
}

// countLayer counts the rows of a layer. One that cannot be read to its end adds none.
func (t *tables) countLayer(ctx context.Context, l *Layer, c *rowcount.Counter) (rows int, err error) {
	err = t.layerTiles(ctx, l, func(tiles *Tiles) error {
		if err := tiles.verify(ctx); err != nil {
			return err
		}
		return tiles.cells(ctx, func(n int, record []byte) bool {
			tileRow(c.Batch, l.Index, tiles, n, record)
			c.EndRow()
			rows++
			return true
		})
	})
	return rows, err
}

// keptName has the limit of data items, as a layer with a greater one has no rows.
func (t *tables) keptName(struct{}) string {
	return t.src.IndexName(formatName, fmt.Sprintf("tiles-%d", t.r.MaxData))
}

func (c tileRows) cost() int64 { return c.rows.Cost() + 8*int64(len(c.layers)) + formats.SealSize }

// encode returns what is kept on disk.
//
//	| head | count | rows of each layer | counter |
func (c tileRows) encode() []byte {
	w := indexfile.NewWriter(c.seal, indexfile.HeadSize)
	w.Count(len(c.layers))
	for _, n := range c.layers {
		w.Count(n)
	}
	c.rows.Write(w)
	return w.Bytes()
}

// resume uses kept counts if they are of the same bytes.
func (t *tables) resume(ctx context.Context, _ struct{}, saved []byte) (tileRows, int64, error) {
	r, seal := indexfile.Open(formatName, saved)
	c := tileRows{layers: make([]int, r.Count(1))}
	for i := range c.layers {
		c.layers[i] = int(r.Uint(math.MaxInt32))
	}
	c.rows = rowcount.Read(r, tilesColumns)
	if err := r.Close(); err != nil {
		return tileRows{}, 0, err
	}
	sum := 0
	for _, n := range c.layers {
		sum += n
	}
	for _, g := range c.rows.Groups() {
		sum -= g.Rows
	}
	if len(c.layers) != len(t.m.Layers) || sum != 0 {
		return tileRows{}, 0, formats.ErrOther
	}
	var err error
	c.seal, err = t.seal.same(ctx, t.src, seal)
	return c, c.cost(), err
}
