package hcrp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// trainedMagic begins a trained zstd dictionary; anything else is raw.
var trainedMagic = []byte{0x37, 0xa4, 0x30, 0xec}

// A dictionary is a zstd dictionary, with which the chunks of a recording were compressed.
type dictionary struct{ trained, raw []byte }

// findDictionary returns the dictionary with an id, or nil for id 0. It looks into the configured
// directories, then beside the recording. A *formats.UnreadError means that there may be one that
// cannot be read now.
func findDictionary(ctx context.Context, id uint16, dirs []formats.Folder, beside formats.Folder, limits Limits) (*dictionary, error) {
	if id == 0 {
		return nil, nil
	}
	name := dictionaryName(id)
	for _, dir := range dirs {
		if d, err := readDictionary(ctx, dir, name, limits); err == nil || isUnread(err) {
			return d, err
		}
	}
	if beside != nil {
		for _, path := range besideDictionaries(id) {
			if d, err := readDictionary(ctx, beside, path, limits); err == nil || isUnread(err) {
				return d, err
			}
		}
	}
	return nil, fmt.Errorf("no usable %s was found", name)
}

func dictionaryName(id uint16) string { return strconv.Itoa(int(id)) + ".dict" }

// besideDictionaries returns where a dictionary may lie beside a recording.
func besideDictionaries(id uint16) []string {
	name := dictionaryName(id)
	return []string{"dictionaries/" + name, name}
}

func isUnread(err error) bool {
	_, ok := errors.AsType[*formats.UnreadError](err)
	return ok
}

func readDictionary(ctx context.Context, dir formats.Folder, name string, limits Limits) (*dictionary, error) {
	b, err := readBeside(ctx, dir, name, limits.Body)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(b, trainedMagic) {
		return &dictionary{raw: b}, nil
	}
	if _, err := zstd.InspectDictionary(b); err != nil {
		return nil, err
	}
	return &dictionary{trained: b}, nil
}

// sum returns a checksum of the dictionary, nil if there is none.
func (d *dictionary) sum() []byte {
	if d == nil {
		return nil
	}
	h := sha256.Sum256(append(slices.Clip(d.raw), d.trained...))
	return h[:]
}

// decoder returns what expands frames that were made with the dictionary. Those of a raw one carry
// no id, and those of a trained one need not.
func (d *dictionary) decoder(window int64) *wire.Zstd {
	switch {
	case d == nil:
		return wire.NewZstd(window)
	case d.trained != nil:
		id := binary.LittleEndian.Uint32(d.trained[len(trainedMagic):])
		return wire.NewZstd(window, zstd.WithDecoderDicts(d.trained)).Assume(id)
	}
	return wire.NewZstd(window, zstd.WithDecoderDictRaw(0, d.raw))
}
