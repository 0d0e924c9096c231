package echo

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
func (t *Tree) loadPiece(ctx context.Context, k pieceKey) (*text, int64, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, 0, err
	}
	info := &x.Chunks[k.chunk]
	c, err := t.frames(ctx, x, k.chunk, info.piece(k.piece), info.Pieces[k.piece].Frames)
	if err != nil {
		return nil, 0, err
	}
	b, held, err := t.render(ctx, c, info.pieceSize(k), func(b []byte) []byte {
		switch k.view {
		case viewLines:
			return c.Lines(b)
		case viewText:
			return c.Texts(b)
		case viewDisc:
			return c.DiscRows(x.First)
		}
		return c.PlayerRows(x.First)
	})
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	p := newText(b)
	return p, p.cost(), nil
}

// render returns what appendTo makes of all frames of c, which has size bytes as it is shown, and the memory for it.
func (t *Tree) render(ctx context.Context, c *Chunk, size int64, appendTo func([]byte) []byte) ([]byte, *cache.Held, error) {
	if room := c.room(0, len(c.Frames)); room > 0 {
		size = min(size, int64(room))
	}
	size += frameRoom // for what stands before bones until it is known that there are none
	held, err := rendering(ctx, size)
	if err != nil {
		return nil, nil, err
	}
	return appendTo(make([]byte, 0, size)), held, nil
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
		content := nodes.NewSections(p.part)
		for i := range p.parts {
			content.Add(p.parts[i].size)
		}
		return content, nil
	})
}

// part returns what reads part i from its start.
func (p *pieced) part(i int) (nodes.ReaderAt, int64) {
	if b := p.parts[i].fixed; b != nil {
		return nodes.BytesContent(b), 0
	}
	return &pieceReader{p.t, &p.parts[i]}, 0
}

// A pieceReader reads a piece.
type pieceReader struct {
	t *Tree
	*part
}

// ReadAt implements [nodes.ReaderAt].
func (r *pieceReader) ReadAt(ctx context.Context, b []byte, off int64) (int, error) {
	text, err := r.t.pieces.Get(ctx, r.piece)
	if err != nil {
		return 0, err
	}
	if text.size != r.size {
		return 0, nodes.SizeError(r.size, text.size)
	}
	return text.ReadAt(ctx, b, off)
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
