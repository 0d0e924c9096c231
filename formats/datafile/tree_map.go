package datafile

import (
	"bytes"
	"context"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes"
	"recfs/nodes/play"
)

// mapText is map.json.
func (t *tree) mapText(ctx context.Context) (*views.Text, error) {
	doc := mapDocument{Size: t.Size}
	if version := t.m.Version; version != nil && !version.Short {
		doc.Version = &version.Value
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
		doc.Info = keys
	}
	var err error
	doc.CRC32, doc.SHA256, err = sums(ctx, t.At(ctx), t.Size)
	mappers := t.m.autoMappers()
	return document(cost, doc, append(lists, t.imageList(), t.soundList(),
		listOf("envelopes", t.m.Envelopes, func(_ context.Context, o *Envelope) (any, error) {
			return envelopeDocument{Envelope: o, nameKeys: o.Name.keys(), Synchronized: o.Synchronized, Path: envelopePath(o)}, nil
		}),
		listOf("groups", t.m.Groups, func(_ context.Context, o *Group) (any, error) { return groupDocument{o, o.Name.keys()}, nil }),
		elementList("layers", len(t.m.Layers), elementText, func(_ context.Context, i int) (any, error) {
			l := &t.m.Layers[i]
			return l.document(member{"path", layerStem(l)}), nil
		}),
		elementList("automappers", len(mappers), elementText, func(_ context.Context, i int) (any, error) {
			o := mappers[i]
			return autoMapperDocument{o, o.Flags&autoMapperAutomatic != 0}, nil
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
		if text == nil {
			doc.set(infoKeys[i], nil)
			continue
		}
		doc.setText(infoKeys[i], *text)
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
					doc := envelopeDocument{Envelope: o, nameKeys: o.Name.keys(), Synchronized: o.Synchronized, Points: &formats.LongList{}}
					return document(0, doc, t.points.list(o)), nil
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
