package nodes

import (
	"context"
	"io"
)

// recentSize is how much of a Forward stays at hand: readers ask a little out of order.
const recentSize = 256 << 10

// A Forward is a content that can be read from its start on only: a read goes on where the last one
// ended, or from the start again if it is of what is no longer at hand.
type Forward struct {
	src   *Cursor
	start int64
	open  func(io.Reader) (io.Reader, error)
	size  int64
	held  int64
	turn  chan struct{} // holds one while somebody reads

	in     io.Reader
	at     int64 // where recent ends
	recent []byte
}

// NewForward returns a content of size bytes, which are those that the reader gives that open makes
// of src as it is now. Such a reader takes held bytes of memory.
func NewForward(src *Cursor, open func(io.Reader) (io.Reader, error), size, held int64) *Forward {
	return &Forward{src: src, start: src.Offset(), open: open, size: size, held: held, turn: make(chan struct{}, 1)}
}

// Size returns the number of bytes.
func (f *Forward) Size() int64 { return f.size }

// Held is about how much memory it takes while it is open.
func (f *Forward) Held() int64 { return f.held + recentSize }

// ReadAt implements [ReaderAt].
func (f *Forward) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if off < 0 || off >= f.size {
		return 0, io.EOF
	}
	defer f.src.Bind(ctx)()
	want := p[:min(int64(len(p)), f.size-off)]
	for n < len(want) && err == nil {
		var k int
		k, err = f.read(ctx, want[n:], off+int64(n))
		n += k
	}
	if err != nil {
		f.in = nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// read gives what is at hand from off on, or makes that more.
func (f *Forward) read(ctx context.Context, p []byte, off int64) (int, error) {
	if f.in == nil || off < f.at-int64(len(f.recent)) {
		f.src.Reset(f.start)
		f.at, f.recent = 0, f.recent[:0]
		in, err := f.open(f.src)
		if err != nil {
			return 0, err
		}
		f.in = in
	}
	if off < f.at {
		return copy(p, f.recent[int64(len(f.recent))-(f.at-off):]), nil
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return 0, f.next()
}

// next reads some more.
func (f *Forward) next() error {
	if f.recent == nil {
		f.recent = make([]byte, 0, min(recentSize, f.size))
	}
	if len(f.recent) == cap(f.recent) { // half of it stays
		f.recent = f.recent[:copy(f.recent, f.recent[cap(f.recent)/2:])]
	}
	n, err := f.in.Read(f.recent[len(f.recent):min(int64(cap(f.recent)), int64(len(f.recent))+f.size-f.at)])
	f.recent = f.recent[:len(f.recent)+n]
	f.at += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return err
}
