package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"

	"recfs/formats"
)

// firstAlloc bounds what is allocated on the word of a declared size alone.
const firstAlloc = 1 << 20

// Zlib inflates src, one zlib stream (RFC 1950), which must give exactly size
// bytes. It stops one byte after them and allocates as bytes arrive. With
// the error come the bytes before it. The second result is the number of
// bytes of src after the stream.
func Zlib(src []byte, size int64) ([]byte, int, error) {
	in := bytes.NewReader(src)
	zr, err := NewZlibReader(in)
	if err != nil {
		return nil, 0, corrupt(err)
	}
	defer zr.Free()
	out, err := ReadExactly(zr, size)
	return out, in.Len(), err
}

var gzipReaders sync.Pool

// Gunzip expands src, one or more gzip members, to at most limit bytes, in the memory of dst as far
// as that goes. With the error come the bytes before it.
func Gunzip(dst, src []byte, limit int64) ([]byte, error) {
	in := bytes.NewReader(src)
	zr, ok := gzipReaders.Get().(*gzip.Reader)
	var err error
	if ok {
		err = zr.Reset(in)
	} else {
		zr, err = gzip.NewReader(in)
	}
	if err != nil {
		return nil, corrupt(err)
	}
	if cap(dst) == 0 {
		dst = bufferFor(len(src), limit)
	}
	out, err := readUpTo(dst[:0], zr, limit, 2)
	if err == nil {
		gzipReaders.Put(zr)
	}
	return out, err
}

// firstBuffers hold the beginning of what is longer than firstAlloc.
var firstBuffers = sync.Pool{New: func() any { return new([firstAlloc]byte) }}

// ReadExactly reads size bytes from r, which must end there, allocating as
// they arrive. With the error come the bytes before it.
func ReadExactly(r io.Reader, size int64) ([]byte, error) {
	var buf []byte
	if size <= firstAlloc {
		buf = make([]byte, 0, size)
	} else {
		first := firstBuffers.Get().(*[firstAlloc]byte)
		defer firstBuffers.Put(first)
		buf = first[:0]
	}
	out, err := readUpTo(buf, r, size, 8)
	if err == nil && int64(len(out)) < size {
		err = &sizeError{fmt.Sprintf("%d bytes, %d were announced", len(out), size)}
	}
	if err != nil {
		out = bytes.Clone(out)
	}
	return out, err
}

// bufferFor returns an empty buffer as so many stored bytes may need.
func bufferFor(stored int, limit int64) []byte {
	return make([]byte, 0, min(limit, 64*int64(stored)+512, firstAlloc))
}

// readUpTo appends all of r, which must end within limit bytes, to out, which has room. A buffer
// that is full becomes growth times as long.
func readUpTo(out []byte, r io.Reader, limit, growth int64) ([]byte, error) {
	var after [1]byte
	for {
		room := out[len(out):min(int64(cap(out)), limit)]
		if int64(len(out)) == limit {
			room = after[:]
		}
		n, err := r.Read(room)
		if n > 0 && int64(len(out)) == limit {
			return out, tooLong(limit)
		}
		out = out[:len(out)+n]
		switch {
		case err == io.EOF:
			return out, nil
		case err != nil:
			return out, corrupt(err)
		}
		if len(out) == cap(out) && int64(len(out)) < limit {
			grown := make([]byte, len(out), min(growth*int64(cap(out)), limit))
			copy(grown, out)
			out = grown
		}
	}
}

// A StreamError says that a compressed stream is damaged. It is formats.ErrCorrupt.
type StreamError struct{ Err error } // says why, and wraps what the decompressor says

// corrupt marks a decompressor's error as damage of the data.
func corrupt(err error) error { return &StreamError{Explain(err)} }

// Error says why.
func (e *StreamError) Error() string { return e.Err.Error() }

// Unwrap returns why and formats.ErrCorrupt.
func (e *StreamError) Unwrap() []error { return []error{e.Err, formats.ErrCorrupt} }

// ErrSize says that a stream is longer or shorter than announced. It comes as formats.ErrCorrupt,
// too.
var ErrSize = errors.New("a stream of another size")

// A sizeError is an ErrSize that tells the sizes.
type sizeError struct{ msg string }

// tooLong says that a stream has more than limit bytes.
func tooLong(limit int64) error { return &sizeError{fmt.Sprintf("more than %d bytes", limit)} }

func (e *sizeError) Error() string   { return e.msg }
func (e *sizeError) Unwrap() []error { return []error{ErrSize, formats.ErrCorrupt} }
