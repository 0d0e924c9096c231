package nodes

import (
	"bytes"
	"context"
	"fmt"
)

// Bytes returns a File with the content b, which must not change.
func Bytes(b []byte) File { return &contentFile{BytesContent(b)} }

// Section returns a File that shows n bytes of r from off on, without
// copying them.
func Section(r ReaderAt, off, n int64) File { return &contentFile{SectionContent(r, off, n)} }

// A contentFile is a File of what need not be opened.
type contentFile struct{ content Content }

func (f *contentFile) Size(context.Context) (int64, error) { return f.content.Size(), nil }

func (f *contentFile) Open(context.Context) (Content, error) { return f.content, nil }

type stream struct {
	size int64
	open func(context.Context) (Content, error)
}

// Stream returns a File of a known size whose content is more than should
// be held in memory: open returns a reader of it.
func Stream(size int64, open func(context.Context) (Content, error)) File {
	return &stream{size, open}
}

func (f *stream) Size(context.Context) (int64, error) { return f.size, nil }

func (f *stream) Open(ctx context.Context) (Content, error) {
	c, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	if got := c.Size(); got != f.size {
		CloseContent(c)
		return nil, SizeError(f.size, got)
	}
	return c, nil
}

// Sized returns a File whose size is known and whose bytes are made on
// demand. Open fails with ErrStale if they are not of that size.
func Sized(size int64, content func(context.Context) ([]byte, error)) File {
	return Stream(size, func(ctx context.Context) (Content, error) {
		return made(content(ctx))
	})
}

// SizeError says that content, or a part of it, has other than the announced
// number of bytes. Sizes are exact for one version of a source, so it is an
// [ErrStale]: the source is another one now.
func SizeError(announced, got int64) error {
	return fmt.Errorf("%w: %d bytes, %d were announced", ErrStale, got, announced)
}

// Func returns a File whose bytes are made to learn their number, too. It
// calls content for every Size and Open, so a costly one belongs in a Memo.
func Func(content func(context.Context) ([]byte, error)) File {
	return Opened(func(ctx context.Context) (Content, error) { return made(content(ctx)) })
}

type openedFile struct {
	open func(context.Context) (Content, error)
}

// made returns bytes as content.
func made(b []byte, err error) (Content, error) {
	if err != nil {
		return nil, err
	}
	return BytesContent(b), nil
}

// Opened returns a File whose size is that of what open returns. It calls
// open for every Size and Open, so what is costly there belongs in a Memo.
func Opened(open func(context.Context) (Content, error)) File { return &openedFile{open} }

func (f *openedFile) Size(ctx context.Context) (int64, error) {
	c, err := f.open(ctx)
	if err != nil {
		return 0, err
	}
	defer CloseContent(c)
	return c.Size(), nil
}

func (f *openedFile) Open(ctx context.Context) (Content, error) { return f.open(ctx) }

// Failing returns a File that is there and cannot be made: its size is not
// known either.
func Failing(err error) File {
	return Opened(func(context.Context) (Content, error) { return nil, err })
}

// LazyFile returns the File that open returns, asked for at every operation,
// so open must be cheap once its result exists: the Get of a Memo.
func LazyFile(open func(context.Context) (File, error)) File {
	return &DeferredFile[*opener[File]]{&opener[File]{open}}
}

// A DeferredFile is the File that Target resolves to, at every operation, as
// a [Deferred] is for directories.
type DeferredFile[T interface {
	comparable
	Resolve(ctx context.Context) (File, error)
}] struct{ Target T }

// Resolve returns the File, as that of a [Resolver] does.
func (d DeferredFile[T]) Resolve(ctx context.Context) (File, error) { return d.Target.Resolve(ctx) }

// Size implements File.
func (d DeferredFile[T]) Size(ctx context.Context) (int64, error) {
	f, err := d.Target.Resolve(ctx)
	if err != nil {
		return 0, err
	}
	return f.Size(ctx)
}

// Open implements File.
func (d DeferredFile[T]) Open(ctx context.Context) (Content, error) {
	f, err := d.Target.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx)
}

// ReadAll returns the whole content of f.
func ReadAll(ctx context.Context, f File) ([]byte, error) {
	c, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer CloseContent(c)
	var b bytes.Buffer
	b.Grow(int(min(c.Size(), mostForClaim)) + bytes.MinRead)
	_, err = b.ReadFrom(Reader(ctx, c))
	return b.Bytes(), err
}

// mostForClaim is how much memory a size is believed for before the bytes are there.
const mostForClaim = 8 << 20
