package datafile

import (
	"bytes"
	"context"

	"recfs/cache"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// longTexts are documents by their numbers, each with a list that may be long and is made piece by piece: a few stored
// bytes can make 256 MiB of it.
type longTexts struct {
	open    func(ctx context.Context, i int) (longText, error)
	layouts *cache.Memo[int, *textLayout]
	pieces  *cache.Memo[textPiece, []byte]
}

// A longText is a document with such a list.
type longText struct {
	document func(context.Context) (any, error) // its list is empty, and the last value that is
	flat     bool                               // all of the list is on one line

	// append appends one of so many pieces: its elements, each behind a comma and what comes before it on its line.
	pieces int
	append func(ctx context.Context, b []byte, piece int) ([]byte, error)

	held int64 // about how many bytes it takes to keep open
}

// A textPiece is a part of the list of a document.
type textPiece struct{ document, piece int }

// A textLayout is how a document is laid out.
type textLayout struct {
	head, tail []byte
	sizes      []int64 // of the pieces between them
	first      int     // the first of them that has an element
	skip       int     // bytes of it that are left out, as no element is before
}

// pieceText is about how long a piece is, and intText an int in it.
const (
	pieceText = 128 << 10
	intText   = 12
)

// piecesKept is how many pieces of a document stay in memory behind the one that is read: it is mostly read from end to
// end, and then the kernel has its pages.
const piecesKept = 4

func newLongTexts(c *cache.Cache, open func(context.Context, int) (longText, error)) *longTexts {
	t := &longTexts{open: open, pieces: cache.NewMemo[textPiece, []byte](c, nil)}
	t.layouts = cache.NewMemo(c, t.layout)
	return t
}

// file returns document i.
func (t *longTexts) file(i int) nodes.File {
	return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
		layout, err := t.layouts.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		return nodes.Stream(layout.pieces(nil).Size(), func(ctx context.Context) (nodes.Content, error) {
			if layout.sizes == nil {
				return nodes.BytesContent(layout.head), nil
			}
			return t.content(ctx, i, layout)
		}), nil
	})
}

// layout lays out document i, for which it makes all of it once.
func (t *longTexts) layout(ctx context.Context, i int) (*textLayout, int64, error) {
	text, err := t.open(ctx, i)
	if err != nil {
		return nil, 0, err
	}
	layout := &textLayout{}
	document, err := text.document(ctx)
	if err == nil {
		layout.head, err = nodes.MarshalIndented(document)
	}
	if err == nil {
		err = layout.measure(ctx, &text)
	}
	return layout, int64(cap(layout.head) + 8*cap(layout.sizes)), err
}

// measure makes the list to learn the sizes of its pieces, and cuts the document where it goes.
func (l *textLayout) measure(ctx context.Context, text *longText) error {
	l.first = -1
	var b []byte
	for i := range text.pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if b, err = text.append(ctx, b[:0], i); err != nil {
			return err
		}
		if l.sizes = append(l.sizes, int64(len(b))); l.first < 0 && len(b) > 0 {
			l.first = i
		}
	}
	if l.first < 0 {
		l.sizes = nil
		return nil
	}
	at, end := bytes.LastIndex(l.head, []byte("[]"))+1, "\n  "
	l.skip = len(",")
	if text.flat {
		l.skip, end = len(nextInt), ""
	}
	l.head, l.tail = l.head[:at:at], append([]byte(end), l.head[at:]...)
	l.sizes[l.first] -= int64(l.skip)
	return nil
}

// pieces returns the document, the pieces of whose list load makes.
func (l *textLayout) pieces(load func(ctx context.Context, i int) ([]byte, error)) *nodes.Pieces {
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		switch i {
		case 0:
			return l.head, nil
		case len(l.sizes) + 1:
			return l.tail, nil
		}
		return load(ctx, i-1)
	})
	p.Add(int64(len(l.head)))
	for _, n := range l.sizes {
		p.Add(n)
	}
	p.Add(int64(len(l.tail)))
	return p
}

// A textReader is an open document.
type textReader struct {
	*nodes.Pieces
	held int64
}

// Held is about how much memory it takes.
func (r textReader) Held() int64 { return r.held }

func (t *longTexts) content(ctx context.Context, i int, layout *textLayout) (nodes.Content, error) {
	text, err := t.open(ctx, i)
	if err != nil {
		return nil, err
	}
	load := func(ctx context.Context, key textPiece) ([]byte, int64, error) {
		b, err := text.append(ctx, nil, key.piece)
		if key.piece == layout.first && len(b) > 0 {
			b = b[layout.skip:]
		}
		return b, int64(cap(b)), err
	}
	return textReader{layout.pieces(func(ctx context.Context, piece int) ([]byte, error) {
		t.pieces.Drop(textPiece{i, piece - piecesKept})
		return t.pieces.GetFrom(ctx, textPiece{i, piece}, load)
	}), text.held}, nil
}

// What comes before an element of a list, the first one but for its comma or at all.
const (
	nextElement = ",\n    "
	nextInt     = ", "
)

// intsText is the text of the ints in b, on one line, or in lists of n each.
func intsText(b []byte, n int) longText {
	step := 4 * n * max(1, pieceText/intText/n)
	return longText{
		flat:   n == 1,
		pieces: (len(b) + step - 1) / step,
		append: func(_ context.Context, text []byte, piece int) ([]byte, error) {
			from := piece * step
			for i, v := range toInts(b[from:min(from+step, len(b))]) {
				switch {
				case n == 1:
					text = append(text, nextInt...)
				case i%n > 0:
					text = append(text, ',')
				default:
					text = append(text, nextElement+"["...)
				}
				text = jsonenc.AppendInt(text, v)
				if n > 1 && i%n == n-1 {
					text = append(text, ']')
				}
			}
			return text, nil
		},
	}
}
