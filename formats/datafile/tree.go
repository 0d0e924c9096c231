package datafile

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/parquet"
	"recfs/formats/views"
	"recfs/nodes"
	"recfs/nodes/play"
)

// Options are the settings of the format; the zero value works.
type Options struct {
	Mapres  []formats.Folder // where NAME.png of external images may lie, for pictures; the first one counts
	Beside  bool             // before there, look for them in the directory mapres beside the map
	MaxData int64            // the greatest data item that is inflated; 0: 1 GiB
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
		Tree: func(rec formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
			return root(newTree(rec, c), opt.mapres(rec.Input))
		},
		Summary: summary,
		Needs:   formats.NeedsReader{Document: "map.json", Read: needs},
		Parts:   formats.PartsReader{Document: "map.json", Read: mapParts},
	}
}

// mapres returns where the external images of a map may lie.
func (o Options) mapres(src formats.Input) []formats.Folder {
	if !o.Beside || src.Beside == nil {
		return o.Mapres
	}
	return append([]formats.Folder{inMapres{src.Beside}}, o.Mapres...)
}

// inMapres is the directory mapres in another one.
type inMapres struct{ formats.Folder }

func (d inMapres) Open(ctx context.Context, name string) (formats.File, error) {
	return d.Folder.Open(ctx, mapresDir+"/"+name)
}

// match recognises a datafile whose name says nothing.
func match(head []byte) bool {
	return len(head) >= 8 && isMagic(head) && checkVersion(int32At(head, 4)) == nil
}

// root returns the tree of a datafile (docs/tree/datafile.md), and its tables.
func root(t *tree, mapres []formats.Folder) (nodes.Dir, func() []columnar.Maker) {
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

// mapText is map.json.
func (t *tree) mapText(ctx context.Context) (*views.Text, error) {
	var version, about any
	if o := t.m.Version; o != nil && !o.Short {
		version = o.Value
	}
	var lists []views.List
	cost := int64(0)
	if info := t.m.Info; info != nil && !info.Short {
		keys, err := t.info(ctx, info)
		if err != nil {
			return nil, err
		}
		settings, err := t.settingsList(ctx, info)
		if err != nil {
			return nil, err
		}
		if settings != nil {
			keys.set("settings", formats.LongList{})
			lists, cost = append(lists, *settings), settings.Cost
		} else {
			keys.set("settings", nil)
		}
		about = keys
	}
	crc, sha, err := sums(ctx, t.At(ctx), t.Size)
	doc := object{{"version", version}, {"size", t.Size}, {"crc32", crc}, {"sha256", sha}, {"info", about}}
	for _, list := range []string{"images", "sounds", "envelopes", "groups", "layers", "automappers"} {
		doc.set(list, formats.LongList{})
	}
	mappers := t.m.autoMappers()
	return document(cost, doc, append(lists, t.imageList(), t.soundList(),
		listOf("envelopes", t.m.Envelopes, func(_ context.Context, _ object, o *Envelope) (object, error) {
			return o.document(member{"path", envelopePath(o)}), nil
		}),
		listOf("groups", t.m.Groups, func(_ context.Context, doc object, o *Group) (object, error) {
			doc = append(doc, object{
				{"item_version", o.Version},
				{"offset", o.Offset},
				{"parallax", o.Parallax},
				{"start_layer", o.StartLayer},
				{"num_layers", o.NumLayers},
				{"clipping", o.Clip},
			}...)
			doc.setText("name", &o.Name)
			return doc, nil
		}),
		elementList("layers", len(t.m.Layers), elementText, func(_ context.Context, i int) (any, error) {
			l := &t.m.Layers[i]
			return l.document(member{"path", layerStem(l)}), nil
		}),
		elementList("automappers", len(mappers), elementText, func(_ context.Context, i int) (any, error) {
			o := mappers[i]
			return object{
				{"item_version", o.Version},
				{"group", o.Group},
				{"layer", o.Layer},
				{"config", o.Config},
				{"seed", o.Seed},
				{"automatic", o.Flags&autoMapperAutomatic != 0},
			}, nil
		}))...), err
}

// info is the key of that name, but for the settings.
func (t *tree) info(ctx context.Context, info *Info) (object, error) {
	doc := object{{"item_version", info.Version}}
	for i, ref := range info.Strings {
		text, err := t.text(ctx, ref, &info.Element, maxInfo)
		if err != nil {
			return nil, err
		}
		doc.setText(infoKeys[i], text)
	}
	return doc, nil
}

// settingsList returns the commands of the settings, nil if there are none or they cannot be read.
func (t *tree) settingsList(ctx context.Context, info *Info) (*views.List, error) {
	switch {
	case info.Settings == nil:
		return nil, nil
	case *info.Settings == noData:
		return commandsList(nil), nil
	}
	b, err := t.settingsData(ctx)
	if isFault(err) {
		return nil, nil
	}
	return commandsList(b), err
}

// commandsList is a list of the commands of a settings data item, each of which ends in NUL.
func commandsList(b []byte) *views.List {
	var parts [][]byte
	for rest := b; len(rest) > 0; {
		end := min(len(rest), partText)
		if i := bytes.IndexByte(rest[end:], 0); i >= 0 {
			end += i + 1
		} else {
			end = len(rest)
		}
		parts, rest = append(parts, rest[:end]), rest[end:]
	}
	return &views.List{
		Key: "settings", Flat: true, N: len(parts), Cost: int64(len(b)),
		Append: func(_ context.Context, text []byte, part int) ([]byte, error) {
			for command := range bytes.SplitSeq(bytes.TrimSuffix(parts[part], []byte{0}), []byte{0}) {
				text = jsonenc.AppendString(append(text, views.NextValue...), command)
			}
			return text, nil
		},
	}
}

func (t *tree) settingsData(ctx context.Context) ([]byte, error) {
	return t.content(ctx, *t.m.Info.Settings, &t.m.Info.Element, "settings", maxSettings)
}

// settings is settings.cfg.
func (t *tree) settings(ctx context.Context) ([]byte, error) {
	b, err := t.settingsData(ctx)
	if err != nil {
		return nil, err
	}
	return settingsFile(b), nil
}

// envelopeDir is envelopes/.
func (t *tree) envelopeDir() nodes.Dir {
	return t.dir("envelopes", func(context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range t.m.Envelopes {
			if o := &t.m.Envelopes[i]; o.whole() {
				entries = append(entries, entry(envelopePath(o), t.HeadText("envelopes", i, func(context.Context) (*views.Text, error) {
					return document(0, o.document(member{"points", formats.LongList{}}), t.points.list(o)), nil
				})))
			}
		}
		return entries, nil
	})
}

// list has the points of e that exist.
func (p *Points) list(e *Envelope) views.List {
	first, last := p.clamp(e)
	return views.Elements("points", last-first, partText/intText/pointInts, func(_ context.Context, b []byte, i, end int) ([]byte, error) {
		for ; i < end; i++ {
			b = append(appendPoint(append(b, views.NextElement...), p.At(first+i), e.channels()), '}')
		}
		return b, nil
	})
}

// about tells how large a map is, in the units of its items: 32 to a tile.
func (t *tree) about(context.Context, *index) (*play.About, error) {
	a := &play.About{Unit: "tile"}
	if g := t.m.Game; g != nil && g.Tiles.Width != nil && g.Tiles.Height != nil {
		a.Bounds = &[4]float64{2: 32 * max(0, float64(*g.Tiles.Width)), 3: 32 * max(0, float64(*g.Tiles.Height))}
	}
	return a, nil
}

// problemList is the list of all problems, of header, tables and others.
func (t *tree) problemList(others problemList) views.List {
	return views.List{Key: "problems", N: t.r.problemParts(), Append: func(_ context.Context, b []byte, part int) ([]byte, error) {
		return appendElements(b, t.r.problemsIn(part, others))
	}}
}

// headerText is header.json.
func (t *tree) headerText(context.Context) (*views.Text, error) {
	h := &t.r.Header
	fields, table := h.sizeFields(), h.dataSizesLen()
	return document(0, struct {
		formats.HeaderHead
		Source   formats.SourceInfo `json:"source"`
		Header   any                `json:"header"`
		Problems formats.LongList   `json:"problems"`
	}{
		formats.HeaderHead{Format: formatName, FormatVersion: t.r.formatVersion()},
		t.Info(),
		struct {
			Header
			SizeCheck    sizeCheck `json:"size_check"`
			SwaplenCheck sizeCheck `json:"swaplen_check"`
			Total        int64     `json:"total"`
			Missing      int64     `json:"missing"`
			Trailing     int64     `json:"trailing"`
		}{*h, fields[0].check(table), fields[1].check(table), h.Total(), t.r.Missing(), t.r.Trailing()},
		formats.LongList{},
	}, t.problemList(nil)), nil
}

// indexText is index.json.
func (t *tree) indexText(ctx context.Context, x *index) (*views.Text, error) {
	damage, err := t.Damage(ctx)
	if err != nil {
		return nil, err
	}
	stored, size, whole := int64(0), int64(0), t.r.Missing() == 0
	for _, d := range t.r.Data {
		stored, size = stored+d.Stored, size+d.Size
	}
	doc := struct {
		formats.IndexHead
		Totals    object           `json:"totals"`
		ItemTypes formats.LongList `json:"item_types"`
		Items     formats.LongList `json:"items"`
		Data      formats.LongList `json:"data"`
		Problems  formats.LongList `json:"problems"`
	}{IndexHead: formats.IndexHead{Format: formatName, Complete: whole, Finished: whole, End: t.r.end()}, Totals: object{
		{"total", t.r.Header.Total()},
		{"bytes", t.Size},
		{"missing", t.r.Missing()},
		{"trailing", t.r.Trailing()},
		{"item_types", len(t.r.Types)},
		{"items", len(t.r.Items)},
		{"data", len(t.r.Data)},
		{"stored", stored},
		{"size", size},
	}}
	problems := doc.IndexHead.Damaged(slices.Clip(x.problems), damage)
	users := t.m.users(len(t.r.Data))
	return document(x.Memory()+int64(40*len(users)), doc,
		elementList("item_types", len(t.r.Types), elementText, t.typeEntry),
		elementList("items", len(t.r.Items), elementText, func(_ context.Context, i int) (any, error) {
			it := t.r.Items[i]
			return object{{"item", i}, {"type_id", it.Type}, {"id", it.ID}, {"offset", it.Offset}, {"size", it.Size}, {"path", t.r.itemPath(i)}}, nil
		}),
		elementList("data", len(t.r.Data), elementText, func(_ context.Context, i int) (any, error) {
			return t.dataEntry(i, users[i]), nil
		}),
		t.problemList(problems)), nil
}

func (t *tree) typeEntry(_ context.Context, i int) (any, error) {
	typ := t.r.Types[i]
	e := object{{"type_id", typ.ID}, {"name", t.r.TypeName(typ.ID)}}
	if id, ok := t.r.UUID(typ.ID); ok {
		e.set("uuid", id.String())
	}
	return append(e, member{"start", typ.Start}, member{"num", typ.Num}), nil
}

func (t *tree) dataEntry(i int, users []int) object {
	d, paths := t.r.Data[i], []string{}
	for _, item := range users {
		paths = append(paths, t.r.itemPath(item))
	}
	return object{{"data", i}, {"offset", d.Offset}, {"stored", d.Stored}, {"size", d.Size}, {"used_by", paths}}
}
