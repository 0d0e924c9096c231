package datafile

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// sharedMaps is where larger real maps lie if the folder is there.
const sharedMaps = "../../../shared/recordings/datafile"

// A mapWriter builds datafiles: sound ones, and broken ones when what it has collected, or the
// result, is changed.
type mapWriter struct {
	magic   string // DATA if empty
	version int32  // 4 if 0
	items   []writtenItem
	data    []writtenData
}

type writtenItem struct {
	typ, id uint16
	ints    []int32
}

// writtenData is a data item; size is what the table says, -1: the truth.
type writtenData struct {
	stored []byte
	size   int32
}

// item adds an item with the next free id of its type.
func (w *mapWriter) item(typ uint16, ints ...int32) {
	id := uint16(0)
	for _, it := range w.items {
		if it.typ == typ {
			id++
		}
	}
	w.items = append(w.items, writtenItem{typ, id, ints})
}

// content adds a data item and returns its index.
func (w *mapWriter) content(b []byte) int32 {
	stored := b
	if w.version != 3 {
		stored = deflate(b)
	}
	w.data = append(w.data, writtenData{stored, int32(len(b))})
	return int32(len(w.data) - 1)
}

// text adds a string as a data item.
func (w *mapWriter) text(s string) int32 { return w.content(append([]byte(s), 0)) }

func deflate(b []byte) []byte {
	var buf bytes.Buffer
	zw := zlib.NewWriter(&buf)
	if _, err := zw.Write(b); err != nil {
		panic(err)
	}
	if err := zw.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// bytes returns the file, with the items sorted by type.
func (w *mapWriter) bytes() []byte {
	magic, version := w.magic, w.version
	if magic == "" {
		magic = "DATA"
	}
	if version == 0 {
		version = 4
	}
	slices.SortStableFunc(w.items, func(a, b writtenItem) int { return int(a.typ) - int(b.typ) })
	var types, itemOffsets, items []int32
	for i, it := range w.items {
		if i == 0 || it.typ != w.items[i-1].typ {
			types = append(types, int32(it.typ), int32(i), 0)
		}
		types[len(types)-1]++
		itemOffsets = append(itemOffsets, int32(4*len(items)))
		items = append(items, int32(uint32(it.typ)<<16|uint32(it.id)), int32(4*len(it.ints)))
		items = append(items, it.ints...)
	}
	var dataOffsets, dataSizes []int32
	var data []byte
	for _, d := range w.data {
		dataOffsets = append(dataOffsets, int32(len(data)))
		dataSizes = append(dataSizes, d.size)
		data = append(data, d.stored...)
	}
	if version == 3 {
		dataSizes = nil
	}
	swaplen := 36 - 16 + 4*(len(types)+len(itemOffsets)+len(dataOffsets)+len(dataSizes)+len(items))
	b := appendInts([]byte(magic), version, int32(swaplen+len(data)), int32(swaplen), int32(len(types)/3),
		int32(len(w.items)), int32(len(w.data)), int32(4*len(items)), int32(len(data)))
	for _, part := range [][]int32{types, itemOffsets, dataOffsets, dataSizes, items} {
		b = appendInts(b, part...)
	}
	return append(b, data...)
}

func appendInts(b []byte, ints ...int32) []byte {
	for _, v := range ints {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// textInts is the inverse of intsToText.
func textInts(s string, n int) []int32 {
	b := make([]byte, 4*n)
	copy(b[:len(b)-1], s)
	ints := make([]int32, n)
	for i := range ints {
		for k := range 4 {
			ints[i] = ints[i]<<8 | int32(b[4*i+k]+128)
		}
	}
	ints[n-1] &^= 0xff
	return ints
}

// ints joins lists of ints.
func ints(parts ...any) []int32 {
	var list []int32
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			list = append(list, int32(p))
		case int32:
			list = append(list, p)
		case []int32:
			list = append(list, p...)
		}
	}
	return list
}

// tileLayer returns a tile layer item of version 3. The reference that its flags ask for gets the
// tiles, the plain one zeros if they are not the same.
func (w *mapWriter) tileLayer(name string, width, height int, flags, image int32, tiles []byte) {
	refs := []int32{-1, -1, -1, -1, -1}
	own := w.content(tiles)
	plain := own
	if slot := slices.Index(physicsKinds, tileKind(flags)); slot >= 0 {
		refs[slot] = own
		plain = w.content(make([]byte, 4*width*height))
	}
	w.item(typeLayer, ints(0, layerTiles, 0, 3, width, height, flags, []int32{255, 255, 255, 255}, -1, 0,
		image, plain, textInts(name, 3), refs)...)
}

// group adds a group that moves with the game layer.
func (w *mapWriter) group(name string, parallax, startLayer, numLayers int) {
	w.item(typeGroup, ints(3, 0, 0, parallax, parallax, startLayer, numLayers, 0, 0, 0, 0, 0, textInts(name, 3))...)
}

// image adds an embedded RGBA image.
func (w *mapWriter) image(name string, width, height int, pixels []byte) {
	w.item(typeImage, 1, int32(width), int32(height), 0, w.text(name), w.content(pixels))
}

// largeMap returns a map of 64 tile layers with 1000×1000 tiles each.
func largeMap() []byte {
	const side = 1000
	w := &mapWriter{}
	w.item(typeVersion, 1)
	tiles := make([]byte, 4*side*side)
	for i := range 64 {
		for k := 0; k < len(tiles); k += 4 {
			tiles[k] = byte(k / 4 % side * (i + 1) >> 5)
		}
		w.tileLayer("Layer", side, side, 0, -1, tiles)
	}
	w.group("Tiles", 100, 0, 64)
	return w.bytes()
}
