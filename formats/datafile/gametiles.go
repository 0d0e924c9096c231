package datafile

import (
	"context"
	"errors"

	"recfs/formats"
)

// GameTiles returns the tiles of the game layer, which say where characters can be.
func (r *Reader) GameTiles(ctx context.Context) (*Tiles, error) {
	l := r.Map().Game
	if l == nil || l.empty() {
		return nil, formats.Errorf(formatName, 0, errors.ErrUnsupported, "there is no game layer")
	}
	if err := r.checkContent(l); err != nil {
		return nil, err
	}
	data, err := r.ReadData(ctx, int(*l.Data))
	if err != nil {
		return nil, err
	}
	return r.tiles(l, data)
}

// Index returns the index or type of tile i, counted row by row.
func (t *Tiles) Index(i int) byte { return t.Records[i*t.size+t.main] }

// Indexes of tiles in which a character cannot be: hookable or not.
const (
	tileSolid  = 1
	tileNohook = 3
)

// maxOutlined bounds the data of a map that is read for its outline alone.
const maxOutlined = 64 << 20

// Outline finds the solid tiles of a map file.
func Outline(ctx context.Context, file []byte) (*formats.Outline, error) {
	r, err := NewReader(ctx, formats.BytesReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	r.MaxData = maxOutlined
	tiles, err := r.GameTiles(ctx)
	if err != nil {
		return nil, err
	}
	m := &formats.Outline{Width: tiles.Width, Height: tiles.Height, Solid: make([]bool, tiles.Width*tiles.Height)}
	for i := range m.Solid {
		index := tiles.Index(i)
		m.Solid[i] = index == tileSolid || index == tileNohook
	}
	return m, nil
}
