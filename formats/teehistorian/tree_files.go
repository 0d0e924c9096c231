package teehistorian

import (
	"context"
	"encoding/json"

	"recfs/formats"
	"recfs/nodes"
)

func (t *tree) headerJSON(ctx context.Context) ([]byte, error) {
	if err := t.header.charge(ctx, ':', memberCost); err != nil {
		return nil, err
	}
	return nodes.MarshalIndented(formats.HeaderDocument[json.RawMessage]{
		HeaderHead: formats.HeaderHead{Format: name, FormatVersion: t.header.formatVersion()},
		Source:     t.rec.Info(), Header: t.header.appendJSON(nil), Problems: t.header.problems(),
	})
}

// file returns a file of loadFile.
func (t *tree) file(name string) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) { return t.files.Get(ctx, name) })
}

// loadFile makes a file that is kept whole.
func (t *tree) loadFile(ctx context.Context, name string) (b []byte, cost int64, err error) {
	switch name {
	case "header.json":
		b, err = t.headerJSON(ctx)
	case "index.json":
		b, err = t.indexJSON(ctx)
	case "paths.svg":
		b, err = t.pathsSVG(ctx)
	}
	return b, int64(cap(b)), err
}

func (t *tree) indexJSON(ctx context.Context) ([]byte, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	damage, err := t.rec.Damage(ctx)
	if err != nil {
		return nil, err
	}
	d := indexJSON(r.idx, t.header)
	d.Damaged(damage)
	return nodes.MarshalIndented(d)
}

func (t *tree) pathsSVG(ctx context.Context) ([]byte, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	m := t.mapFile(ctx)
	if err := ctx.Err(); err != nil { // m may be there all the same
		return nil, err
	}
	b, err := r.paths(ctx, m)
	return b, stale(err)
}

// mapFile returns the map of the recording, nil if it is not there or cannot be read.
func (t *tree) mapFile(ctx context.Context) *Map {
	if t.readMap == nil {
		return nil
	}
	if file := findMap(formats.InContext(ctx, t.rec.FS), t.header); file != nil {
		if m, err := t.readMap(ctx, file); err == nil {
			return m
		}
	}
	return nil
}
