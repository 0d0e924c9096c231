package datafile

import (
	"context"
	"slices"
)

// layerText returns the document of a layer that passed checkContent.
func (v *view) layerText(ctx context.Context, l *Layer) (text longText, err error) {
	content := layerContent{}
	text.document = func(context.Context) (any, error) { return l.document(content), nil }
	switch {
	case l.Kind == KindUnknown:
		content.Ints, text.lists = emptyList{}, []longList{intsList(v.r.ItemData(l.Item), 1)}
		return text, nil
	case l.Tiles != nil:
		return v.tilesText(ctx, l)
	case l.Kind == KindQuads:
		content.Quads = emptyList{}
	default:
		content.Sources = emptyList{}
	}
	if l.empty() {
		return text, nil
	}
	list, err := v.tiles(ctx, l)
	if err == nil {
		text.addTiles(list)
	}
	return text, err
}

// addTiles makes the records of a layer the list of its document.
func (text *longText) addTiles(t *Tiles) {
	text.lists, text.held = []longList{{pieces: t.pieces(), append: t.appendPiece}}, t.Held()
}

// tilesText is layerText for a tile layer. How often each tile occurs is only counted for the document.
func (v *view) tilesText(ctx context.Context, l *Layer) (text longText, err error) {
	tiles, err := v.tiles(ctx, l)
	if err != nil {
		return text, err
	}
	if tiles.numbered() {
		text.addTiles(tiles)
	}
	text.document = func(ctx context.Context) (any, error) {
		content := &tilesContent{TileLook: l.Tiles.TileLook}
		var err error
		if content.Counts, err = tiles.count(ctx); err != nil {
			return nil, err
		}
		content.NonAir = content.Counts.nonAir()
		if tiles.numbered() {
			content.Tiles = emptyList{}
		}
		return l.document(layerContent{tilesContent: content}), nil
	}
	return text, nil
}

// pieceRecords is how many records a piece of the list is made of.
func (t *Tiles) pieceRecords() int {
	if t.numbered() {
		return pieceText / tileText
	}
	return pieceText / quadText
}

// pieces is how many pieces the list has.
func (t *Tiles) pieces() int { return (t.Width*t.Height + t.pieceRecords() - 1) / t.pieceRecords() }

// appendPiece appends a piece of the list: its elements, each on a line, behind a comma.
func (t *Tiles) appendPiece(ctx context.Context, b []byte, piece int) ([]byte, error) {
	from := piece * t.pieceRecords()
	records, err := t.at(ctx, nil, from, min(t.pieceRecords(), t.Width*t.Height-from))
	if err != nil {
		return b, err
	}
	switch t.Kind {
	case KindQuads:
		return appendElements(b, decodeQuads(records))
	case KindSounds:
		return appendElements(b, decodeSources(records))
	case KindOldSounds:
		return appendElements(b, decodeOldSources(records))
	}
	for record := range slices.Chunk(records, t.size) {
		if !isZero(record) {
			b = appendField(append(b, nextElement+"{"...), "x", from%t.Width)
			b = appendField(append(b, ','), "y", from/t.Width)
			b = append(t.appendRecord(append(b, ','), record), '}')
		}
		from++
	}
	return b, nil
}

func appendElements[T any](b []byte, list []T) (_ []byte, err error) {
	for i := range list {
		if b, err = appendElement(b, &list[i]); err != nil {
			return b, err
		}
	}
	return b, nil
}
