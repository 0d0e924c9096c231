package unpack

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
)

// A Compression is a way in which a recording may be compressed as a whole.
type Compression struct {
	Name   string
	magic  string
	Open   Opener
	First  int64  // how much a decoder has to remember at least
	Window int64  // and at most; 0: it needs no memory to speak of
	Stream string // what open makes of the same bytes, if that is not always the same
}

// An Opener begins to decompress. What needs a larger window than the given
// one is an error that needsWindow knows.
type Opener func(r *bufio.Reader, window int64) (out io.Reader, done func(sound bool), err error)

// The compressions, which but for Deflate the first bytes of a file tell.
var (
	XZ      = Compression{Name: "xz", magic: "\xfd7zXZ\x00", Open: openXZ, First: xzFirst, Window: maxXZDictionary}
	Zstd    = Compression{Name: "zstd", magic: "\x28\xb5\x2f\xfd", Open: openZstd, First: zstdFirst, Window: maxZstdWindow}
	Gzip    = Compression{Name: "gzip", magic: "\x1f\x8b", Open: openGzip, First: deflateWindow, Window: deflateWindow}
	Deflate = Compression{Name: "deflate", Open: openDeflate, First: deflateWindow, Window: deflateWindow}
	Bzip2   = Compression{Name: "bzip2", magic: "BZh", Open: openBzip2, First: bzip2First, Window: bzip2Window}

	compressions = []Compression{XZ, Zstd, Gzip, Bzip2}
)

// Extensions are what the names of compressed files end with.
var Extensions = []string{".xz", ".zst", ".gz", ".bz2"}

// compressionOf tells by the first bytes how a file is compressed.
func compressionOf(head []byte) (Compression, bool) {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c, true
		}
	}
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" { // a skippable frame
		return Zstd, true
	}
	return Compression{}, false
}

// The largest windows that are given to a stream. xz -9 makes dictionaries of 64 MiB, zstd
// --long=27, the most that its decoder takes unasked, windows of 128 MiB. Deflate has one of 32
// KiB, and tables.
const (
	maxXZDictionary = 64 << 20
	maxZstdWindow   = 128 << 20
	deflateWindow   = 64 << 10

	// xzFirst and zstdFirst are what a decoder has at least, and what those that
	// are used again have: enough for what xz -6 and zstd -3 make. A stream that
	// asks for more gets windowStep times as much.
	xzFirst    = 8 << 20
	zstdFirst  = 2 << 20
	windowStep = 8
)

// Decoders that were used for a sound stream to its end, with the first window: to make one costs
// more than to decompress a small recording with it.
var xzReaders, zstdReaders, deflateReaders sync.Pool

// xzStep is how much of a file the xz decoder is given at once: at damage it
// drops what it made of the last piece.
const xzStep = 256

// A stepReader reads a little at a time.
type stepReader struct{ r io.Reader }

func (s stepReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), xzStep)]) }

func openXZ(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	in := stepReader{r}
	x, ok := xzReaders.Get().(*xz.Reader)
	var err error
	if ok && window == xzFirst {
		err = x.Reset(in)
	} else {
		x, err = xz.NewReader(in, uint32(window))
	}
	return x, func(sound bool) {
		if sound && window == xzFirst {
			xzReaders.Put(x)
		}
	}, err
}

func openZstd(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	z, ok := zstdReaders.Get().(*zstd.Decoder)
	var err error
	if ok && window == zstdFirst {
		err = z.Reset(r)
	} else {
		z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(window)))
	}
	return zstdReader{z}, func(sound bool) {
		if sound && window == zstdFirst && z.Reset(nil) == nil {
			zstdReaders.Put(z)
		}
	}, err
}

// A zstdReader gives out the last block of a frame whose checksum is cut off, too, before the
// error.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	if err == io.ErrUnexpectedEOF {
		if m, _ := z.Decoder.Read(p[n:]); m > 0 { // the decoder has it, but tells the error first
			return n + m, nil
		}
	}
	return n, err
}

func openDeflate(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	f, ok := deflateReaders.Get().(io.ReadCloser)
	if ok {
		if err := f.(flate.Resetter).Reset(r, nil); err != nil {
			return nil, nil, err
		}
	} else {
		f = flate.NewReader(r)
	}
	return f, func(sound bool) {
		if sound {
			deflateReaders.Put(f)
		}
	}, nil
}

// needsWindow tells whether decoding stopped because the window is too small.
func needsWindow(err error) bool {
	return errors.Is(err, xz.ErrMemlimit) || errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) ||
		errors.Is(err, errBzip2Window)
}
