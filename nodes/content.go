package nodes

import (
	"context"
	"io"
	"io/fs"
)

// A ReaderAt is an [io.ReaderAt] whose reads end with a context. The rules are those of
// io.ReaderAt: fewer bytes than asked for come with an error, and reads may run at the same time.
type ReaderAt interface {
	ReadAt(ctx context.Context, p []byte, off int64) (n int, err error)
}

// Content is the content of an opened file: Size bytes, io.EOF after the last.
type Content interface {
	ReaderAt
	Size() int64
}

// A Lender is a Content that lends its bytes as they lie in memory to a reader that uses them once
// and then keeps them itself, as the kernel does. What was lent once as a whole need not stay for
// others.
type Lender interface {
	// Lend returns the n bytes from off on, which the content has, or no loan if it would have to copy
	// them.
	Lend(ctx context.Context, n int, off int64) (*Loan, error)
}

// A Loan is bytes that are lent, in parts one after the other. They must not be changed, and not be
// used once Return was called, which has to be.
type Loan struct {
	Parts  [][]byte
	Return func()
}

// At binds r to the context of one operation, after whose end no further read starts. The result
// must not outlive the operation.
func At(ctx context.Context, r ReaderAt) io.ReaderAt {
	return readerAt(func(p []byte, off int64) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.ReadAt(ctx, p, off)
	})
}

type readerAt func(p []byte, off int64) (int, error)

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

// Reader returns the whole content as a stream of one operation, like [At].
func Reader(ctx context.Context, c Content) *io.SectionReader {
	if _, ok := c.(sectionContent); ok {
		ctx = Until(ctx, c.Size())
	}
	return io.NewSectionReader(At(ctx, c), 0, c.Size())
}

// Unbound returns r, whose reads do not wait for anything a context could end: bytes in memory, a
// file of this machine.
func Unbound(r io.ReaderAt) ReaderAt { return unbound{r} }

type unbound struct{ r io.ReaderAt }

func (u unbound) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.ReadAt(p, off)
}

// untilKey is what a context has of Until.
type untilKey struct{}

// Until returns a context in which bytes are read one after the other up to end: whoever has to ask
// a server for them asks ahead at once. A section tells what it is a section of.
func Until(ctx context.Context, end int64) context.Context {
	return context.WithValue(ctx, untilKey{}, end)
}

// UntilOf returns the end that Until told, 0 if it told none.
func UntilOf(ctx context.Context) int64 {
	end, _ := ctx.Value(untilKey{}).(int64)
	return end
}

// BytesContent returns b, which must not change, as a Content.
func BytesContent(b []byte) Content { return bytesContent(b) }

type bytesContent []byte

func (b bytesContent) Size() int64 { return int64(len(b)) }

func (b bytesContent) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case off < 0:
		return 0, fs.ErrInvalid
	case off >= int64(len(b)):
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Held returns about how much memory c keeps as long as it is open: its bytes, if it is bytes in
// memory, or what its method Held says.
func Held(c Content) int64 {
	switch c := c.(type) {
	case bytesContent:
		return int64(len(c))
	case interface{ Held() int64 }:
		return c.Held()
	}
	return 0
}

// SectionContent returns n bytes of r from off on as a Content.
func SectionContent(r ReaderAt, off, n int64) Content { return sectionContent{r, off, n} }

type sectionContent struct {
	r      ReaderAt
	off, n int64
}

func (s sectionContent) Size() int64 { return s.n }

func (s sectionContent) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if end := UntilOf(ctx); end > 0 && (s.off > 0 || end > s.n) {
		ctx = Until(ctx, s.off+min(end, s.n))
	}
	switch {
	case off < 0:
		return 0, fs.ErrInvalid
	case off >= s.n:
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), s.n-off)]
	n, err := s.r.ReadAt(ctx, want, s.off+off)
	if err == nil && len(want) < len(p) {
		err = io.EOF
	}
	return n, err
}

// CloseContent lets go of a content that is an io.Closer.
func CloseContent(c Content) error {
	if closer, ok := c.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// A Cursor reads a section in order, for a decoder that lives longer than one operation: every
// operation binds its own context before it reads.
type Cursor struct {
	// Err is the first error of a read, io.EOF apart: it tells a source that cannot be read from
	// bytes that make no sense.
	Err error

	r        ReaderAt
	off, end int64
	bound    io.ReaderAt // r in the context of the operation; nil: there is none
}

// NewCursor returns a Cursor at the first of n bytes of r from off on.
func NewCursor(r ReaderAt, off, n int64) *Cursor { return &Cursor{r: r, off: off, end: off + n} }

// Bind makes ctx that of the reads until release is called.
func (c *Cursor) Bind(ctx context.Context) (release func()) {
	c.bound = At(ctx, c.r)
	return func() { c.bound = nil }
}

// Offset returns where the next read begins.
func (c *Cursor) Offset() int64 { return c.off }

// Reset goes back to an offset.
func (c *Cursor) Reset(off int64) { c.off, c.Err = off, nil }

// Read implements io.Reader for the operation that has bound its context.
func (c *Cursor) Read(p []byte) (int, error) {
	if c.off >= c.end {
		return 0, io.EOF
	}
	n, err := c.bound.ReadAt(p[:min(int64(len(p)), c.end-c.off)], c.off)
	c.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	if err != nil && err != io.EOF && c.Err == nil {
		c.Err = err
	}
	return n, err
}

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
