package recordings

import (
	"context"
	"io"
	"math"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// A pass over a large recording keeps what it has, so that another one goes on from there when the
// process ends. It is made in stretches. Each makes the index of a recording that ends with it, and
// the next one goes on from that as if the recording had grown.

const (
	// keepEvery is how often a pass keeps what it has.
	keepEvery = 30 * time.Second

	// leastStretch is how many bytes a stretch has at least. Where a pass is slow, a few of 64 MiB
	// take some seconds each; where it is fast the stretches become longer.
	leastStretch = 64 << 20
)

// A pace is how often a pass keeps what it has, and how many bytes a stretch has at least.
type pace struct {
	every time.Duration
	least int64
}

// A pass makes the index of a file.
type pass struct {
	pace
	o     *Opened
	in    formats.Input
	tally *formats.Tally // of what in reads
	keep  func(context.Context, *sealedIndex)
}

// pass returns a pass that reads through the tally, and what is not steady from seen.
func (s *Store[K]) pass(o *Opened, key indexKey[K], tally *formats.Tally, seen *lastRead) *pass {
	p := &pass{s.pace, o, o.Input, tally, func(ctx context.Context, x *sealedIndex) { s.indexes.Save(ctx, key, x) }}
	p.in.ReaderAt = tally
	if seen != nil {
		p.in.ReaderAt = unsteady{tally, seen}
	}
	return p
}

// run makes the index, or goes on from an earlier one. The tally has read the bytes of that.
func (p *pass) run(ctx context.Context, earlier formats.Index) (*sealedIndex, int64, error) {
	ctx = nodes.Until(ctx, math.MaxInt64)
	scan := p.scan
	if p.o.source.Format.Prefixes {
		scan = p.stretches
	}
	x, err := scan(ctx, p.in, earlier)
	if err != nil {
		return nil, 0, err
	}
	seal, err := p.tally.Seal(ctx, p.o.Stamp, x.Reach(""))
	if err != nil {
		return nil, 0, err
	}
	return p.o.sealed(ctx, x, seal, nil)
}

// scan makes the index in one go.
func (p *pass) scan(ctx context.Context, in formats.Input, earlier formats.Index) (formats.Index, error) {
	return p.o.source.Format.Scan(ctx, in, p.o.Head, earlier)
}

// stretches makes the index, and keeps it on the way. The last stretch is the one that was given
// all there is: where the size is unknown that shows in a read that met no end.
func (p *pass) stretches(ctx context.Context, in formats.Input, x formats.Index) (formats.Index, error) {
	end, n, kept := int64(0), p.least, time.Now()
	if x != nil {
		end = x.Reach("")
	}
	for {
		began, part := time.Now(), in
		end += n
		b := &beginning{ReaderAt: in.ReaderAt, end: end}
		part.ReaderAt = b
		if in.Size != formats.UnknownSize {
			part.Size = min(in.Size, end)
		}
		var err error
		if x, err = p.scan(ctx, part, x); err != nil || part.Size == in.Size && !b.cut {
			return x, err
		}
		now := time.Now()
		if now.Sub(kept) >= p.every {
			if err := p.save(ctx, x); err != nil {
				return nil, err
			}
			kept = now
		}
		n = p.next(n, now.Sub(began), p.every-now.Sub(kept))
	}
}

// next returns how long a stretch is that comes after one of n bytes, which took some time, when so
// much is left before the pass keeps what it has.
func (p *pass) next(n int64, took, left time.Duration) int64 {
	// Four times the last one at most: the first stretch says little of the rate of those after it.
	rate := float64(n) / max(took, time.Millisecond).Seconds()
	return max(p.least, min(4*n, int64(rate*left.Seconds())))
}

// save keeps the index of what was read.
func (p *pass) save(ctx context.Context, x formats.Index) error {
	seal, err := p.tally.Seal(ctx, p.o.Stamp, x.Reach(""))
	if err == nil {
		p.keep(ctx, &sealedIndex{x, about{seal: seal, size: p.o.Size, beside: p.o.beside, pass: p.tally.State()}, p.o.Head, false})
	}
	return err
}

// A beginning is the bytes of a recording before end.
type beginning struct {
	formats.ReaderAt
	end int64
	cut bool // there may be more
}

// ReadAt implements formats.ReaderAt.
func (b *beginning) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	room := max(b.end-off, 0)
	if int64(len(p)) <= room {
		return b.ReaderAt.ReadAt(ctx, p, off)
	}
	n, err := b.ReaderAt.ReadAt(ctx, p[:room], off)
	if err == nil {
		b.cut, err = true, io.EOF
	}
	return n, err
}
