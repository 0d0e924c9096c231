package hcrp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// firstAlloc bounds the buffers that are kept for stored bytes, and how much longer than the greatest
// body a frame may be.
const firstAlloc = 1 << 20

// trainedMagic begins a trained zstd dictionary; anything else is raw.
var trainedMagic = []byte{0x37, 0xa4, 0x30, 0xec}

// A dictionary is what the chunks of a recording were compressed with.
type dictionary struct{ trained, raw []byte }

// findDictionary returns the dictionary with that id, or nil for id 0. It
// looks into the configured directories, then beside the recording.
func findDictionary(id uint16, dirs []iofs.FS, beside iofs.FS, limits Limits) (*dictionary, error) {
	if id == 0 {
		return nil, nil
	}
	name := strconv.Itoa(int(id)) + ".dict"
	for _, dir := range dirs {
		if d, err := readDictionary(dir, name, limits); err == nil {
			return d, nil
		}
	}
	if beside != nil {
		for _, path := range []string{"dictionaries/" + name, name} {
			if d, err := readDictionary(beside, path, limits); err == nil {
				return d, nil
			}
		}
	}
	return nil, fmt.Errorf("no usable %s was found", name)
}

func readDictionary(fsys iofs.FS, name string, limits Limits) (*dictionary, error) {
	info, err := iofs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > limits.Body {
		return nil, fmt.Errorf("%s: %d bytes, %d are the limit", name, info.Size(), limits.Body)
	}
	b, err := iofs.ReadFile(fsys, name)
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

// sum identifies the dictionary; nil if there is none.
func (d *dictionary) sum() []byte {
	if d == nil {
		return nil
	}
	h := sha256.Sum256(append(slices.Clip(d.raw), d.trained...))
	return h[:]
}

// options returns what a decoder needs to know the dictionary. Frames made
// with a raw one carry no id.
func (d *dictionary) options() []zstd.DOption {
	switch {
	case d == nil:
		return nil
	case d.trained != nil:
		return []zstd.DOption{zstd.WithDecoderDicts(d.trained)}
	}
	return []zstd.DOption{zstd.WithDecoderDictRaw(0, d.raw)}
}

// storedBuffers hold stored bytes while they are decompressed.
var storedBuffers = sync.Pool{New: func() any { return new([]byte) }}

// expand reads the stored bytes of a frame and expands them to at most limit bytes.
func (f frame) expand(ctx context.Context, z *wire.Zstd, r formats.ReaderAt, limit int64) ([]byte, error) {
	buf := storedBuffers.Get().(*[]byte)
	defer storedBuffers.Put(buf)
	stored := slices.Grow((*buf)[:0], int(f.stored))[:f.stored]
	if f.stored <= firstAlloc {
		*buf = stored
	}
	if err := readFull(ctx, r, stored, f.offset); err != nil {
		return nil, err
	}
	return z.Expand(stored, limit)
}

// missing returns why the stored bytes of chunk i are not there.
func (r *Reader) missing(i int) error {
	if d := r.flaw(i); d != nil {
		return d
	}
	return formats.Errorf(formatName, r.Entry(i).at, errTruncated, "chunk %d is not there", i)
}

// Body returns the decompressed bytes of chunk i. If the chunk is to blame
// the error is a *damage.
func (r *Reader) Body(ctx context.Context, i int) ([]byte, error) {
	if d := r.flaw(i); d != nil {
		return nil, d
	}
	e, p := r.Entry(i), r.place(i)
	if e.Size > r.limits.Body || e.Stored > r.limits.Body+firstAlloc {
		return nil, newDamage(codeLength, i, p, "%d bytes, stored in %d; %d are the limit", e.Size, e.Stored, r.limits.Body)
	}
	body, err := frame{p, e.Stored}.expand(ctx, r.zstd, r.at(p), e.Size)
	var bad *wire.StreamError
	switch {
	case errors.Is(err, wire.ErrSize):
		return nil, newDamage(codeLength, i, p, "more than the %d bytes that the index says", e.Size)
	case errors.As(err, &bad):
		return nil, newDamage(codeZstd, i, p, "%v", bad.Err)
	case err != nil:
		return nil, err
	case int64(len(body)) != e.Size:
		return nil, newDamage(codeLength, i, p, "%d bytes, the index says %d", len(body), e.Size)
	}
	return body, nil
}
