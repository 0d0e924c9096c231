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
