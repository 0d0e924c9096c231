//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// Types of items of a map, and the side of its layer.
const (
	typeVersion, typeImage, typeGroup, typeLayer = 0, 2, 4, 5

	mapSide = 11_000
)

// An item is one of a map.
type item struct {
	typ  int32
	ints []int32
}

// hugeMap is a map of half a megabyte: its game layer has 11000×11000 tiles, 484 MB of zeroes.
func hugeMap(w io.Writer, i int) error {
	tiles := func(w io.Writer) error {
		row := make([]byte, 4*mapSide)
		row[4*(i+1)] = 1
		for range mapSide {
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		return nil
	}
	return mapOf(w, []item{{typeVersion, []int32{1}}, {typeGroup, groupItem(1)}, {typeLayer, layerItem(1, mapSide, -1, 0)}},
		content{4 * mapSide * mapSide, tiles})
}

// mapOf writes a datafile of version 4 with items, those of a type in a row, and data.
func mapOf(w io.Writer, items []item, all ...content) error {
	var types, offsets, starts, sizes, body []int32
	var data bytes.Buffer
	for _, it := range items {
		if n := len(types); n == 0 || types[n-3] != it.typ {
			types = append(types, it.typ, int32(len(offsets)), 0)
		}
		id := types[len(types)-1]
		types[len(types)-1]++
		offsets = append(offsets, 4*int32(len(body)))
		body = append(append(body, it.typ<<16|id, 4*int32(len(it.ints))), it.ints...)
	}
	for _, c := range all {
		starts, sizes = append(starts, int32(data.Len())), append(sizes, c.size)
		z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
		if err := errors.Join(err, c.write(z), z.Close()); err != nil {
			return err
		}
	}
	tables := slices.Concat(types, offsets, starts, sizes, body)
	swapped := 4*int32(len(tables)) + 20
	head := []int32{
		4, swapped + int32(data.Len()), swapped, int32(len(types) / 3), int32(len(items)), int32(len(all)),
		4 * int32(len(body)), int32(data.Len()),
	}
	if _, err := io.WriteString(w, "DATA"); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, slices.Concat(head, tables)); err != nil {
		return err
	}
	_, err := data.WriteTo(w)
	return err
}

// rowsOf returns a stream of rows that differ.
func rowsOf(width, height, record int) func(io.Writer) error {
	return func(w io.Writer) error {
		row := make([]byte, width*record)
		for i := range row {
			row[i] = byte(i / record % 7)
		}
		for y := range height {
			binary.LittleEndian.PutUint16(row, uint16(y))
			if _, err := w.Write(row); err != nil {
				return err
			}
		}
		return nil
	}
}

func layerItem(flags, side, image, data int32) []int32 {
	l := []int32{0, 2, 0, 3, side, side, flags, 255, 255, 255, 255, -1, 0, image, data, 0, 0, 0, -1, -1, -1, -1, -1}
	return l
}

func groupItem(layers int32) []int32 {
	return []int32{3, 0, 0, 100, 100, 0, layers, 0, 0, 0, 0, 0, 0, 0, 0}
}

// imageMap is a map with an image of 400 MB, which a layer shows.
func imageMap(w io.Writer, _ int) error {
	const side = 10_000
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeImage, []int32{1, side, side, 0, -1, 0}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, 1000, -1, 1)},
		{typeLayer, layerItem(0, 1000, 0, 1)},
	}, content{4 * side * side, rowsOf(side, side, 4)}, content{4_000_000, rowsOf(1000, 1000, 4)})
}

// previewMap is one whose preview has as many pixels as one may have.
func previewMap(w io.Writer, _ int) error {
	const side = 9400
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, side, -1, 0)},
		{typeLayer, layerItem(0, side, -1, 0)},
	}, content{4 * side * side, rowsOf(side, side, 4)})
}

// teleMap is one with as many numbered tiles as a document may have.
func teleMap(w io.Writer, _ int) error {
	const side = 2300
	tele := layerItem(2, side, -1, 0)
	tele[len(tele)-5] = 1
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, side, -1, 0)},
		{typeLayer, tele},
	}, content{4 * side * side, rowsOf(side, side, 4)}, content{2 * side * side, rowsOf(side, side, 2)})
}

// quadsMap is one with as many quads as a document may have.
func quadsMap(w io.Writer, _ int) error {
	const quads, size = 650_000, 152
	return mapOf(w, []item{
		{typeVersion, []int32{1}},
		{typeGroup, groupItem(2)},
		{typeLayer, layerItem(1, 1000, -1, 1)},
		{typeLayer, []int32{0, 3, 0, 2, quads, 0, -1, 0, 0, 0}},
	}, content{quads * size, rowsOf(size, quads, 1)}, content{4_000_000, rowsOf(1000, 1000, 4)})
}

// A content is that of a data item.
type content struct {
	size  int32
	write func(io.Writer) error
}
