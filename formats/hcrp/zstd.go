package hcrp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"slices"
	"strconv"
	"sync"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

// firstAlloc bounds what is allocated on the word of the index alone.
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

// An unpacker decompresses the chunks of recordings with one dictionary.
type unpacker struct{ pool sync.Pool }

// A press is what one decompression works with.
type press struct {
	dec *zstd.Decoder
	src []byte
}

func newUnpacker(dict *dictionary, limits Limits) *unpacker {
	options := append([]zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(uint64(max(limits.Window, zstd.MinWindowSize))),
	}, dict.options()...)
	return &unpacker{sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, options...)
		if err != nil {
			return err
		}
		return &press{dec: d}
	}}}
}

// unpack reads stored bytes at off and expands them to at most size bytes.
func (u *unpacker) unpack(ctx context.Context, r formats.ReaderAt, off, stored, size int64) ([]byte, error) {
	var p *press
	switch v := u.pool.Get().(type) {
	case error:
		return nil, v
	case *press:
		p = v
		defer u.pool.Put(p)
	}
	src := p.src
	if stored > int64(cap(src)) {
		src = make([]byte, stored)
		if stored <= firstAlloc {
			p.src = src
		}
	}
	src = src[:stored]
	if err := readFull(ctx, r, src, off); err != nil {
		return nil, err
	}
	return p.expand(src, size)
}

// expand allocates by size as far as src makes it credible, and more as bytes
// arrive. What is wrong with src is an *unpackError.
func (p *press) expand(src []byte, size int64) ([]byte, error) {
	for room := min(size+1, 64*int64(len(src))+512, firstAlloc); ; room = min(4*room, size+1) {
		out, err := p.dec.DecodeAll(src, make([]byte, 0, room))
		switch {
		case err == nil && int64(len(out)) > size:
			return nil, &unpackError{errTooLong}
		case err == nil:
			return out, nil
		case !errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return p.stream(src, size)
		case room > size:
			return nil, &unpackError{errTooLong}
		}
	}
}

// stream expands what failed in too little room: of a frame that does not
// tell its size, the library gives any error then.
func (p *press) stream(src []byte, size int64) ([]byte, error) {
	defer p.dec.Reset(nil)
	if err := p.dec.Reset(bytes.NewReader(src)); err != nil {
		return nil, &unpackError{err}
	}
	out, err := io.ReadAll(io.LimitReader(p.dec, size+1))
	switch {
	case err != nil:
		return nil, &unpackError{err}
	case int64(len(out)) > size:
		return nil, &unpackError{errTooLong}
	}
	return out, nil
}

// An unpackError says that compressed bytes are damaged.
type unpackError struct{ err error }

func (e *unpackError) Error() string { return e.err.Error() }
func (e *unpackError) Unwrap() error { return e.err }

// errTooLong says that a body is longer than its index entry says.
var errTooLong = errors.New("longer than the index says")

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
	body, err := r.unpacker.unpack(ctx, r.at(p), p.offset, e.Stored, e.Size)
	var bad *unpackError
	switch {
	case errors.Is(err, errTooLong):
		return nil, newDamage(codeLength, i, p, "more than the %d bytes that the index says", e.Size)
	case errors.As(err, &bad):
		return nil, newDamage(codeZstd, i, p, "%v", err)
	case err != nil:
		return nil, err
	case int64(len(body)) != e.Size:
		return nil, newDamage(codeLength, i, p, "%d bytes, the index says %d", len(body), e.Size)
	}
	return body, nil
}
