package nodes

import (
	"context"
	"io"
	"io/fs"
	"sort"
)

// Pieces is a Content made of pieces one after the other, whose sizes are known before their bytes
// are. A piece is made when a read touches it; what should be made once for many reads comes from a
// Memo.
type Pieces struct {
	ends []int64 // the offset after each piece
	read func(ctx context.Context, i int, p []byte, off int64) error
}

// NewPieces returns no pieces yet; load returns the bytes of piece i. If they are not as many as
// were announced the read fails with ErrStale.
func NewPieces(load func(ctx context.Context, i int) ([]byte, error)) *Pieces {
	p := &Pieces{}
	p.read = func(ctx context.Context, i int, b []byte, off int64) error {
		piece, err := load(ctx, i)
		if err != nil {
			return err
		}
		if want := p.ends[i] - p.start(i); int64(len(piece)) != want {
			return SizeError(want, int64(len(piece)))
		}
		copy(b, piece[off:])
		return nil
	}
	return p
}

// NewSections returns no pieces yet; piece i is read where at says that it lies.
func NewSections(at func(i int) (r ReaderAt, off int64)) *Pieces {
	return &Pieces{read: func(ctx context.Context, i int, b []byte, off int64) error {
		r, base := at(i)
		n, err := r.ReadAt(ctx, b, base+off)
		switch {
		case n == len(b):
			return nil
		case err == nil, err == io.EOF:
			return io.ErrUnexpectedEOF
		}
		return err
	}}
}

// Add says that a piece of n bytes follows. It must not be called once the content is read.
func (p *Pieces) Add(n int64) { p.ends = append(p.ends, p.Size()+n) }

// Size implements Content.
func (p *Pieces) Size() int64 { return p.start(len(p.ends)) }

// start returns where piece i begins.
func (p *Pieces) start(i int) int64 {
	if i == 0 {
		return 0
	}
	return p.ends[i-1]
}

// ReadAt implements Content.
func (p *Pieces) ReadAt(ctx context.Context, b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	i := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > off })
	for ; n < len(b) && i < len(p.ends); i++ {
		from := off + int64(n)
		part := b[n:min(int64(len(b)), int64(n)+p.ends[i]-from)]
		if len(part) == 0 {
			continue
		}
		if err := p.read(ctx, i, part, from-p.start(i)); err != nil {
			return n, err
		}
		n += len(part)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
