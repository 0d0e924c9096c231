package datafile

import (
	"context"
	"slices"

	"recfs/formats/views"
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
func (t *tree) layerDir(p *pictures) nodes.Dir {
	return t.dir("layers", func(context.Context) ([]nodes.Entry, error) {
		var entries []nodes.Entry
		for i := range t.m.Layers {
			l := &t.m.Layers[i]
			damage := t.r.checkContent(l, nil)
			for _, ext := range t.m.layerFiles(l) {
				f := nodes.Failing(damage)
				switch {
				case damage != nil:
				case ext == gridExt:
					f = t.gridFile(l, (*Tiles).grid)
				case ext == charsExt:
					f = t.gridFile(l, (*Tiles).chars)
				case ext == pictureExt:
					f = p.layerFile(l)
				default:
					f = t.HeadText("layers", i, func(ctx context.Context) (*views.Text, error) { return t.layerText(ctx, l) })
				}
				entries = append(entries, entry(layerStem(l)+ext, f))
			}
		}
		return entries, nil
	})
}

// gridFile is a text of a tile layer that passed checkContent.
func (t *tree) gridFile(l *Layer, text func(*Tiles) grid) nodes.File {
	return nodes.Stream(text(l.tiles()).Size(), func(ctx context.Context) (nodes.Content, error) {
		tiles, err := t.tiles(ctx, l)
		if err != nil {
			return nil, err
		}
		return text(tiles), nil
	})
}

// layerText returns the document of a layer that passed checkContent.
func (t *tree) layerText(ctx context.Context, l *Layer) (*views.Text, error) {
	content, key := layerContent{Sources: emptyList{}}, "sources"
	switch {
	case l.Kind == KindUnknown:
		return document(0, l.document(layerContent{Ints: emptyList{}}), intsList("ints", t.r.ItemData(l.Item), 1)), nil
	case l.Kind == KindQuads:
		content, key = layerContent{Quads: emptyList{}}, "quads"
	}
	if l.empty() {
		return document(0, l.document(content), views.List{Key: key}), nil
	}
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.Tiles == nil {
		return document(tiles.Held(), l.document(content), tiles.list(key)), nil
	}
	counts, err := tiles.count(ctx)
	if err != nil {
		return nil, err
	}
	content = layerContent{tilesContent: &tilesContent{TileLook: l.Tiles.TileLook, NonAir: counts.nonAir(), Counts: counts}}
	if tiles.numbered() {
		content.Tiles = emptyList{}
		return document(tiles.Held(), l.document(content), tiles.list("tiles")), nil
	}
	return &views.Text{N: 1, Make: func(context.Context, int, any) (views.Part, error) {
		b, err := nodes.MarshalIndented(l.document(content))
		return views.Part{Bytes: b}, err
	}, Cost: 8 * int64(len(counts))}, nil
}

// list is the list of all records.
func (t *Tiles) list(key string) views.List {
	n := partText / quadText
	if t.numbered() {
		n = partText / tileText
	}
	all := t.Width * t.Height
	return views.List{Key: key, N: (all + n - 1) / n, Append: func(ctx context.Context, b []byte, part int) ([]byte, error) {
		return t.appendRecords(ctx, b, part*n, min(n, all-part*n))
	}}
}

// appendRecords appends n records from one on.
func (t *Tiles) appendRecords(ctx context.Context, b []byte, from, n int) ([]byte, error) {
	records, err := t.at(ctx, nil, from, n)
	if err != nil {
		return b, err
	}
	switch t.Kind {
	case KindQuads:
		return appendElements(b, decodeQuads(records))
	case KindSounds, KindOldSounds:
		return appendElements(b, decodeSources(records, t.Kind))
	}
	for record := range slices.Chunk(records, t.size) {
		if !isZero(record) {
			b = appendField(append(b, views.NextElement+"{"...), "x", from%t.Width)
			b = appendField(append(b, ','), "y", from/t.Width)
			b = append(t.appendRecord(append(b, ','), record), '}')
		}
		from++
	}
	return b, nil
}

func appendElements[T any](b []byte, list []T) (_ []byte, err error) {
	for i := range list {
		if b, err = views.AppendElement(b, &list[i]); err != nil {
			break
		}
	}
	return b, err
}
