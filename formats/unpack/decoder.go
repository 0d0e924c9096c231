package unpack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// A ReadError is a failed read of a file, as against one whose bytes make no
// sense.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the read.
func (e *ReadError) Unwrap() error { return e.Err }

// A Damage says where a compressed stream stopped to make sense. All that
// came out before is shown.
type Damage struct {
	Compression string // "": none; the bytes lie in a container as they are, and Err says all
	Stored      int64  // offset in the file, about
	Size        int64  // bytes that came out before
	Err         error
}

func (d *Damage) Error() string {
	if d.Compression == "" {
		return d.Err.Error()
	}
	if d.Size == 0 {
		return fmt.Sprintf("nothing can be decompressed: the %s stream is damaged near offset %d of the file: %v",
			d.Compression, d.Stored, d.Err)
	}
	return fmt.Sprintf("the %s stream is damaged near offset %d of the file, after %d bytes of the recording: %v",
		d.Compression, d.Stored, d.Size, d.Err)
}

func (d *Damage) Unwrap() error { return d.Err }

// BadCompression is the code of what cannot be decompressed to its end (docs/tree/README.md section
// 1).
const BadCompression = "bad_compression"

// Problem returns the damage as the documents tell it: where the bytes of the recording end.
func (d *Damage) Problem() formats.Problem {
	return formats.Problem{Code: BadCompression, Offset: d.Size, Message: formats.OneLine(d.Error())}
}

// decoderCost is what a decoder takes besides its window: its input, its
// tables, and the frame that it makes.
const decoderCost = 1 << 20

// inputSize is how much is read from a compressed file at once, firstInput for its first bytes, and
// minInput what is made room for however short it is: at least the header of a zstd frame.
const (
	inputSize  = 128 << 10
	firstInput = 16 << 10
	minInput   = 512
)

// A decoder decompresses a file from its start to its end.
type decoder struct {
	c   Compression
	in  *bufio.Reader
	raw *nodes.Cursor

	window int64       // what r may use; 0 before there was one
	held   *cache.Held // the memory of r
	r      io.Reader
	done   func(bool)
	out    int64
}

// newDecoder begins to decompress the size bytes of raw. It reads up to input bytes at once.
func newDecoder(c Compression, raw nodes.ReaderAt, size, input int64) *decoder {
	r := nodes.NewCursor(raw, 0, size)
	return &decoder{c: c, in: bufio.NewReaderSize(r, int(min(max(size, minInput), input))), raw: r}
}

// read fills p, as far as there are bytes. The error is io.EOF behind the
// last byte of a sound stream, a *Damage, that of reading the file, or that of ctx.
func (d *decoder) read(ctx context.Context, p []byte) (n int, err error) {
	defer d.raw.Bind(ctx)()
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, d.damaged(formats.Reasonf(formats.ErrCorrupt, "internal error: %v", r))
		}
		d.out += int64(n)
	}()
	for n < len(p) {
		if d.r == nil {
			if d.window == 0 {
				d.window = d.firstWindow()
			}
			if d.held, err = cache.Charge(ctx, d.cost()); err != nil {
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
		case needsWindow(err) && d.window < d.c.Window:
			d.close(false)
			d.window, err = min(d.window*windowStep, d.c.Window), nil
		default:
			return n, d.failure(n, err)
		}
	}
	return n, nil
}

// open begins to decompress at the start of the file and goes on behind the
// first skip bytes. The memory for that is charged.
func (d *decoder) open(skip int64) error {
	defer func() {
		if d.r == nil {
			d.held.Free()
		}
	}()
	d.raw.Reset(0)
	d.in.Reset(d.raw)
	r, done, err := d.c.Open(d.in, d.window)
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
	if d.c.First == d.c.Window {
		return d.c.Window
	}
	var h zstd.Header
	if b, _ := d.in.Peek(zstd.HeaderMaxSize); h.Decode(b) != nil {
		h.WindowSize = 0
	}
	return min(max(int64(h.WindowSize), d.c.First), d.c.Window)
}

// cost is how much memory an open decoder takes.
func (d *decoder) cost() int64 {
	if d.c.Window == 0 {
		return 0
	}
	return decoderCost + d.window
}

// failure tells apart why decompressing stopped after n more bytes.
func (d *decoder) failure(n int, err error) error {
	if inner := (*Damage)(nil); d.raw.Err != nil && !errors.As(d.raw.Err, &inner) {
		return &ReadError{d.raw.Err} // also for callers that share the stream and do not see its reads
	}
	d.out += int64(n)
	defer func() { d.out -= int64(n) }()
	return d.damaged(err)
}

func (d *decoder) damaged(err error) error {
	switch inner := (*Damage)(nil); {
	case errors.As(err, &inner): // it says all
	case err == io.EOF:
		err = wire.Explain(io.ErrUnexpectedEOF)
	case errors.Is(err, xz.ErrMemlimit):
		err = formats.Reasonf(errors.ErrUnsupported, "it needs a dictionary of more than %d MiB", maxXZDictionary>>20)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = formats.Reasonf(errors.ErrUnsupported, "it needs a window of more than %d MiB", maxZstdWindow>>20)
	default:
		err = wire.Explain(err)
	}
	return &Damage{d.c.Name, d.stored(), d.out, err}
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
		d.held.Free()
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
		return formats.Reasonf(errors.ErrUnsupported, "refused as a decompression bomb: %d bytes from %d, more than %d to 1", out, stored, bombRatio)
	}
	if out > maxExpanded {
		return formats.Reasonf(errors.ErrUnsupported, "it expands to more than %d bytes", int64(maxExpanded))
	}
	return nil
}

// A forward is a decompression from the start of a file to its end, one frame after the other.
// While a frame is used the next one is made.
type forward struct {
	dec   *decoder
	at    int64      // number of the frame that next gives
	ahead chan frame // of that frame; nil: it is not being made
	aside bool       // it is being made for no request
}

// A frame is what was decompressed.
type frame struct {
	b   []byte
	err error
}

// next returns the next frame. With the error of [decoder.read] come the bytes before it.
func (f *forward) next(ctx context.Context) ([]byte, error) {
	if f.ahead == nil {
		f.ahead = f.make(ctx, nil)
	}
	m := <-f.ahead
	if cache.IsShort(m.err) && f.aside { // it needs more memory than before, which is for this request to have
		m = <-f.make(ctx, m.b)
	}
	f.ahead, f.aside = nil, false
	f.at++
	return m.b, m.err
}

// keep takes the memory of the decoder out of the request that it was charged to, unless that was
// done before the frame that is being made was begun: the decoder may let go of it at any moment
// then.
func (f *forward) keep(yield func() bool) {
	if f.ahead == nil {
		f.dec.held.Keep(yield)
	}
}

// goOn begins to make the frame after the one that next gave, for nobody yet.
func (f *forward) goOn() { f.ahead, f.aside = f.make(cache.Aside(), nil), true }

// make decompresses a frame that begins with b in the background.
func (f *forward) make(ctx context.Context, b []byte) chan frame {
	done := make(chan frame, 1)
	go func() {
		if b == nil {
			b = newFrame()
		}
		n, err := f.dec.read(ctx, b[len(b):frameSize])
		done <- frame{b[:len(b)+n], err}
	}()
	return done
}

// busy reports whether a frame is being made at this moment.
func (f *forward) busy() bool { return f.ahead != nil && len(f.ahead) == 0 }

// close ends the decompression; sound if the decoder can be used again.
func (f *forward) close(sound bool) {
	if f.ahead != nil {
		<-f.ahead
		f.ahead = nil
	}
	f.dec.close(sound)
}

// An end is where a stream ends, and how.
type end struct {
	size int64
	hurt *Damage // behind the last byte; nil: none
}

// endOf returns the end of a stream that gave size bytes before the error of a decoder; nil: that
// error is no end.
func endOf(size int64, err error) *end {
	hurt := (*Damage)(nil)
	if err == io.EOF || errors.As(err, &hurt) {
		return &end{size: size, hurt: hurt}
	}
	return nil
}
