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
	lend func(ctx context.Context, i int) (b []byte, done func(lent int), err error) // nil: no bytes are lent
}

// NewPieces returns no pieces yet; load returns the bytes of piece i. If they are not as many as
// were announced the read fails with ErrStale.
func NewPieces(load func(ctx context.Context, i int) ([]byte, error)) *Pieces {
	p := NewLoans(func(ctx context.Context, i int) ([]byte, func(int), error) {
		b, err := load(ctx, i)
		return b, func(int) {}, err
	})
	p.lend = nil
	return p
}

// NewLoans is NewPieces for pieces that are lent: done is called when the bytes of a piece are not
// used any more, with how many of them were lent, 0 if they were copied.
func NewLoans(load func(ctx context.Context, i int) (b []byte, done func(lent int), err error)) *Pieces {
	p := &Pieces{}
	p.lend = func(ctx context.Context, i int) ([]byte, func(int), error) {
		piece, done, err := load(ctx, i)
		if err != nil {
			return nil, nil, err
		}
		if want := p.ends[i] - p.start(i); int64(len(piece)) != want {
			done(0)
			return nil, nil, SizeError(want, int64(len(piece)))
		}
		return piece, done, nil
	}
	lend := p.lend
	p.read = func(ctx context.Context, i int, b []byte, off int64) error {
		piece, done, err := lend(ctx, i)
		if err != nil {
			return err
		}
		copy(b, piece[off:])
		done(0)
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
	err = p.each(len(b), off, func(i, size int, at int64) error {
		if err := p.read(ctx, i, b[n:n+size], at); err != nil {
			return err
		}
		n += size
		return nil
	})
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// each calls do for each piece that has some of the n bytes from off on, with how many it has and
// where they are in it.
func (p *Pieces) each(n int, off int64, do func(i, size int, at int64) error) error {
	i := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > off })
	for end := off + int64(n); off < end && i < len(p.ends); i++ {
		size := min(end, p.ends[i]) - off
		if size == 0 {
			continue
		}
		if err := do(i, int(size), off-p.start(i)); err != nil {
			return err
		}
		off += size
	}
	return nil
}

// Lend implements Lender.
func (p *Pieces) Lend(ctx context.Context, n int, off int64) (*Loan, error) {
	if p.lend == nil {
		return nil, nil
	}
	l := &Loan{}
	var done []func(int)
	err := p.each(n, off, func(i, size int, at int64) error {
		piece, end, err := p.lend(ctx, i)
		if err != nil {
			return err
		}
		l.Parts, done = append(l.Parts, piece[at:at+int64(size)]), append(done, end)
		return nil
	})
	if err != nil {
		for _, end := range done {
			end(0)
		}
		return nil, err
	}
	l.Return = func() {
		for i, end := range done {
			end(len(l.Parts[i]))
		}
	}
	return l, nil
}
