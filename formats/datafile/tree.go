package datafile

import (
	"fmt"
	iofs "io/fs"
	"slices"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/parquet"
	"recfs/formats/views"
	"recfs/nodes"
	"recfs/nodes/play"
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
		Called:     "map",
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
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return root(newTree(rec, c), opt.mapres(rec.Input))
		},
		Summary: summary,
		Needs:   formats.NeedsReader{Document: "map.json", Read: needs},
		Parts:   formats.PartsReader{Document: "map.json", Read: mapParts},
	}
}

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
func root(t *tree, mapres []iofs.FS) (nodes.Dir, func() []columnar.Maker) {
	m, r, pictures, tables := t.m, t.r, newPictures(t, mapres), sync.OnceValue(t.tables)
	files := []nodes.Entry{
		{Name: "header.json", File: t.HeadText("header.json", 0, t.headerText)},
		{Name: "map.json", File: t.HeadText("map.json", 0, t.mapText)},
		{Name: "tables", Dir: parquet.Dir(t.cache, t.Input, formatName, tables)},
		when(len(r.Items) > 0, nodes.Entry{Name: "items", Dir: t.itemTypes()}),
		when(len(r.Data) > 0, nodes.Entry{Name: "data", Dir: t.dataDir()}),
		when(m.hasSettings(), nodes.Entry{Name: "settings.cfg", File: t.file("settings.cfg", 0, t.settings)}),
		when(slices.ContainsFunc(m.images(), medium.embedded), nodes.Entry{Name: "images", Dir: t.imageDir()}),
		when(slices.ContainsFunc(m.sounds(), medium.embedded), nodes.Entry{Name: "sounds", Dir: t.soundDir()}),
		when(slices.ContainsFunc(m.Envelopes, Envelope.whole), nodes.Entry{Name: "envelopes", Dir: t.envelopeDir()}),
		when(len(m.Layers) > 0, nodes.Entry{Name: "layers", Dir: t.layerDir(pictures)}),
	}
	if m.Game != nil {
		files = append(files,
			nodes.Entry{Name: "collision.png", File: pictures.file(collisionPicture, m.Game)},
			nodes.Entry{Name: "preview.png", File: pictures.file(previewPicture, m.Game)})
	}
	dir, _ := t.Dir(views.Game[index]{Index: t.Text("index.json", 0, t.indexText), Files: files, Play: &views.Play[index]{Kind: play.Map, About: t.about}})
	return dir, tables
}

// when returns e if it is there, else what nodes.List leaves out.
func when(there bool, e nodes.Entry) nodes.Entry {
	if there {
		return e
	}
	return nodes.Entry{}
}
