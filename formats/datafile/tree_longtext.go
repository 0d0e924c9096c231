package datafile

import (
	"bytes"
	"context"
	"encoding/json"

	"recfs/cache"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// longTexts are documents by their numbers, with lists that may be long and are made piece by piece: a few stored
// bytes can make gigabytes of them.
type longTexts struct {
	open    func(ctx context.Context, i int) (longText, error)
	layouts *cache.Memo[int, textLayout]
	pieces  *cache.Memo[textPiece, []byte]
}

// A longText is a document with such lists.
type longText struct {
	document func(context.Context) (any, error) // its lists are empty, and the first values that are
	lists    []longList

	held int64 // about how many bytes it takes to keep open
}

// A longList is a list of so many pieces.
type longList struct {
	flat   bool // all of the list is on one line
	pieces int

	// append appends a piece: its elements, each behind a comma and what comes before it on its line.
	append func(ctx context.Context, b []byte, piece int) ([]byte, error)
}

// A textPiece is a part of a document.
type textPiece struct{ document, part int }

// A textLayout is how a document is laid out.
type textLayout []textPart

// A textPart is fixed, or a piece of a list.
type textPart struct {
	fixed       []byte
	list, piece int
	skip        int // bytes of the piece that are left out, as no element is before
	size        int64
}

// pieceText is about how long a piece is, and intText an int in it.
const (
	pieceText = 128 << 10
	intText   = 12
)

// piecesKept is how many parts of a document stay in memory behind the one that is read: it is mostly read from end to
// end, and then the kernel has its pages.
const piecesKept = 4

func newLongTexts(c *cache.Cache, open func(context.Context, int) (longText, error)) *longTexts {
	t := &longTexts{open: open, pieces: cache.NewMemo[textPiece, []byte](c, nil)}
	t.layouts = cache.NewMemo(c, t.layout)
	return t
}

// longFile is a single document.
func (v *view) longFile(open func(context.Context) (longText, error)) nodes.File {
	return newLongTexts(v.cache, func(ctx context.Context, _ int) (longText, error) { return open(ctx) }).file(0)
}

// file returns document i.
func (t *longTexts) file(i int) nodes.File {
	return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
		layout, err := t.layouts.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		return nodes.Stream(layout.content(nil).Size(), func(ctx context.Context) (nodes.Content, error) {
			if len(layout) == 1 {
				return nodes.BytesContent(layout[0].fixed), nil
			}
			return t.content(ctx, i, layout)
		}), nil
	})
}

// layout lays out document i, for which it makes all of it once.
func (t *longTexts) layout(ctx context.Context, i int) (textLayout, int64, error) {
	text, err := t.open(ctx, i)
	if err != nil {
		return nil, 0, err
	}
	document, err := text.document(ctx)
	if err != nil {
		return nil, 0, err
	}
	rest, err := nodes.MarshalIndented(document)
	layout, cost := textLayout{}, int64(cap(rest))
	for n := range text.lists {
		if err == nil {
			rest, err = layout.addList(ctx, rest, n, &text.lists[n])
		}
	}
	layout.addFixed(rest)
	const part = 72
	return layout, cost + part*int64(len(layout)), err
}

func (l *textLayout) addFixed(b []byte) { *l = append(*l, textPart{fixed: b, size: int64(len(b))}) }

// addList makes a list to learn the sizes of its pieces, and returns the document behind it.
func (l *textLayout) addList(ctx context.Context, document []byte, n int, list *longList) (rest []byte, err error) {
	at := emptyListAt(document)
	l.addFixed(document[:at])
	end, skip, first := "\n  ", len(","), len(*l)
	if list.flat {
		end, skip = "", len(nextInt)
	}
	var b []byte
	for piece := range list.pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if b, err = list.append(ctx, b[:0], piece); err != nil {
			return nil, err
		}
		if len(b) > 0 {
			*l = append(*l, textPart{list: n, piece: piece, skip: skip, size: int64(len(b) - skip)})
			skip = 0
		}
	}
	if len(*l) > first {
		l.addFixed([]byte(end))
	}
	return document[at:], nil
}

// emptyListAt returns where the elements of the first empty list of a document go.
func emptyListAt(document []byte) int {
	for i := 0; ; i++ {
		switch {
		case document[i] == '"':
			i += jsonenc.StringLen(document[i:]) - 1
		case document[i] == '[' && document[i+1] == ']':
			return i + 1
		}
	}
}

// content returns the document, the pieces of whose lists load makes.
func (l textLayout) content(load func(ctx context.Context, i int) ([]byte, error)) *nodes.Pieces {
	p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		if l[i].fixed != nil {
			return l[i].fixed, nil
		}
		return load(ctx, i)
	})
	for i := range l {
		p.Add(l[i].size)
	}
	return p
}

// A textReader is an open document.
type textReader struct {
	*nodes.Pieces
	held int64
}

// Held is about how much memory it takes.
func (r textReader) Held() int64 { return r.held }

func (t *longTexts) content(ctx context.Context, i int, layout textLayout) (nodes.Content, error) {
	text, err := t.open(ctx, i)
	if err != nil {
		return nil, err
	}
	load := func(ctx context.Context, key textPiece) ([]byte, int64, error) {
		part := &layout[key.part]
		b, err := text.lists[part.list].append(ctx, nil, part.piece)
		return b[min(part.skip, len(b)):], int64(cap(b)), err
	}
	return textReader{layout.content(func(ctx context.Context, part int) ([]byte, error) {
		t.pieces.Drop(textPiece{i, part - piecesKept})
		return t.pieces.GetFrom(ctx, textPiece{i, part}, load)
	}), text.held}, nil
}

// What comes before an element of a list, the first one but for its comma or at all.
const (
	nextElement = ",\n    "
	nextInt     = ", "
)

// About how long an element of a list is, and one that has a name of a data item may be.
const (
	elementText = 256
	namedText   = 8 << 10
)

// elementList is a list of n elements of about so many bytes, each on a line.
func elementList(n, size int, element func(ctx context.Context, i int) (any, error)) longList {
	step := pieceText / size
	return longList{pieces: (n + step - 1) / step, append: func(ctx context.Context, b []byte, piece int) ([]byte, error) {
		for i := piece * step; i < min(n, (piece+1)*step); i++ {
			v, err := element(ctx, i)
			if err == nil {
				b, err = appendElement(b, v)
			}
			if err != nil {
				return b, err
			}
		}
		return b, nil
	}}
}

// elementListOf is a list of what is there.
func elementListOf[T any](list []T) longList {
	return elementList(len(list), elementText, func(_ context.Context, i int) (any, error) { return list[i], nil })
}

func appendElement(b []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(append(b, nextElement...))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), err
}

// intsList is a list of the ints in b, on one line, or of lists of n each.
func intsList(b []byte, n int) longList {
	step := 4 * n * max(1, pieceText/intText/n)
	return longList{
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
