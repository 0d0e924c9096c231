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
	switch rest := s.n - off; {
	case off < 0:
		return 0, fs.ErrInvalid
	case rest <= 0:
		return 0, io.EOF
	case int64(len(p)) > rest:
		n, err := s.r.ReadAt(ctx, p[:rest], s.off+off)
		if err == nil {
			err = io.EOF
		}
		return n, err
	}
	return s.r.ReadAt(ctx, p, s.off+off)
}

// CloseContent lets go of a content that is an io.Closer.
func CloseContent(c Content) error {
	if closer, ok := c.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
