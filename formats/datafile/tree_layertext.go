package datafile

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"recfs/cache"
	"recfs/nodes"
)

// layerTexts are the documents of layers. The list of tiles, quads or sources that one ends with is made piece
// by piece: a few stored bytes can make 256 MiB of it.
type layerTexts struct {
	*view
	layouts *cache.Memo[int, *layerText]
	pieces  *cache.Memo[listPiece, []byte]
}

// A listPiece is a part of the list of a layer.
type listPiece struct{ layer, piece int }

// A layerText is how the document of a layer is laid out.
type layerText struct {
	head, tail []byte
	sizes      []int64 // of the pieces between them
	first      int     // the first of them that has an element; 0: or there is none
}

// pieceText is about how long a piece is.
const pieceText = 128 << 10

func newLayerTexts(v *view) *layerTexts {
	t := &layerTexts{view: v, pieces: cache.NewMemo[listPiece, []byte](v.cache, nil)}
	t.layouts = cache.NewMemo(v.cache, t.layout).Peak(func(i int) int64 {
		const ordinary, slice = 512 << 10, 16 // a slice moves as it grows
		l := &v.m.Layers[i]
		return ordinary + documentCopies*4*int64(len(l.ints)) + slice*l.maxText()/pieceText
	})
	return t
}

// documentCopies is how often the ints of a layer are in memory while they become text.
const documentCopies = 8

// file returns the document of a layer that passed checkContent.
func (t *layerTexts) file(l *Layer) nodes.File {
	return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
		text, err := t.layouts.Get(ctx, l.Index)
		if err != nil {
			return nil, err
		}
		return nodes.Stream(text.pieces(nil).Size(), func(ctx context.Context) (nodes.Content, error) {
			if text.sizes == nil {
				return nodes.BytesContent(text.head), nil
			}
			return t.open(ctx, l, text)
		}), nil
	})
}

// layout lays out the document of a layer, for which it makes all of it once.
func (t *layerTexts) layout(ctx context.Context, i int) (*layerText, int64, error) {
	l := &t.m.Layers[i]
	content, tiles, err := t.layerContent(ctx, l)
	if err != nil {
		return nil, 0, err
	}
	text := &layerText{}
	if text.head, err = nodes.MarshalIndented(l.document(content)); err == nil && tiles != nil {
		err = t.layoutList(ctx, l, tiles, text)
	}
	return text, int64(cap(text.head) + 8*cap(text.sizes)), err
}

// layoutList adds the list, which is empty so far.
func (t *layerTexts) layoutList(ctx context.Context, l *Layer, tiles *Tiles, text *layerText) error {
	const empty = "]\n}\n"
	text.first = -1
	var b []byte
	for i := range tiles.pieces() {
		var err error
		if b, err = tiles.appendPiece(ctx, b[:0], i); err != nil {
			return err
		}
		if text.sizes = append(text.sizes, int64(len(b))); text.first < 0 && len(b) > 0 {
			text.first = i
			text.sizes[i]-- // the comma
		}
	}
	if text.first < 0 {
		text.sizes = nil
		return nil
	}
	text.head = bytes.TrimSuffix(text.head, []byte(empty))
	text.tail = []byte("\n  " + empty)
	return nil
}

// pieces returns the document, the pieces of whose list load makes.
func (text *layerText) pieces(load func(ctx context.Context, i int) ([]byte, error)) *nodes.Pieces {
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		switch i {
		case 0:
			return text.head, nil
		case len(text.sizes) + 1:
			return text.tail, nil
		}
		return load(ctx, i-1)
	})
	p.Add(int64(len(text.head)))
	for _, n := range text.sizes {
		p.Add(n)
	}
	p.Add(int64(len(text.tail)))
	return p
}

// A layerReader is an open document of a layer.
type layerReader struct {
	*nodes.Pieces
	tiles *Tiles
}

// Held is about how much memory it takes.
func (r layerReader) Held() int64 { return r.tiles.Held() }

func (t *layerTexts) open(ctx context.Context, l *Layer, text *layerText) (nodes.Content, error) {
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	load := func(ctx context.Context, key listPiece) ([]byte, int64, error) {
		b, err := tiles.appendPiece(ctx, nil, key.piece)
		if key.piece == text.first && len(b) > 0 {
			b = b[1:]
		}
		return b, int64(cap(b)), err
	}
	return layerReader{text.pieces(func(ctx context.Context, i int) ([]byte, error) {
		return t.pieces.GetFrom(ctx, listPiece{l.Index, i}, load)
	}), tiles}, nil
}

// layerContent returns what the document of a layer that passed checkContent says of its content, and the records
// of the list that it ends with, if there is one.
func (v *view) layerContent(ctx context.Context, l *Layer) (content layerContent, list *Tiles, err error) {
	switch {
	case l.Kind == KindUnknown:
		return layerContent{Ints: l.ints}, nil, nil
	case l.Tiles != nil:
		content.tilesContent, list, err = v.tilesContent(ctx, l)
		return content, list, err
	case l.Kind == KindQuads:
		content.Quads = emptyList{}
	default:
		content.Sources = emptyList{}
	}
	if l.empty() {
		return content, nil, nil
	}
	if err := v.r.checkDocument(l, l.maxText()); err != nil {
		return content, nil, err
	}
	list, err = v.tiles(ctx, l)
	return content, list, err
}

func (v *view) tilesContent(ctx context.Context, l *Layer) (*tilesContent, *Tiles, error) {
	tiles, err := v.tiles(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	content := &tilesContent{TileLook: l.Tiles.TileLook}
	if content.Counts, err = tiles.count(ctx); err != nil {
		return nil, nil, err
	}
	content.NonAir = content.Counts.nonAir()
	if !tiles.numbered() {
		return content, nil, nil
	}
	n, err := tiles.nonZero(ctx)
	if err != nil {
		return nil, nil, err
	}
	content.Tiles = emptyList{}
	return content, tiles, v.r.checkDocument(l, tileText*int64(n))
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
	records, err := t.at(ctx, from, min(t.pieceRecords(), t.Width*t.Height-from))
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

// nextElement begins an element of a list in a document.
const nextElement = ",\n    "

func appendElements[T any](b []byte, list []T) ([]byte, error) {
	for i := range list {
		text, err := json.Marshal(list[i])
		if err != nil {
			return b, err
		}
		b = append(append(b, nextElement...), text...)
	}
	return b, nil
}
