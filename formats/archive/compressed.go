package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A compression is one that a recording may have around it.
type compression struct {
	name   string
	magic  string
	open   opener
	first  int64  // how much a decoder has to remember at least
	window int64  // and at most; 0: it needs no memory to speak of
	stream string // what open makes of the same bytes, if that is not always the same
}

// An opener begins to decompress. What needs a larger window than the given
// one is an error that needsWindow knows.
type opener func(r *bufio.Reader, window int64) (out io.Reader, done func(sound bool), err error)

var (
	inXZ    = compression{name: "xz", magic: "\xfd7zXZ\x00", open: openXZ, first: xzFirst, window: maxXZDictionary}
	inZstd  = compression{name: "zstd", magic: "\x28\xb5\x2f\xfd", open: openZstd, first: zstdFirst, window: maxZstdWindow}
	inGzip  = compression{name: "gzip", magic: "\x1f\x8b", open: openGzip, first: deflateWindow, window: deflateWindow}
	inBzip2 = compression{name: "bzip2", magic: "BZh", open: openBzip2, first: bzip2First, window: bzip2Window}

	compressions = []compression{inXZ, inZstd, inGzip, inBzip2}
)

// compressionOf tells by the first bytes how a file is compressed.
func compressionOf(head []byte) (compression, bool) {
	for _, c := range compressions {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c, true
		}
	}
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" { // a skippable frame
		return inZstd, true
	}
	return compression{}, false
}

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

var xzReaders, zstdReaders, gzipReaders sync.Pool

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
	return z, func(sound bool) {
		if sound && window == zstdFirst && z.Reset(nil) == nil {
			zstdReaders.Put(z)
		}
	}, err
}

func openGzip(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	g, ok := gzipReaders.Get().(*gzip.Reader)
	var err error
	if ok {
		err = g.Reset(r)
	} else {
		g, err = gzip.NewReader(r)
	}
	return g, func(sound bool) {
		if sound {
			gzipReaders.Put(g)
		}
	}, err
}

// needsWindow tells whether decoding stopped because the window is too small.
func needsWindow(err error) bool {
	return errors.Is(err, xz.ErrMemlimit) || errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) ||
		errors.Is(err, errBzip2Window)
}

// A damage says where a compressed stream stopped to make sense. All that
// came out before is shown.
type damage struct {
	compression string
	stored      int64 // offset in the file, about
	size        int64 // bytes that came out before
	err         error
}

func (d *damage) Error() string {
	if d.size == 0 {
		return fmt.Sprintf("nothing can be decompressed: the %s stream is damaged near offset %d of the file: %v",
			d.compression, d.stored, d.err)
	}
	return fmt.Sprintf("the %s stream is damaged near offset %d of the file, after %d bytes of the recording: %v",
		d.compression, d.stored, d.size, d.err)
}

func (d *damage) Unwrap() error { return d.err }

// inputSize is how much is read from a compressed file at once.
const inputSize = 128 << 10

// A decoder decompresses a file from its start to its end.
type decoder struct {
	c     compression
	in    *bufio.Reader
	raw   *nodes.Cursor
	work  *workroom
	depth int // in work

	window int64 // what r may use; 0 before there was one
	beside int64 // what else is held as long as r is
	r      io.Reader
	done   func(bool)
	out    int64
}

// newDecoder begins to decompress the size bytes of raw, a file of a.
func (a *archive) newDecoder(c compression, raw nodes.ReaderAt, size int64) *decoder {
	r := nodes.NewCursor(raw, 0, size)
	return &decoder{c: c, in: bufio.NewReaderSize(r, inputSize), raw: r, work: a.work, depth: a.depth}
}

// read fills p, as far as there are bytes. The error is io.EOF behind the
// last byte of a sound stream, a *damage, that of reading the file, or that of ctx.
func (d *decoder) read(ctx context.Context, p []byte) (n int, err error) {
	defer d.raw.Bind(ctx)()
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, d.damaged(fmt.Errorf("internal error: %v", r))
		}
		d.out += int64(n)
	}()
	for n < len(p) {
		if d.r == nil {
			if d.window == 0 {
				d.window = d.firstWindow()
			}
			if err := d.work.acquire(ctx, d.depth, d.cost()); err != nil {
				return n, err
			}
			err = d.open(d.out + int64(n))
		}
		if err == nil {
			var m int
			m, err = d.r.Read(p[n:])
			n += m
		}
		switch {
		case err == nil:
		case err == io.EOF:
			return n, io.EOF
		case needsWindow(err) && d.window < d.c.window:
			d.close(false)
			d.window, err = min(d.window*windowStep, d.c.window), nil
		default:
			return n, d.failure(n, err)
		}
	}
	return n, nil
}

// open begins to decompress at the start of the file and goes on behind the
// first skip bytes. The memory for that is acquired.
func (d *decoder) open(skip int64) error {
	defer func() {
		if d.r == nil {
			d.work.release(d.depth, d.cost())
		}
	}()
	d.raw.Reset(0)
	d.in.Reset(d.raw)
	r, done, err := d.c.open(d.in, d.window)
	if err == nil {
		d.r, d.done = r, done
		_, err = io.CopyN(io.Discard, r, skip)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// firstWindow returns the window to begin with: that of the first frame of a
// zstd file, which is known without a decoder, or what most others need.
func (d *decoder) firstWindow() int64 {
	var h zstd.Header
	if b, _ := d.in.Peek(zstd.HeaderMaxSize); h.Decode(b) != nil {
		h.WindowSize = 0
	}
	return min(max(int64(h.WindowSize), d.c.first), d.c.window)
}

// cost is how much memory an open decoder takes.
func (d *decoder) cost() int64 {
	if d.c.window == 0 {
		return 0
	}
	return decoderCost + d.window + d.beside
}

// failure tells apart why decompressing stopped after n more bytes.
func (d *decoder) failure(n int, err error) error {
	if d.raw.Err != nil {
		return d.raw.Err
	}
	d.out += int64(n)
	defer func() { d.out -= int64(n) }()
	return d.damaged(err)
}

func (d *decoder) damaged(err error) error {
	switch {
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case errors.Is(err, xz.ErrMemlimit):
		err = &formats.Reason{Kind: errors.ErrUnsupported, Msg: fmt.Sprintf("it needs a dictionary of more than %d MiB", maxXZDictionary>>20)}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = &formats.Reason{Kind: errors.ErrUnsupported, Msg: fmt.Sprintf("it needs a window of more than %d MiB", maxZstdWindow>>20)}
	}
	return &damage{d.c.name, d.stored(), d.out, err}
}

// stored returns how much of the file was needed so far.
func (d *decoder) stored() int64 {
	return d.raw.Offset() - int64(d.in.Buffered())
}

// close lets go of the decompressor; sound if it can be used again.
func (d *decoder) close(sound bool) {
	if d.r != nil {
		d.done(sound)
		d.r, d.done = nil, nil
		if d.window > d.c.first {
			d.work.drop(d.window)
		}
		d.work.release(d.depth, d.cost())
	}
}

const (
	bombSize  = 64 << 20 // what a file may expand to whatever its size
	bombRatio = 1000     // above that, how many bytes may come from one

	// maxExpanded is how many bytes may come from one file at all.
	maxExpanded = 64 << 30
)

// bomb tells whether a file that gave out bytes from stored ones is refused.
func bomb(out, stored int64) error {
	if out > bombSize && out/bombRatio > stored {
		return fmt.Errorf("%w: refused as a decompression bomb: %d bytes from %d, more than %d to 1", errors.ErrUnsupported, out, stored, bombRatio)
	}
	if out > maxExpanded {
		return fmt.Errorf("%w: expands to more than %d bytes", errors.ErrUnsupported, int64(maxExpanded))
	}
	return nil
}

// packedKey is a version of a compressed file.
type packedKey struct {
	path string
	v    source.Version
}

// A whole is the decompressed bytes of a small file.
type whole struct {
	data   []byte
	damage *damage
	more   bool // it is not small, data is empty
}

// wholeRatio is how many bytes a file that is decompressed into memory at once
// may give for each of its own.
const wholeRatio = 64

// loadWhole decompresses a file that gives at most a.wholeSize bytes.
func (a *archive) loadWhole(ctx context.Context, k packedKey) (whole, int64, error) {
	raw := source.NewReader(a.handles, k.path, k.v)
	c, err := detect(ctx, raw, k.v.Size)
	if err != nil {
		return whole{}, 0, err
	}
	limit := min(a.wholeSize, wholeRatio*k.v.Size+frameSize)
	d := a.newDecoder(c, raw, k.v.Size)
	d.beside = 2 * limit // it moves as it grows
	var out []byte
	buf := make([]byte, frameSize)
	for {
		if err := ctx.Err(); err != nil {
			d.close(false)
			return whole{}, 0, err
		}
		n, err := d.read(ctx, buf)
		out = append(out, buf[:n]...)
		if int64(len(out)) > limit {
			d.close(true)
			return whole{more: true}, 256, nil
		}
		switch hurt := (*damage)(nil); {
		case err == io.EOF:
			d.close(true)
			return whole{data: out}, int64(cap(out)) + 256, nil
		case errors.As(err, &hurt):
			d.close(false)
			return whole{data: out, damage: hurt}, int64(cap(out)) + 256, nil
		case err != nil:
			d.close(false)
			return whole{}, 0, err
		}
	}
}

// detect tells how the file raw is compressed.
func detect(ctx context.Context, raw nodes.ReaderAt, size int64) (compression, error) {
	head := make([]byte, min(8, size))
	if _, err := raw.ReadAt(ctx, head, 0); err != nil && err != io.EOF {
		return compression{}, err
	}
	if c, ok := compressionOf(head); ok {
		return c, nil
	}
	if size == 0 {
		return compression{}, fmt.Errorf("the file is empty: %w", io.ErrUnexpectedEOF)
	}
	return compression{}, fmt.Errorf("%w: neither xz, zstd, gzip nor bzip2", formats.ErrCorrupt)
}

// A wholeReader reads a small compressed file. It holds no bytes itself.
type wholeReader struct {
	a *archive
	k packedKey
}

func (r wholeReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	w, err := r.a.wholes.Get(ctx, r.k)
	if err != nil {
		return 0, err
	}
	return nodes.BytesContent(w.data).ReadAt(ctx, p, off)
}

// packedHead returns the first decompressed bytes of a file that begins with
// head, none if it is not compressed.
func (a *archive) packedHead(ctx context.Context, name string, v source.Version, head []byte) ([]byte, error) {
	c, ok := compressionOf(head)
	if !ok {
		return nil, nil
	}
	d := a.newDecoder(c, source.NewReader(a.handles, name, v), v.Size)
	defer d.close(true)
	b := make([]byte, formats.HeadSize)
	n, err := d.read(ctx, b)
	if d.raw.Err != nil || err != nil && ctx.Err() != nil {
		return nil, err
	}
	return b[:n], nil
}

// unpack completes the Source of a compressed recording. It returns what
// tells of damage of the stream, which may read it to its end.
func (a *archive) unpack(ctx context.Context, k recordingKey, src *formats.Source, w *watch) (damageFunc, error) {
	raw := watchedReader{source.NewReader(a.handles, k.path, k.v), w}
	src.Raw = raw
	key := packedKey{k.path, k.v}
	c, err := detect(ctx, raw, k.v.Size)
	if err != nil {
		return nil, err
	}
	if c.name == "zstd" && !k.distrust {
		if s := a.openSeekable(ctx, raw, k.v.Size, func() { a.distrust(key) }); s != nil {
			src.ReaderAt, src.Size = watchedReader{s, w}, s.size
			return undamaged, nil
		}
	}
	streams := k.format != noFormat && a.list[k.format].Streams && k.v.Size > a.wholeSize/streamShare
	if !streams && a.mayBeSmall(k.v.Size) {
		whole, err := a.wholes.Get(ctx, key)
		if err != nil {
			w.note(err)
			return nil, err
		}
		if !whole.more {
			src.ReaderAt, src.Size = watchedReader{wholeReader{a, key}, w}, int64(len(whole.data))
			if d := whole.damage; d != nil && len(whole.data) == 0 {
				return undamaged, &formats.Error{Format: d.compression, Offset: 0, Err: d} // which says all
			}
			return func(context.Context) (*damage, error) { return whole.damage, nil }, nil
		}
	}
	u, err := a.newUnpacked(ctx, c, raw, k.v)
	if err != nil {
		return nil, err
	}
	src.ReaderAt, src.Size = watchedReader{u, w}, u.known()
	switch {
	case src.Size != formats.UnknownSize:
	case streams:
		src.Measure = u.length
	case cache.IsSavedOnly(ctx):
		return nil, &cache.NotSavedError{Name: u.name}
	default:
		src.Size, err = u.length(ctx)
	}
	return u.damageOf, err
}

// mayBeSmall tells whether it is worth trying to hold a file decompressed in
// memory: with a disk cache not if it would have to be started again.
func (a *archive) mayBeSmall(stored int64) bool {
	if a.opt.Disk == nil {
		return stored <= a.wholeSize
	}
	return stored <= a.wholeSize/4
}

// A damageFunc tells whether a compressed stream is damaged; nil: it is not.
type damageFunc func(context.Context) (*damage, error)

func undamaged(context.Context) (*damage, error) { return nil, nil }
