package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zlib"
)

// tarFile writes a file of a tar.
func tarFile(w io.Writer, name string, b []byte) error {
	t := tar.NewWriter(w)
	if err := t.WriteHeader(&tar.Header{Name: name, Size: int64(len(b)), Mode: 0o644}); err != nil {
		return err
	}
	if _, err := t.Write(b); err != nil {
		return err
	}
	return t.Flush()
}

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

// tinyRecordings makes -records recordings of a few hundred bytes in directories of 1000 each. Most are links, as that is
// faster; a file may have some 65000.
func tinyRecordings(dir string) error {
	head := "\x69\x9d\xb1\x7b\x8e\xfb\x34\xff\xb1\xd8\xda\x6f\x60\xc1\x5d\xd1" +
		`{"version":"2","version_minor":"5","start_time":"2026-11-21T00:49:38+00:00","map_name":"map"}` + "\x00"
	first := ""
	for i := range *count {
		in := filepath.Join(dir, fmt.Sprintf("%04d", i/1000))
		name := filepath.Join(in, fmt.Sprintf("%03d.teehistorian", i%1000))
		if i%1000 == 0 {
			if err := os.Mkdir(in, 0o777); err != nil {
				return err
			}
		}
		var err error
		if i%60_000 == 0 {
			first, err = name, os.WriteFile(name, []byte(head+"\x40"), 0o666)
		} else {
			err = os.Link(first, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
