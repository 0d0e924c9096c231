package main

import (
	"context"

	"recfs/formats"
	"recfs/formats/datafile"
	"recfs/formats/teehistorian"
)

// Indexes of tiles in which a character cannot be: hookable or not.
const (
	tileSolid  = 1
	tileNohook = 3
)

// maxMapData bounds the data of a map that is read for its outline alone.
const maxMapData = 64 << 20

// mapOutline finds the solid tiles of a map file.
func mapOutline(ctx context.Context, file []byte) (*teehistorian.Map, error) {
	r, err := datafile.NewReader(ctx, formats.BytesReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	r.MaxData = maxMapData
	tiles, err := r.GameTiles(ctx)
	if err != nil {
		return nil, err
	}
	m := &teehistorian.Map{Width: tiles.Width, Height: tiles.Height, Solid: make([]bool, tiles.Width*tiles.Height)}
	for i := range m.Solid {
		index := tiles.Index(i)
		m.Solid[i] = index == tileSolid || index == tileNohook
	}
	return m, nil
}
