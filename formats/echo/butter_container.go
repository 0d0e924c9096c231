package echo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// smallChunk is how many bytes of a chunk are in memory at once. Real chunks have some 40 KiB.
const smallChunk = 256 << 10

// A chunkBytes is what a chunk decompresses to, as far as it can be read. A text that is longer
// than those of real chunks is decompressed as it is read, each time that it is read.
type chunkBytes struct {
	held []byte // all of it, unless it is streamed
	room *room  // that held is in; nil: it is streamed
	size int64
	src  *nodes.Cursor // of what is stored; nil: it is held
	pack packing
}

// A room is memory in which a chunk is read and expanded.
type room struct{ stored, text []byte }

var rooms = sync.Pool{New: func() any { return new(room) }}

// free lets the next chunk have the memory of the text, which must not be used any more.
func (t *chunkBytes) free() {
	if t.room != nil {
		rooms.Put(t.room)
		t.room, t.held = nil, nil
	}
}

// A packing is how a chunk that is streamed is compressed, and how much memory decompressing takes.
type packing struct {
	compression uint8
	window      int64
}

// The windows of zstd frames that are streamed. Real recorders ask for 8 MiB at most.
const (
	leastWindow = 8 << 20
	mostWindow  = 64 << 20
)

// open returns what decompresses src.
func (p packing) open(src io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(src, 32<<10)
	switch {
	case p.compression == stored:
		return in, nil
	case p.compression == gzipped:
		return gzip.NewReader(in)
	}
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(p.window)))
}

// packingOf returns the packing of a chunk that begins with these bytes. Its window is that of the
// first frame.
func packingOf(compression uint8, head []byte) packing {
	p := packing{compression: compression}
	if compression != stored && compression != gzipped {
		var h zstd.Header
		if h.Decode(head) != nil {
			h = zstd.Header{}
		}
		p.window = max(leastWindow, min(wire.ZstdWindow(&h), mostWindow))
	}
	return p
}

// unpack returns the text of a chunk of n bytes at off that is longer than smallChunk. It
// decompresses the chunk once, up to limit, to learn the length of the text, and a second time if a
// later frame asks for a larger window than the first. bad says why the text ends early, err that
// it cannot be read.
func unpack(ctx context.Context, r formats.ReaderAt, off, n int64, pack packing, limit int64) (t *chunkBytes, bad, err error) {
	t, bad, err = unpackOnce(ctx, nodes.NewCursor(r, off, n), pack, limit)
	if errors.Is(bad, zstd.ErrWindowSizeExceeded) && pack.window < mostWindow {
		pack.window = mostWindow
		t, bad, err = unpackOnce(ctx, nodes.NewCursor(r, off, n), pack, limit)
	}
	return t, bad, err
}

// unpackOnce is unpack with one window.
func unpackOnce(ctx context.Context, src *nodes.Cursor, pack packing, limit int64) (t *chunkBytes, bad, err error) {
	t = &chunkBytes{src: src, pack: pack}
	held, err := formats.Charge(ctx, t.pack.window)
	if err != nil {
		return nil, nil, err
	}
	defer held.Free()
	defer src.Bind(ctx)()
	defer src.Reset(src.Offset())
	in, bad := t.pack.open(src)
	buf := make([]byte, 64<<10)
	for bad == nil && t.size <= limit {
		if err = ctx.Err(); err != nil {
			return nil, nil, err
		}
		var n int
		n, bad = in.Read(buf)
		t.size += int64(n)
	}
	switch {
	case src.Err != nil:
		return nil, nil, src.Err
	case t.size == 0:
		t = &chunkBytes{}
	case t.size > limit:
		t.size = limit
		return t, tooLong(limit), nil
	}
	if bad == io.EOF {
		return t, nil, nil
	}
	return t, wire.Explain(bad), nil
}

func tooLong(limit int64) error { return fmt.Errorf("more than %d bytes", limit) }

// maxFrame is more bytes than a frame can have: three teams of 255 players with 71 bytes each, 127
// players with 719 bytes of bones each, and 1.5 KiB for the rest.
const maxFrame = 160 << 10

// A feed gives the text of a chunk to its decoder piece by piece.
type feed struct {
	in  io.Reader
	src *nodes.Cursor
	buf []byte
}

// reader returns the beginning of the text, and a feed of the rest, nil if there is none. The
// memory for it is charged to ctx until done is called.
func (t *chunkBytes) reader(ctx context.Context) (b []byte, f *feed, done func(), err error) {
	if t.src == nil {
		return t.held, nil, func() {}, nil
	}
	held, err := formats.Charge(ctx, t.pack.window+4*maxFrame)
	if err != nil {
		return nil, nil, nil, err
	}
	release := t.src.Bind(ctx)
	start := t.src.Offset()
	done = func() {
		t.src.Reset(start)
		release()
		held.Free()
	}
	in, err := t.pack.open(t.src)
	if t.src.Err != nil {
		err = t.src.Err
	}
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	f = &feed{io.LimitReader(in, t.size), t.src, make([]byte, 4*maxFrame)}
	return nil, f, done, nil
}

// more returns rest, the bytes that are left, and the next bytes of the text. Only at the end they
// are fewer than the longest frame has.
func (f *feed) more(rest []byte) ([]byte, error) {
	n := copy(f.buf, rest)
	m, err := io.ReadFull(f.in, f.buf[n:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = f.src.Err
	}
	return f.buf[:n+m], err
}

// content returns the text as it is shown.
func (t *chunkBytes) content() nodes.Content {
	if t.src == nil {
		return nodes.BytesContent(t.held)
	}
	return nodes.NewForward(t.src, t.pack.open, t.size, t.pack.window)
}
