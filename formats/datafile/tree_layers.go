package datafile

import (
	"context"

	"recfs/nodes"
)

var _ nodes.Content = grid{}

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

// The documents of layers by kind.
type (
	tilesDocument struct {
		layerDocument
		*TileFields
		Data *int32 `json:"data_index"`
		layerContent
	}
	quadsDocument struct {
		layerDocument
		*QuadFields
		Data *int32 `json:"data_index"`
		layerContent
	}
	soundsDocument struct {
		layerDocument
		*SoundFields
		Data *int32 `json:"data_index"`
		layerContent
	}
	unknownDocument struct {
		layerDocument
		layerContent
	}
)

// layerContent is what only the file of a layer says, or only map.json.
type layerContent struct {
	*tilesContent
	Quads   emptyList `json:"quads,omitzero"`
	Sources emptyList `json:"sources,omitzero"`
	Ints    emptyList `json:"ints,omitzero"`  // of an unknown kind
	Path    string    `json:"path,omitempty"` // in map.json
}

// An emptyList stands for a list that is long, see [longText].
type emptyList []struct{}

// tilesContent is what the file of a tile layer says of its tiles.
type tilesContent struct {
	TileLook
	NonAir int        `json:"non_air"`
	Counts tileCounts `json:"counts"`
	Tiles  emptyList  `json:"tiles,omitzero"`
}

// document returns the document of a layer with its content.
func (l *Layer) document(content layerContent) any {
	doc := layerDocument{Element: l.Element, Kind: l.Kind, nameKeys: l.Name.keys(), Detail: l.Detail}
	if l.Group != noGroup {
		doc.Group, doc.Layer = &l.Group, &l.Pos
	}
	switch {
	case l.Tiles != nil:
		return tilesDocument{doc, l.Tiles, l.Data, content}
	case l.Quads != nil:
		return quadsDocument{doc, l.Quads, l.Data, content}
	case l.Sounds != nil:
		return soundsDocument{doc, l.Sounds, l.Data, content}
	}
	return unknownDocument{doc, content}
}

func (v *view) layerList() longList {
	return elementList(len(v.m.Layers), elementText, func(_ context.Context, i int) (any, error) {
		l := &v.m.Layers[i]
		return l.document(layerContent{Path: layerStem(l)}), nil
	})
}

// Extensions of the files of a layer.
const (
	documentExt = ".json"
	gridExt     = ".txt"
	charsExt    = ".chars.txt"
	pictureExt  = ".png"
)

// layerFiles returns the extensions of the files that a layer has, damaged or not.
func (m *Map) layerFiles(l *Layer) []string {
	if l.Tiles == nil {
		return []string{documentExt}
	}
	list := []string{documentExt, gridExt}
	if l.Kind != KindTiles {
		list = append(list, charsExt)
	}
	if m.hasPicture(l) {
		list = append(list, pictureExt)
	}
	return list
}

// layerDir is layers/. What the items say of a layer is looked at here, once for all its files.
func (v *view) layerDir(p *pictures) nodes.Dir {
	documents := newLongTexts(v.cache, func(ctx context.Context, i int) (longText, error) { return v.layerText(ctx, &v.m.Layers[i]) })
	file := func(l *Layer, ext string) nodes.File {
		switch ext {
		case gridExt:
			return v.textFile(l, (*Tiles).grid)
		case charsExt:
			return v.textFile(l, (*Tiles).chars)
		case pictureExt:
			return p.layerFile(l)
		}
		return documents.file(l.Index)
	}
	return v.dir(func(context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range v.m.Layers {
			l := &v.m.Layers[i]
			damage := v.r.checkContent(l)
			for _, ext := range v.m.layerFiles(l) {
				f := nodes.Failing(damage)
				if damage == nil {
					f = file(l, ext)
				}
				entries = append(entries, entry(layerStem(l)+ext, f))
			}
		}
		return entries, nil
	})
}

// textFile is a text of a tile layer that passed checkContent.
func (v *view) textFile(l *Layer, text func(*Tiles) grid) nodes.File {
	return nodes.Stream(text(l.tiles()).Size(), func(ctx context.Context) (nodes.Content, error) {
		tiles, err := v.tiles(ctx, l)
		if err != nil {
			return nil, err
		}
		return text(tiles), nil
	})
}
