package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
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
	typeVersion, typeGroup, typeLayer = 0, 4, 5

	mapSide = 11_000
)

// An item is one of a map.
type item struct {
	typ, id int32
	ints    []int32
}

// hugeMap is a map of half a megabyte: its game layer has 11000×11000 tiles, 484 MB of zeroes.
func hugeMap(w io.Writer, i int) error {
	var data bytes.Buffer
	z, err := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	if err != nil {
		return err
	}
	row := make([]byte, 4*mapSide)
	row[4*(i+1)] = 1
	for range mapSide {
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	layer := []int32{0, 2, 0, 3, mapSide, mapSide, 1, 255, 255, 255, 255, -1, 0, -1, 0, 0, 0, 0, -1, -1, -1, -1, -1}
	group := []int32{3, 0, 0, 100, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
	return writeMap(w, []item{{typeVersion, 0, []int32{1}}, {typeGroup, 0, group}, {typeLayer, 0, layer}}, data.Bytes(), 4*mapSide*mapSide)
}

// writeMap writes a datafile of version 4 with items of different types and one data item of size
// bytes.
func writeMap(w io.Writer, items []item, data []byte, size int32) error {
	var types, offsets, body []int32
	for k, it := range items {
		types = append(types, it.typ, int32(k), 1)
		offsets = append(offsets, 4*int32(len(body)))
		body = append(append(body, it.typ<<16|it.id, 4*int32(len(it.ints))), it.ints...)
	}
	tables := slices.Concat(types, offsets, []int32{0, size}, body)
	swapped := int32(4*len(tables)) + 20
	head := []int32{4, swapped + int32(len(data)), swapped, int32(len(items)), int32(len(items)), 1, 4 * int32(len(body)), int32(len(data))}
	if _, err := io.WriteString(w, "DATA"); err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, slices.Concat(head, tables)); err != nil {
		return err
	}
	_, err := w.Write(data)
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
