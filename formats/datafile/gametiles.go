package datafile

import (
	"context"
	"errors"

	"recfs/formats"
)

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
	l := r.Map().Game
	if l == nil || l.empty() {
		return nil, formats.Errorf(formatName, 0, errors.ErrUnsupported, "there is no game layer")
	}
	if err := r.checkContent(l, nil); err != nil {
		return nil, err
	}
	data, err := r.ReadData(ctx, int(*l.Data))
	if err != nil {
		return nil, err
	}
	records, err := r.layerRecords(ctx, l, data)
	m := &formats.Outline{Width: l.tiles().Width, Height: l.tiles().Height, Solid: make([]bool, len(records)/4)}
	for i := range m.Solid {
		m.Solid[i] = records[4*i] == tileSolid || records[4*i] == tileNohook
	}
	return m, err
}
