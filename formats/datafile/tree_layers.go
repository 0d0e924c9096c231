package datafile

import (
	"context"

	"recfs/formats"
	"recfs/nodes"
)

var (
	_ nodes.Content = grid{}
	_ nodes.Content = chars{}
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
	Quads   []Quad   `json:"quads,omitzero"`
	Sources []Source `json:"sources,omitzero"`
	Ints    []int32  `json:"ints,omitzero"`  // of an unknown kind
	Path    string   `json:"path,omitempty"` // in map.json
}

// tilesContent is what the file of a tile layer says of its tiles.
type tilesContent struct {
	TileLook
	NonAir int        `json:"non_air"`
	Counts tileCounts `json:"counts"`
	Tiles  *tileList  `json:"tiles,omitempty"`
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

func (v *view) layerList() []any {
	list := make([]any, len(v.m.Layers))
	for i := range list {
		l := &v.m.Layers[i]
		list[i] = l.document(layerContent{Path: layerStem(l)})
	}
	return list
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
	documents := v.files(func(ctx context.Context, i int) ([]byte, error) {
		content, err := v.layerContent(ctx, &v.m.Layers[i])
		if err != nil {
			return nil, err
		}
		return nodes.MarshalIndented(v.m.Layers[i].document(content))
	})
	file := func(l *Layer, ext string) nodes.File {
		switch ext {
		case gridExt:
			return v.textFile(l, gridSize(l), func(t *Tiles) nodes.Content { return grid{t} })
		case charsExt:
			return v.textFile(l, charsSize(l), func(t *Tiles) nodes.Content { return chars{t} })
		case pictureExt:
			return p.layerFile(l)
		}
		return documents(l.Index)
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
func (v *view) textFile(l *Layer, size int64, text func(*Tiles) nodes.Content) nodes.File {
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) {
		tiles, err := v.tiles(ctx, l)
		if err != nil {
			return nil, err
		}
		return text(tiles), nil
	})
}

// layerContent returns what the file of a layer that passed checkContent says of its content.
func (v *view) layerContent(ctx context.Context, l *Layer) (content layerContent, err error) {
	if l.Kind == KindUnknown {
		return layerContent{Ints: l.ints}, nil
	}
	if l.Tiles != nil {
		content.tilesContent, err = v.tilesContent(ctx, l)
		return content, err
	}
	records, err := v.records(ctx, l)
	switch {
	case err != nil:
	case l.Kind == KindQuads:
		content.Quads = decodeQuads(records)
	case l.Kind == KindSounds:
		content.Sources = decodeSources(records)
	default:
		content.Sources = decodeOldSources(records)
	}
	return content, err
}

func (v *view) tilesContent(ctx context.Context, l *Layer) (*tilesContent, error) {
	tiles, err := v.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	content := &tilesContent{TileLook: l.Tiles.TileLook}
	if content.Counts, err = tiles.count(ctx); err != nil || !tiles.numbered() {
		content.NonAir = content.Counts.nonAir()
		return content, err
	}
	content.NonAir = content.Counts.nonAir()
	n, err := tiles.nonZero(ctx)
	if err != nil {
		return nil, err
	}
	content.Tiles = &tileList{tiles, ctx}
	if err := v.r.checkDocument(l, tileText*int64(n)); err != nil {
		return nil, err
	}
	_, err = formats.Charge(ctx, documentCopies*tileText*int64(n))
	return content, err
}

// records returns the quads or sources of a layer that passed checkContent.
func (v *view) records(ctx context.Context, l *Layer) ([]byte, error) {
	if l.empty() {
		return nil, nil
	}
	data, _, err := v.hold(ctx, int(*l.Data))
	if err != nil {
		return nil, err
	}
	records, err := v.r.layerRecords(l, data)
	if err != nil {
		return nil, err
	}
	if err := v.r.checkDocument(l, l.maxText()); err != nil {
		return nil, err
	}
	_, err = formats.Charge(ctx, documentCopies*l.maxText())
	return records, err
}

// documentCopies is how often the text of a document is in memory while it is made, the values that
// become text among it.
const documentCopies = 4
