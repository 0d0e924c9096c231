package datafile

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes"
)

var _ nodes.Content = grid{}

// layerDir is layers/.
func (t *tree) layerDir(p *pictures) nodes.Dir {
	list := func() (names []nodes.FileName) {
		for i := range t.m.Layers {
			l := &t.m.Layers[i]
			stem := path.Base(layerStem(l))
			for _, ext := range t.m.layerFiles(l) {
				names = append(names, nodes.FileName{Name: stem + ext, I: i})
			}
		}
		return names
	}
	return t.manyFiles("layers", list, func(n nodes.FileName) nodes.File {
		l := &t.m.Layers[n.I]
		if damage := t.r.checkContent(l, nil); damage != nil {
			return nodes.Failing(damage)
		}
		switch n.Name[len(path.Base(layerStem(l))):] {
		case gridExt:
			return t.gridFile(l, (*Tiles).grid)
		case charsExt:
			return t.gridFile(l, (*Tiles).chars)
		case pictureExt:
			return p.file(picture(l.Index), l)
		}
		return t.HeadText("layers", n.I, func(ctx context.Context) (*views.Text, error) { return t.layerText(ctx, l) })
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
	key := "sources"
	switch {
	case l.Kind == KindUnknown:
		return document(0, l.document(member{"ints", formats.LongList{}}), intsList("ints", t.r.ItemData(l.Item), 1)), nil
	case l.Kind == KindQuads:
		key = "quads"
	}
	if l.empty() {
		return document(0, l.document(member{key, formats.LongList{}}), views.List{Key: key}), nil
	}
	tiles, err := t.tiles(ctx, l)
	if err != nil {
		return nil, err
	}
	if l.Tiles == nil {
		return document(tiles.Held(), l.document(member{key, formats.LongList{}}), tiles.list(key)), nil
	}
	counts, err := tiles.count(ctx)
	if err != nil {
		return nil, err
	}
	o := l.Tiles
	doc := l.document(
		member{"flags", o.TileFlags}, member{"color", o.Color}, member{"color_env", o.ColorEnv},
		member{"color_env_offset", o.ColorEnvOffset}, member{"non_air", counts.nonAir()}, member{"counts", counts})
	if tiles.numbered() {
		doc.set("tiles", formats.LongList{})
		return document(tiles.Held(), doc, tiles.list("tiles")), nil
	}
	return &views.Text{N: 1, Make: func(context.Context, int, any) (views.Part, error) {
		b, err := jsonenc.MarshalIndented(doc)
		return views.Part{Bytes: b}, err
	}, Cost: 8 * int64(len(counts))}, nil
}

// list is the list of all records.
func (t *Tiles) list(key string) views.List {
	n := partText / quadText
	if t.numbered() {
		n = partText / tileText
	}
	return views.Elements(key, t.Width*t.Height, n, func(ctx context.Context, b []byte, first, end int) ([]byte, error) {
		return t.appendRecords(ctx, b, first, end-first)
	})
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

// itemTypes is items/: a directory for each type that has items.
func (t *tree) itemTypes() nodes.Dir {
	var entries []nodes.Entry
	for _, typ := range t.r.Types {
		if typ.Num > 0 {
			entries = append(entries, nodes.Entry{Name: t.r.TypeName(typ.ID), Dir: t.itemDir(typ)})
		}
	}
	return nodes.List(entries...)
}

// itemDir shows the items of a type, raw and decoded.
func (t *tree) itemDir(typ ItemType) nodes.Dir {
	list := func() []nodes.FileName {
		names := make([]nodes.FileName, 0, 2*typ.Num)
		for i := typ.Start; i < typ.Start+typ.Num; i++ {
			name := t.r.itemNumber(i)
			names = append(names, nodes.FileName{Name: name, I: i}, nodes.FileName{Name: name + documentExt, I: i})
		}
		return names
	}
	items := t.manyFiles(fmt.Sprint("items/", typ.ID), list, func(n nodes.FileName) nodes.File {
		switch {
		case path.Ext(n.Name) != documentExt:
			return nodes.Bytes(t.r.ItemData(n.I))
		case t.r.Items[n.I].Size > 4*longItemInts:
			return t.HeadText("items", n.I, func(context.Context) (*views.Text, error) {
				doc, key, data, n := t.r.describeLong(n.I)
				return document(0, doc, intsList(key, data, n)), nil
			})
		}
		return views.JSON(func(context.Context) (any, error) { return t.r.describeItem(n.I), nil })
	})
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		dir, err := nodes.Resolve(ctx, items)
		return nodes.Alias(dir, listedItem), err
	})
}

// listedItem is the listed name of an item whose number has fewer zeros.
func listedItem(name string) (string, bool) {
	digits, rest, dotted := strings.Cut(name, ".")
	n, ok := nodes.ParseNumber(digits, numberWidth)
	if !ok {
		return "", false
	}
	name = fmt.Sprintf("%0*d", numberWidth, n)
	if dotted {
		name += "." + rest
	}
	return name, true
}

// dataDir is data/.
func (t *tree) dataDir() nodes.Dir {
	return &nodes.Series{
		Width: numberWidth, N: len(t.r.Data), File: func(n int64) nodes.File { return t.dataFile(int(n)) },
	}
}
