package datafile

import (
	"context"
	"fmt"
	iofs "io/fs"
	"slices"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// Options are the settings of the format; the zero value works.
type Options struct {
	Mapres  iofs.FS // where NAME.png of external images lies, for previews
	MaxData int64   // the greatest data item that is inflated; 0: 1 GiB
}

// New returns the format.
func New(opt Options) formats.Format {
	return formats.Format{
		Name:       formatName,
		Extensions: []string{".map"},
		Match:      match,
		MatchNamed: isMagic,
		Variant:    fmt.Sprint(opt.MaxData),
		Open: func(ctx context.Context, src formats.Input, c *cache.Cache) (nodes.Dir, error) {
			r, err := NewReader(ctx, src, src.Size)
			if err != nil {
				return nil, err
			}
			if opt.MaxData > 0 {
				r.MaxData = opt.MaxData
			}
			return root(newView(src, r, c), opt.Mapres), nil
		},
	}
}

// match recognises a datafile whose name says nothing.
func match(head []byte) bool {
	return len(head) >= 8 && isMagic(head) && checkVersion(int32At(head, 4)) == nil
}

// root returns the tree of a datafile (docs/tree/datafile.md).
func root(v *view, mapres iofs.FS) nodes.Dir {
	m, problems := v.m, v.problems()
	entries := []nodes.Entry{
		{Name: "header.json", File: nodes.JSON(v.header)},
		{Name: "index.json", File: v.document(func(ctx context.Context) (any, error) {
			found, err := problems.Get(ctx, struct{}{})
			if err != nil {
				return nil, err
			}
			return v.index(found), nil
		})},
		{Name: "map.json", File: v.document(v.mapDocument)},
		{Name: "raw", File: v.src.RawFile()},
		when(len(v.r.Items) > 0, nodes.Entry{Name: "items", Dir: v.itemTypes()}),
		when(len(v.r.Data) > 0, nodes.Entry{Name: "data", Dir: v.dataDir()}),
		when(m.hasSettings(), nodes.Entry{Name: "settings.cfg", File: v.file(v.settings)}),
		when(slices.ContainsFunc(m.images(), medium.embedded), nodes.Entry{Name: "images", Dir: v.imageDir()}),
		when(slices.ContainsFunc(m.sounds(), medium.embedded), nodes.Entry{Name: "sounds", Dir: v.soundDir()}),
		when(slices.ContainsFunc(m.Envelopes, Envelope.whole), nodes.Entry{Name: "envelopes", Dir: v.envelopeDir()}),
		when(len(m.Layers) > 0, nodes.Entry{Name: "layers", Dir: v.layerDir()}),
	}
	if m.Game != nil {
		p := pictures{v, mapres}
		entries = append(entries,
			nodes.Entry{Name: "collision.png", File: p.collisionFile()},
			nodes.Entry{Name: "preview.png", File: p.previewFile()})
	}
	return nodes.List(entries...)
}

// when returns e if it is there, else what nodes.List leaves out.
func when(there bool, e nodes.Entry) nodes.Entry {
	if there {
		return e
	}
	return nodes.Entry{}
}
