package datafile

import (
	"context"

	"recfs/nodes"
)

// A layerDocument is what map.json and a layer's own file have in common (docs/tree/datafile.md
// sections 5 and 8). Group and Layer are null for a layer that no group claims.
type layerDocument struct {
	Element
	Group *int `json:"group"`
	Layer *int `json:"layer"`
	Kind  Kind `json:"kind"`
	nameKeys
	Detail bool `json:"detail"`
}

// The documents of layers by kind. Path is in map.json, what is before it in the layer's own file.
type (
	unknownDocument struct {
		layerDocument
		Ints []int32 `json:"ints,omitzero"`
		Path string  `json:"path,omitempty"`
	}
	tilesDocument struct {
		layerDocument
		*TileFields
		Data *int32 `json:"data_index"`
		*tilesContent
		Path string `json:"path,omitempty"`
	}
	quadsDocument struct {
		layerDocument
		*QuadFields
		Data  *int32 `json:"data_index"`
		Quads []Quad `json:"quads,omitzero"`
		Path  string `json:"path,omitempty"`
	}
	soundsDocument struct {
		layerDocument
		*SoundFields
		Data    *int32   `json:"data_index"`
		Sources []Source `json:"sources,omitzero"`
		Path    string   `json:"path,omitempty"`
	}
)

// tilesContent is what the file of a tile layer says of its tiles.
type tilesContent struct {
	TileLook
	NonAir int        `json:"non_air"`
	Counts tileCounts `json:"counts"`
	Tiles  *tileList  `json:"tiles,omitempty"`
}

func (l *Layer) document() layerDocument {
	doc := layerDocument{Element: l.Element, Kind: l.Kind, nameKeys: l.Name.keys(), Detail: l.Detail}
	if l.Group != noGroup {
		doc.Group, doc.Layer = &l.Group, &l.Pos
	}
	return doc
}

func (v *view) layerList() []any {
	list := make([]any, len(v.m.Layers))
	for i := range list {
		l := &v.m.Layers[i]
		doc, path := l.document(), layerStem(l)
		switch {
		case l.Tiles != nil:
			list[i] = tilesDocument{doc, l.Tiles, l.Data(), nil, path}
		case l.Quads != nil:
			list[i] = quadsDocument{doc, l.Quads, l.Data(), nil, path}
		case l.Sounds != nil:
			list[i] = soundsDocument{doc, l.Sounds, l.Data(), nil, path}
		default:
			list[i] = unknownDocument{doc, nil, path}
		}
	}
	return list
}

// layerDir is layers/. What the items say of a layer is looked at here, once for all its files.
func (v *view) layerDir() nodes.Dir {
	documents := v.files(func(ctx context.Context, i int) ([]byte, error) {
		doc, err := v.layerDocument(ctx, &v.m.Layers[i])
		if err != nil {
			return nil, err
		}
		return nodes.MarshalIndented(doc)
	})
	return v.dir(func(context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range v.m.Layers {
			l := &v.m.Layers[i]
			document, text := documents(i), nodes.File(nil)
			if err := v.r.checkContent(l); err != nil {
				document, text = nodes.Failing(err), nodes.Failing(err)
			} else if l.Tiles != nil {
				text = v.gridFile(l)
			}
			entries = append(entries, entry(layerStem(l)+".json", document))
			if l.Tiles != nil {
				entries = append(entries, entry(layerStem(l)+".txt", text))
			}
		}
		return entries, nil
	})
}

// gridFile is the text of a tile layer that passed checkContent.
func (v *view) gridFile(l *Layer) nodes.File {
	return nodes.Stream(gridSize(l), func(ctx context.Context) (nodes.Content, error) {
		tiles, err := v.tiles(ctx, l)
		if err != nil {
			return nil, err
		}
		return grid{tiles}, nil
	})
}

// layerDocument is the JSON file of a layer that passed checkContent.
func (v *view) layerDocument(ctx context.Context, l *Layer) (any, error) {
	if l.Kind == KindUnknown {
		return unknownDocument{l.document(), l.ints, ""}, nil
	}
	if l.Tiles != nil {
		content, err := v.tilesContent(ctx, l)
		return tilesDocument{l.document(), l.Tiles, l.Data(), content, ""}, err
	}
	records, err := v.records(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case l.Kind == KindQuads:
		return quadsDocument{l.document(), l.Quads, l.Data(), decodeQuads(records), ""}, nil
	case l.Kind == KindSounds:
		return soundsDocument{l.document(), l.Sounds, l.Data(), decodeSources(records), ""}, nil
	}
	return soundsDocument{l.document(), l.Sounds, l.Data(), decodeOldSources(records), ""}, nil
}

func (v *view) tilesContent(ctx context.Context, l *Layer) (*tilesContent, error) {
	tiles, err := v.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	content := &tilesContent{TileLook: l.Tiles.TileLook, Counts: tiles.count()}
	content.NonAir = content.Counts.nonAir()
	if tiles.numbered() {
		content.Tiles = &tileList{tiles}
		err = v.r.checkDocument(l, tileText*int64(tiles.nonZero()))
	}
	return content, err
}

// records returns the quads or sources of a layer that passed checkContent.
func (v *view) records(ctx context.Context, l *Layer) ([]byte, error) {
	if l.empty() {
		return nil, nil
	}
	data, err := v.data.Get(ctx, int(*l.Data()))
	if err != nil {
		return nil, err
	}
	records, err := v.r.layerRecords(l, data)
	if err != nil {
		return nil, err
	}
	return records, v.r.checkDocument(l, l.maxText())
}
