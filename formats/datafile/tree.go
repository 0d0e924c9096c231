package datafile

import (
	"context"
	"fmt"
	iofs "io/fs"
	"slices"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// Options are the settings of the format; the zero value works.
type Options struct {
	Mapres  []iofs.FS // where NAME.png of external images may lie, for pictures; the first one counts
	Beside  bool      // before there, look for them in the directory mapres beside the map
	MaxData int64     // the greatest data item that is inflated; 0: 1 GiB
}

// New returns the format.
func New(opt Options) formats.Format {
	return formats.Format{
		Name:       formatName,
		Extensions: []string{".map"},
		Match:      match,
		MatchNamed: isMagic,
		Variant:    fmt.Sprint(opt.MaxData),
		Timeless:   true,
		Open:       opt.open,
		ReadHead:   opt.readHead,
		Scan:       scan,
		ReadIndex:  readIndex,
		Keep:       keep,
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, []columnar.Maker) {
			return root(rec, newView(rec.Input, rec.Head.(*Tables), c), opt.mapres(rec.Input))
		},
		Summary: summary,
		Parts:   formats.PartsReader{Document: "map.json", Read: mapParts},
	}
}

// mapresDir is the directory beside a map that may hold its external images, as that of the games.
const mapresDir = "mapres"

// mapres returns where the external images of a map may lie.
func (o Options) mapres(src formats.Input) []iofs.FS {
	if !o.Beside || src.FS == nil {
		return o.Mapres
	}
	beside, err := iofs.Sub(src.FS, mapresDir)
	if err != nil {
		return o.Mapres
	}
	return append([]iofs.FS{beside}, o.Mapres...)
}

// match recognises a datafile whose name says nothing.
func match(head []byte) bool {
	return len(head) >= 8 && isMagic(head) && checkVersion(int32At(head, 4)) == nil
}

// root returns the tree of a datafile (docs/tree/datafile.md), and its tables.
func root(rec formats.Recording, v *view, mapres []iofs.FS) (nodes.Dir, []columnar.Maker) {
	m, pictures := v.m, newPictures(v, mapres, rec.Seal)
	tables := v.tables(rec.Seal)
	entries := []nodes.Entry{
		{Name: "header.json", File: v.longFile(v.header)},
		formats.IndexEntry(v.longFile(func(ctx context.Context) (longText, error) {
			x, err := rec.Index(ctx)
			if err != nil {
				return longText{}, err
			}
			damage, err := rec.Damage(ctx)
			if err != nil {
				return longText{}, err
			}
			return v.index(x.(*index), damage), nil
		})),
		{Name: "map.json", File: v.longFile(v.mapText)},
		v.src.RawEntry(),
		{Name: "tables", Dir: parquet.Dir(v.cache, v.src, formatName, tables)},
		when(len(v.r.Items) > 0, nodes.Entry{Name: "items", Dir: v.itemTypes()}),
		when(len(v.r.Data) > 0, nodes.Entry{Name: "data", Dir: v.dataDir()}),
		when(m.hasSettings(), nodes.Entry{Name: "settings.cfg", File: v.file(v.settings)}),
		when(slices.ContainsFunc(m.images(), medium.embedded), nodes.Entry{Name: "images", Dir: v.imageDir()}),
		when(slices.ContainsFunc(m.sounds(), medium.embedded), nodes.Entry{Name: "sounds", Dir: v.soundDir()}),
		when(slices.ContainsFunc(m.Envelopes, Envelope.whole), nodes.Entry{Name: "envelopes", Dir: v.envelopeDir()}),
		when(len(m.Layers) > 0, nodes.Entry{Name: "layers", Dir: v.layerDir(pictures)}),
	}
	if m.Game != nil {
		entries = append(entries,
			nodes.Entry{Name: "collision.png", File: pictures.gameFile(collisionPicture)},
			nodes.Entry{Name: "preview.png", File: pictures.gameFile(previewPicture)})
	}
	return nodes.List(entries...), tables
}

// when returns e if it is there, else what nodes.List leaves out.
func when(there bool, e nodes.Entry) nodes.Entry {
	if there {
		return e
	}
	return nodes.Entry{}
}
