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

// An item is one of a map.
type item struct {
	typ  int32
	ints []int32
}

// A content is that of a data item: rows that differ, of so many records of so many bytes, each of
// some kinds of byte.
type content struct{ width, height, record, kinds int }

func (c content) size() int32 { return int32(c.width * c.height * c.record) }

func (c content) write(w io.Writer) error {
	row := make([]byte, c.width*c.record)
	for i := range row {
		row[i] = byte(i / c.record % c.kinds)
	}
	for y := range c.height {
		binary.LittleEndian.PutUint16(row, uint16(y))
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// tiles is a layer of tiles, which shows an image or none; those of a tele layer have numbers, too.
func tiles(flags, side, image, data int32) item {
	l := []int32{0, 2, 0, 3, side, side, flags, 255, 255, 255, 255, -1, 0, image, data, 0, 0, 0, -1, -1, -1, -1, -1}
	if flags == 2 {
		l[18] = 1
	}
	return item{5, l}
}

// mapOf makes a map of one group of layers, after an image where there is one, and of data.
func mapOf(image []int32, layers []item, all ...content) func(io.Writer, int) error {
	items := []item{{0, []int32{1}}}
	if image != nil {
		items = append(items, item{2, image})
	}
	items = append(items, item{4, []int32{3, 0, 0, 100, 100, 0, int32(len(layers)), 0, 0, 0, 0, 0, 0, 0, 0}})
	return func(w io.Writer, _ int) error { return datafile(w, append(items, layers...), all) }
}

// datafile writes one of version 4 with items, those of a type in a row, and data.
func datafile(w io.Writer, items []item, all []content) error {
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
		starts, sizes = append(starts, int32(data.Len())), append(sizes, c.size())
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
	_, err := io.WriteString(w, "DATA")
	err = errors.Join(err, binary.Write(w, binary.LittleEndian, slices.Concat(head, tables)))
	_, dataErr := data.WriteTo(w)
	return errors.Join(err, dataErr)
}
