package echovr

import (
	"context"
	"strings"

	"recfs/cache"
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
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	info := &x.Chunks[k.chunk]
	size := info.pieceSize(k)
	held, err := rendering(ctx, size)
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	c, err := t.frames(ctx, x, k.chunk, info.piece(k.piece), info.Pieces[k.piece].Frames)
	if err != nil {
		return nil, 0, err
	}
	b := make([]byte, 0, size)
	switch k.view {
	case viewLines:
		b = c.Lines(b)
	case viewText:
		b = c.Texts(b)
	case viewDisc:
		b = c.DiscRows(x.First)
	case viewPlayers:
		b = c.PlayerRows(x.First)
	}
	return b, int64(cap(b)), nil
}

// pieceSize returns how many bytes a piece of the chunk has.
func (c *ChunkInfo) pieceSize(k pieceKey) (n int64) {
	p := c.Pieces[k.piece]
	switch k.view {
	case viewText:
		return p.Text
	case viewDisc:
		return p.Disc
	case viewPlayers:
		return p.Players
	}
	first := c.piece(k.piece)
	for _, l := range c.Lines[first : first+p.Frames] {
		n += int64(l)
	}
	return n
}

// smallText is up to how many bytes rendering is not charged.
const smallText = 128 << 10

// rendering charges what it takes to render n bytes.
func rendering(ctx context.Context, n int64) (*cache.Held, error) {
	if n <= smallText {
		return nil, nil
	}
	return cache.Charge(ctx, n)
}

// A pieced is a file made of pieces whose lengths are known, and of fixed bytes.
type pieced struct {
	t     *Tree
	parts []part
	size  int64
}

type part struct {
	size  int64
	fixed []byte // or else the piece
	piece pieceKey
}

func (p *pieced) add(k pieceKey, size int64) {
	if size > 0 {
		p.parts = append(p.parts, part{size: size, piece: k})
		p.size += size
	}
}

func (p *pieced) addBytes(b []byte) {
	p.parts = append(p.parts, part{size: int64(len(b)), fixed: b})
	p.size += int64(len(b))
}

func (p *pieced) append(o *pieced) {
	p.parts = append(p.parts, o.parts...)
	p.size += o.size
}

func (p *pieced) file() nodes.File {
	return nodes.Stream(p.size, func(context.Context) (nodes.Content, error) {
		content := nodes.NewPieces(p.load)
		for i := range p.parts {
			content.Add(p.parts[i].size)
		}
		return content, nil
	})
}

// load returns the bytes of part i.
func (p *pieced) load(ctx context.Context, i int) ([]byte, error) {
	if b := p.parts[i].fixed; b != nil {
		return b, nil
	}
	return p.t.pieces.Get(ctx, p.parts[i].piece)
}

// ExportName returns the name of a recording without its extension and without that of an outer
// compression.
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
