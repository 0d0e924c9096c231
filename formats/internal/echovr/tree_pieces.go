package echovr

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"recfs/nodes"
)

// A view is a file that is rendered piece by piece, because it is too long to be held.
type view uint8

const (
	viewLines view = iota
	viewText
	viewDisc
	viewPlayers
)

type pieceKey struct {
	view         view
	chunk, piece int
}

// loadPiece renders one piece.
func (t *Tree) loadPiece(ctx context.Context, k pieceKey) ([]byte, int64, error) {
	c, err := t.chunks.Get(ctx, k.chunk)
	if err != nil {
		return nil, 0, err
	}
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	var b []byte
	c = c.Piece(k.piece)
	switch k.view {
	case viewLines:
		b = c.Lines()
	case viewText:
		b = c.Texts()
	case viewDisc:
		b = c.DiscRows(x.First)
	case viewPlayers:
		b = c.PlayerRows(x.First)
	}
	return b, int64(cap(b)), nil
}

// A pieced is a file made of pieces whose lengths are known, and of fixed bytes.
type pieced struct {
	t     *Tree
	parts []part
	size  int64
}

type part struct {
	start int64
	fixed []byte // or else the piece
	piece pieceKey
}

func (p *pieced) add(k pieceKey, size int64) {
	if size > 0 {
		p.parts = append(p.parts, part{start: p.size, piece: k})
		p.size += size
	}
}

func (p *pieced) addBytes(b []byte) {
	p.parts = append(p.parts, part{start: p.size, fixed: b})
	p.size += int64(len(b))
}

func (p *pieced) append(o *pieced) {
	for _, part := range o.parts {
		part.start += p.size
		p.parts = append(p.parts, part)
	}
	p.size += o.size
}

func (p *pieced) file() nodes.File {
	return nodes.Stream(p.size, func(ctx context.Context) (nodes.Content, error) {
		return &reading{p, context.WithoutCancel(ctx)}, nil
	})
}

// A reading is an opened pieced file.
type reading struct {
	*pieced
	ctx context.Context
}

// Size implements nodes.Content.
func (r *reading) Size() int64 { return r.size }

// ReadAt implements io.ReaderAt.
func (r *reading) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	i := sort.Search(len(r.parts), func(i int) bool { return r.parts[i].start > off }) - 1
	for ; n < len(b) && off < r.size; i++ {
		content, err := r.content(i)
		if err != nil {
			return n, err
		}
		got := copy(b[n:], content[off-r.parts[i].start:])
		n += got
		off += int64(got)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// content returns the bytes of part i, which are as many as was promised.
func (r *reading) content(i int) ([]byte, error) {
	p := &r.parts[i]
	b := p.fixed
	if b == nil {
		var err error
		if b, err = r.t.pieces.Get(r.ctx, p.piece); err != nil {
			return nil, err
		}
	}
	end := r.size
	if i+1 < len(r.parts) {
		end = r.parts[i+1].start
	}
	if int64(len(b)) != end-p.start {
		return nil, nodes.SizeError(end-p.start, int64(len(b)))
	}
	return b, nil
}

// ExportName returns the name of a recording without its extension and without that of an outer compression.
func ExportName(name, extension string) string {
	base := name
	for _, outer := range []string{".xz", ".zst", ".gz", ".bz2"} {
		if s, ok := strings.CutSuffix(base, outer); ok {
			base = s
			break
		}
	}
	if s, ok := strings.CutSuffix(base, extension); ok {
		return s
	}
	return name
}
