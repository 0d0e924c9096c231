package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
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

const (
	xzStep = 256 // how much of a file the xz decoder is given at once, so that it is known about where it stops
	xzPart = 64  // how much it is asked for at once: at damage it drops what it made for the last request
)

// A stepReader reads a little at a time.
type stepReader struct {
	r    io.Reader
	step int
}

func (s stepReader) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.step)]) }

func openXZ(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	in := stepReader{r, xzStep}
	x, ok := xzReaders.Get().(*xz.Reader)
	var err error
	if ok && window == xzFirst {
		err = x.Reset(in)
	} else {
		x, err = xz.NewReader(in, uint32(window))
	}
	return stepReader{x, xzPart}, func(sound bool) {
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

const (
	// bzip2Tables is what a decoder of bzip2 takes beside the bytes of a block
	// that are held back.
	bzip2Tables = 4 << 20

	// bzip2Held is enough for most blocks, and bzip2Block is more than any block gives: it has
	// 900,000 bytes, and five of them may stand for a run of 259.
	bzip2Held  = 4 << 20
	bzip2Block = 48 << 20

	bzip2First  = bzip2Tables + bzip2Held
	bzip2Window = bzip2Tables + bzip2Block
)

var (
	errBzip2Window = errors.New("the block needs more memory")

	bzip2Rooms = sync.Pool{New: func() any { return new([bzip2Held]byte) }}
)

// A bzip2Reader gives the bytes of a block once their checksum is known to
// hold. The decoder, which makes them one by one, compares it behind the last.
type bzip2Reader struct {
	in   *bzip2Input
	r    io.Reader
	room []byte

	given, sound, made int // bytes in room: given out, of blocks whose checksums hold, and all
	err                error
}

func openBzip2(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	in := &bzip2Input{Reader: r}
	b := &bzip2Reader{in: in, r: bzip2.NewReader(in)}
	if window > bzip2First {
		b.room = make([]byte, window-bzip2Tables)
		return b, func(bool) {}, nil
	}
	room := bzip2Rooms.Get().(*[bzip2Held]byte)
	b.room = room[:]
	return b, func(bool) { bzip2Rooms.Put(room) }, nil
}

func (b *bzip2Reader) Read(p []byte) (int, error) {
	for b.given == b.sound && len(p) > 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.room[b.given:b.sound])
	b.given += n
	return n, nil
}

// fill reads on when all that is sound was given out. One read of the decoder does not go beyond a
// block.
func (b *bzip2Reader) fill() {
	b.made = copy(b.room, b.room[b.sound:b.made])
	b.given, b.sound = 0, 0
	if b.made == len(b.room) {
		b.err = errBzip2Window
		return
	}
	before := b.in.n
	n, err := b.r.Read(b.room[b.made:])
	if b.in.n > before { // it is past the end of a block, so that was sound
		b.sound = b.made
	}
	b.made += n
	if err != nil && b.in.ended(err) {
		err = io.EOF
	}
	b.err = err
}

// A bzip2Input counts the bytes that are asked for, and remembers the last 16.
type bzip2Input struct {
	*bufio.Reader
	n         int64
	high, low uint64
}

func (c *bzip2Input) ReadByte() (byte, error) {
	c.n++
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.high, c.low = c.high<<8|c.low>>56, c.low<<8|uint64(b)
	}
	return b, err
}

// A stream ends with this number, at any bit, and a checksum.
const (
	bzip2End     = 0x177245385090
	bzip2EndBits = 48
	bzip2SumBits = 32
)

// ended reports whether decoding stopped in what stands behind a stream and is no other one: that
// is no part of the file, as bzip2(1) has it. The decoder has read one byte of it if there are no
// more, else two to four. The head of a stream that is cut is damage.
func (c *bzip2Input) ended(err error) bool {
	least, most := uint(2), uint(4)
	if err == io.ErrUnexpectedEOF {
		if byte(c.low) == 'B' {
			return false
		}
		least, most = 1, 1
	}
	for shift := 8*least + bzip2SumBits; shift < 8*(most+1)+bzip2SumBits; shift++ {
		bits := c.low>>shift | c.high<<(64-shift) | c.high>>(shift-64) // a shift below zero is one of all bits
		if bits&(1<<bzip2EndBits-1) == bzip2End {
			return true
		}
	}
	return false
}

var gzipReaders sync.Pool // of *gzip.Reader

// A gzipReader decompresses the members of a gzip file. Zeros behind the last one are no part of
// it: what fills blocks of tapes and disks adds them, and gzip(1) leaves them out, too.
type gzipReader struct {
	*gzip.Reader
	in *bufio.Reader
}

func openGzip(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	g, ok := gzipReaders.Get().(*gzip.Reader)
	if !ok {
		g = new(gzip.Reader)
	}
	z := gzipReader{g, r}
	return z, func(sound bool) {
		if sound {
			gzipReaders.Put(g)
		}
	}, z.member()
}

func (z gzipReader) Read(p []byte) (int, error) {
	n, err := z.Reader.Read(p)
	if err == io.EOF {
		err = z.next()
	}
	return n, err
}

// maxPadding is how many zeros may stand behind a file, as much as the largest blocks of tapes
// have: a hole at the end of a file can have any number, and all of them are read.
const maxPadding = 1 << 20

// next begins the member after one that has ended; io.EOF: there is none.
func (z gzipReader) next() error {
	for padded := 0; padded <= maxPadding; {
		if _, err := z.in.Peek(1); err != nil {
			return err
		}
		b, _ := z.in.Peek(z.in.Buffered())
		zeros := len(b) - len(bytes.TrimLeft(b, "\x00"))
		if zeros == 0 && padded == 0 {
			return z.member()
		}
		if zeros == 0 {
			break
		}
		z.in.Discard(zeros)
		padded += zeros
	}
	return gzip.ErrHeader
}

// member reads the header of a member.
func (z gzipReader) member() error {
	err := z.Reset(z.in)
	z.Multistream(false)
	return err
}
