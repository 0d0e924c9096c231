package datafile

import (
	"context"
	"fmt"

	"recfs/nodes"
)

// About what a record takes in JSON.
const (
	tileText = 50
	quadText = 400
)

// layerStem is the path of a layer's files without extension.
func layerStem(l *Layer) string {
	group := "xx"
	if l.Group != noGroup {
		group = fmt.Sprintf("%02d", l.Group)
	}
	return fmt.Sprintf("layers/%s-%02d-%s%s", group, l.Pos, l.Kind, safeSuffix(l.Name.Value))
}

// fields are what map.json and the layer's own file have in common.
func (l *Layer) fields() object {
	doc := l.head()
	if l.Group == noGroup {
		doc.set("group", nil)
		doc.set("layer", nil)
	} else {
		doc.set("group", l.Group)
		doc.set("layer", l.Pos)
	}
	doc.set("kind", l.Kind)
	doc.setText("name", l.Name)
	doc.set("detail", l.Detail)
	switch l.Kind {
	case KindUnknown:
		return doc
	case KindQuads:
		doc.set("item_version", l.at(3))
		doc.set("num_quads", l.at(4))
		doc.set("image", l.at(6))
	case KindSounds, KindOldSounds:
		doc.set("item_version", l.at(3))
		doc.set("num_sources", l.at(4))
		doc.set("sound", l.at(6))
	default:
		doc.set("item_version", l.at(3))
		doc.set("width", l.at(4))
		doc.set("height", l.at(5))
		doc.set("image", l.at(tilesImageAt))
	}
	doc.set("data_index", l.Data())
	return doc
}

func (t *tree) layerList(context.Context) (any, error) {
	list := make([]object, 0, len(t.m.Layers))
	for i := range t.m.Layers {
		l := &t.m.Layers[i]
		doc := l.fields()
		doc.set("path", layerStem(l))
		list = append(list, doc)
	}
	return list, nil
}

func (t *tree) layerEntries() []nodes.Entry {
	var entries []nodes.Entry
	for i := range t.m.Layers {
		l := &t.m.Layers[i]
		stem := layerStem(l)
		document, text := t.file(madeLayer, i), t.gridFile(l)
		if err := t.r.checkContent(l); err != nil {
			document, text = nodes.Failing(err), nodes.Failing(err)
		}
		entries = append(entries, entry(stem+".json", document))
		if l.IsTiles() {
			entries = append(entries, entry(stem+".txt", text))
		}
	}
	return entries
}

// gridFile is the text of a tile layer that passed checkContent.
func (t *tree) gridFile(l *Layer) nodes.File {
	if l.Short || !l.IsTiles() {
		return nil
	}
	return nodes.Stream(gridSize(l), func(ctx context.Context) (nodes.Content, error) {
		tiles, err := t.tiles(ctx, l)
		if err != nil {
			return nil, err
		}
		return grid{tiles}, nil
	})
}

// tiles returns the tiles of a layer.
func (t *tree) tiles(ctx context.Context, l *Layer) (*Tiles, error) {
	if err := t.r.checkContent(l); err != nil {
		return nil, err
	}
	data, err := t.data.Get(ctx, int(*l.Data()))
	if err != nil {
		return nil, err
	}
	return t.r.tiles(l, data)
}

// layerDocument is the JSON file of a layer that passed checkContent.
func (t *tree) layerDocument(ctx context.Context, l *Layer) (any, error) {
	doc := l.fields()
	switch {
	case l.Kind == KindUnknown:
		doc.set("ints", l.ints)
		return doc, nil
	case l.IsTiles():
		return t.tilesDocument(ctx, l, doc)
	}
	var content []byte
	if !l.empty() {
		data, err := t.data.Get(ctx, int(*l.Data()))
		if err != nil {
			return nil, err
		}
		if content, err = t.r.layerRecords(l, data); err != nil {
			return nil, err
		}
		if err := t.r.checkDocument(l, l.maxText()); err != nil {
			return nil, err
		}
	}
	switch l.Kind {
	case KindQuads:
		doc.set("quads", decodeQuads(content))
	case KindSounds:
		doc.set("sources", decodeSources(content))
	default:
		doc.set("sources", decodeOldSources(content))
	}
	return doc, nil
}

func (t *tree) tilesDocument(ctx context.Context, l *Layer, doc object) (any, error) {
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	doc.set("flags", l.at(6))
	doc.set("color", l.ints[7:11])
	doc.set("color_env", l.at(11))
	doc.set("color_env_offset", l.at(12))
	counts := tiles.count()
	doc.set("non_air", counts.nonAir())
	doc.set("counts", counts)
	if tiles.numbered() {
		if err := t.r.checkDocument(l, tileText*int64(tiles.nonZero())); err != nil {
			return nil, err
		}
		doc.set("tiles", tileList{tiles})
	}
	return doc, nil
}
