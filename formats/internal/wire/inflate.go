package wire

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

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

// Parts of a zlib stream (RFC 1950, section 2.2).
const (
	zlibHead      = 2
	zlibDeflate   = 8 // the method, in the low half of the first byte
	zlibMaxWindow = 7 // the window, in the high half
	zlibDict      = 0x20
	zlibSum       = 4
)

// A ZlibReader inflates one zlib stream and compares its checksum, with that of this package. It
// reads no byte after the stream.
type ZlibReader struct {
	in      flate.Reader
	inflate io.Reader
	sum     uint32
	err     error
}

var zlibReaders = sync.Pool{New: func() any { return &ZlibReader{inflate: flate.NewReader(nil)} }}

// NewZlibReader returns a reader of the stream that in begins with. Its errors are those of the
// packages flate and zlib.
func NewZlibReader(in flate.Reader) (*ZlibReader, error) {
	z := zlibReaders.Get().(*ZlibReader)
	err := z.reset(in)
	if err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// Free lets the next reader have the memory of z, which must not be used any more.
func (z *ZlibReader) Free() {
	z.in = nil
	zlibReaders.Put(z)
}

// reset begins with the stream that in begins with.
func (z *ZlibReader) reset(in flate.Reader) error {
	var head [zlibHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return cut(err)
	}
	method, flags := head[0], head[1]
	if method&15 != zlibDeflate || method>>4 > zlibMaxWindow || binary.BigEndian.Uint16(head[:])%31 != 0 {
		return zlib.ErrHeader
	}
	if flags&zlibDict != 0 {
		return zlib.ErrDictionary
	}
	z.in, z.sum, z.err = in, 1, nil
	return z.inflate.(flate.Resetter).Reset(in, nil)
}

// cut is the error of a stream whose bytes end before it does.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader.
func (z *ZlibReader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.inflate.Read(p)
	z.sum = Adler32(z.sum, p[:n])
	if err == io.EOF {
		err = z.end()
	}
	z.err = err
	return n, err
}

// end reads the checksum.
func (z *ZlibReader) end() error {
	var sum [zlibSum]byte
	if _, err := io.ReadFull(z.in, sum[:]); err != nil {
		return cut(err)
	}
	if binary.BigEndian.Uint32(sum[:]) != z.sum {
		return zlib.ErrChecksum
	}
	return io.EOF
}

// Explain returns err, with which a decompressor gave up, as one that says why in a sentence of
// ours, and wraps it. An error that has a sentence already is returned as it is.
func Explain(err error) error {
	reason, placed := (*formats.Reason)(nil), (*formats.Error)(nil)
	if err == nil || errors.As(err, &reason) || errors.As(err, &placed) {
		return err
	}
	return &formats.Reason{Kind: err, Msg: sentence(err)}
}

// What is said of several decompressors.
const (
	endsEarly     = "the compressed data ends too early"
	wrongChecksum = "the decompressed bytes do not have the checksum that is stored with them"
	noDictionary  = "it needs a dictionary that is not known"
	noSense       = "the compressed data makes no sense"
)

// sentences are those of the errors that decompressors name.
var sentences = []struct {
	err  error
	text string
}{
	{io.ErrUnexpectedEOF, endsEarly},
	{io.EOF, endsEarly},
	{zlib.ErrHeader, "there is no header of a zlib stream"},
	{zlib.ErrChecksum, wrongChecksum},
	{zlib.ErrDictionary, noDictionary},
	{gzip.ErrHeader, "there is no header of a gzip stream"},
	{gzip.ErrChecksum, wrongChecksum},
	{zstd.ErrMagicMismatch, "there is no header of a zstd frame"},
	{zstd.ErrCRCMismatch, wrongChecksum},
	{zstd.ErrUnknownDictionary, noDictionary},
	{zstd.ErrWindowSizeExceeded, "it needs more memory than it may have"},
	{zstd.ErrFrameSizeExceeded, "it is longer than its header says"},
	{zstd.ErrFrameSizeMismatch, "it is not as long as its header says"},
	{xz.ErrBuf, "the compressed data ends too early or makes no sense"},
	{xz.ErrFormat, "there is no header of an xz stream"},
	{xz.ErrMemlimit, "it needs more memory than it may have"},
	{xz.ErrOptions, "it was made with options of xz that are not supported"},
	{xz.ErrUnsupportedCheck, "it has a kind of checksum that is not supported"},
	{bzip2.StructuralError("block checksum mismatch"), wrongChecksum},
	{bzip2.StructuralError("file checksum mismatch"), wrongChecksum},
	{bzip2.StructuralError("bad magic value"), "there is no header of a bzip2 stream"},
	{bzip2.StructuralError("bad magic value found"), "there is no header of a bzip2 block"},
	{bzip2.StructuralError("deprecated randomized files"), "it is of an old kind of bzip2 that is not supported"},
}

// sentence says why a decompressor gave up. What it says itself of data that makes no sense is of
// use only to people who know its code.
func sentence(err error) string {
	for _, s := range sentences {
		if err == s.err { // not errors.Is: what wraps an end is about the end of a part
			return s.text
		}
	}
	return noSense
}
