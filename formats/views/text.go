package views

import (
	"bytes"
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/nodes"
)

// A Text is a file that is made part by part, as all of it may take more memory than there is.
type Text struct {
	N     int     // how many parts there are
	Sizes []int64 // of the parts, if they are known; nil: all parts are made once to learn them
	Keep  bool    // the sizes that are learned are kept on disk, under the name of the view

	// Make makes part i. at is the place at which it begins, the Next of the part before; nil for
	// the first. Make does not reuse the Bytes of a Part. In Sizes it finds those of the parts
	// before.
	Make func(ctx context.Context, i int, at any) (Part, error)

	// Apart says that parts can be made apart: at may be nil for any, and then Make takes longer.
	// Their sizes are learned on all processors.
	Apart bool
	// Share returns a name for a part that several texts of a view have; nil: they share none.
	Share func(i int) any

	Cost  int64 // bytes that the text keeps alive
	Claim int64 // bytes that are counted while the sizes are learned, beside the parts

	index any // while the sizes are learned, so that it is not read again for each part
}

// A Part is a part of a text.
type Part struct {
	Bytes []byte
	Next  any  // where the next part begins, for Make
	Last  bool // the rest is held back
}

// A textKey names a text of a recording: by its view, and by a value that tells the texts of a view
// apart.
type textKey struct {
	view string
	of   any
}

// A partKey names a part by its text, or by what Share returns.
type partKey struct {
	textKey
	part int
}

// A layout is what is known of the parts of a text.
type layout struct {
	text  *Text
	sizes []int64
	at    []any // for Make
	rest  int   // bytes of the document of a List that the places in at keep alive
}

// partsKept is how many parts of a text stay in memory behind the one that is read. Texts are
// mostly read from end to end, and then the kernel has their pages.
const partsKept = 8

// Text returns the file of a text. of tells it apart from others of the view. open is called with
// the index, and must not keep it alive in its text unless Cost counts it.
func (t *Tree[T]) Text(view string, of any, open func(ctx context.Context, x *T) (*Text, error)) nodes.File {
	return t.HeadText(view, of, func(ctx context.Context) (*Text, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		text, err := open(ctx, x)
		if err == nil {
			text.index = x
		}
		return text, err
	})
}

// HeadText is Text for a text that takes no index.
func (t *Tree[T]) HeadText(view string, of any, open func(ctx context.Context) (*Text, error)) nodes.File {
	return nodes.Opened(func(ctx context.Context) (nodes.Content, error) { return t.openText(ctx, textKey{view, of}, open) })
}

// openText learns the sizes of the parts of a text unless they are in memory.
func (t *Tree[T]) openText(ctx context.Context, key textKey, open func(context.Context) (*Text, error)) (*nodes.Pieces, error) {
	l, err := t.layouts.GetFrom(ctx, key, func(ctx context.Context, _ textKey) (*layout, int64, error) {
		text, err := open(ctx)
		if err != nil {
			return nil, 0, err
		}
		l, cost, err := t.layout(ctx, key, text)
		text.index = nil
		return l, cost, err
	})
	if err != nil {
		return nil, err
	}
	p := t.pieces(key, l)
	for _, size := range l.sizes {
		p.Add(size)
	}
	return p, nil
}

// pieces returns a content that makes the parts of a text, none of which has been added.
func (t *Tree[T]) pieces(key textKey, l *layout) *nodes.Pieces {
	return nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
		if l.text.Share == nil {
			t.parts.Drop(partKey{key, i - partsKept})
		}
		return t.part(ctx, key, l, i)
	})
}

// part returns a part of a text.
func (t *Tree[T]) part(ctx context.Context, key textKey, l *layout, i int) ([]byte, error) {
	return t.parts.GetFrom(ctx, l.key(key, i), func(ctx context.Context, _ partKey) ([]byte, int64, error) {
		var at any
		if l.at != nil {
			at = l.at[i]
		}
		p, err := l.text.Make(ctx, i, at)
		return p.Bytes, int64(cap(p.Bytes)), err
	})
}

func (l *layout) key(key textKey, i int) partKey {
	if l.text.Share == nil {
		return partKey{key, i}
	}
	return partKey{textKey{key.view, l.text.Share(i)}, 0}
}

// layout learns the sizes of the parts of a text. The first parts stay in memory for a reader: all
// of them, unless the text is very long.
func (t *Tree[T]) layout(ctx context.Context, key textKey, text *Text) (*layout, int64, error) {
	l := &layout{text: text, sizes: text.Sizes}
	if l.sizes == nil {
		if err := t.learned(ctx, key, l); err != nil {
			return nil, 0, err
		}
		text.Sizes = l.sizes
	}
	return l, textCost + text.Cost + int64(8*cap(l.sizes)+placeCost*cap(l.at)+l.rest), nil
}

// About what a text takes besides its own Cost, with its functions and its layout, a list with its
// functions, and the place at which a part begins.
const (
	textCost  = 768
	listCost  = 256
	placeCost = 48
)

// learned sets the sizes of the parts of a text that does not know them.
func (t *Tree[T]) learned(ctx context.Context, key textKey, l *layout) error {
	if !l.text.Keep {
		return t.learn(ctx, key, l)
	}
	kept, err := t.lengths.Get(ctx, key.view, func(ctx context.Context) (*lengths, error) {
		err := t.learn(ctx, key, l)
		return &lengths{list: l.sizes}, err
	})
	if err != nil {
		return err
	}
	if l.sizes = kept.list; len(l.sizes) != l.text.N {
		return formats.Corrupt(t.Format, 0, "%d sizes are kept, not %d", len(l.sizes), l.text.N)
	}
	return nil
}

// leastApart is the least number of parts in a stretch that is made apart: finding its beginning
// takes about as long as so many parts.
const leastApart = 4

// learn makes all parts of a text for their sizes, and keeps the first of them.
func (t *Tree[T]) learn(ctx context.Context, key textKey, l *layout) error {
	n := l.text.N
	held, err := formats.Charge(ctx, l.text.Claim+24*int64(n))
	if err != nil {
		return err
	}
	defer held.Free()
	l.sizes = make([]int64, n)
	if !l.text.Apart {
		l.at = make([]any, n)
		return t.stretch(ctx, key, l, 0, n, t.cache.Budget()/8)
	}
	stretches := max(min(runtime.GOMAXPROCS(0), n/leastApart), 1)
	g, ctx := errgroup.WithContext(ctx)
	for i := range stretches {
		g.Go(func() error {
			return t.stretch(ctx, key, l, n*i/stretches, n*(i+1)/stretches, t.cache.Budget()/8/int64(stretches))
		})
	}
	return g.Wait()
}

// stretch makes successive parts of a text, and keeps up to ahead bytes of them.
func (t *Tree[T]) stretch(ctx context.Context, key textKey, l *layout, first, end int, ahead int64) error {
	var at any
	for i := first; i < end; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.at != nil {
			l.at[i], l.text.Sizes = at, l.sizes[:i]
		}
		p, err := l.text.Make(ctx, i, at)
		if err != nil {
			return err
		}
		l.sizes[i] = int64(len(p.Bytes))
		if ahead -= int64(cap(p.Bytes)); ahead >= 0 {
			t.parts.Put(l.key(key, i), p.Bytes, int64(cap(p.Bytes)))
		}
		if p.Last {
			l.sizes, l.at = l.sizes[:i+1], l.at[:i+1]
			break
		}
		at = p.Next
		if place, ok := at.(listPlace); ok {
			l.rest = max(l.rest, len(place.rest))
		}
	}
	return nil
}

// A List is a JSON document with a long list that is made part by part.
type List struct {
	// Document returns the value of the document, in which the list is empty. Key is the key of the
	// list.
	Document func(context.Context) (any, error)
	Key      string
	Flat     bool // the list is on one line, as a list of plain values is

	// Append appends the elements of one of N parts. Before each, the first among them, it appends
	// [NextElement], or [NextValue] if the list is flat.
	N      int
	Append func(ctx context.Context, b []byte, part int) ([]byte, error)

	// More are further long lists of the document, in its order. Only their Key, Flat, N and Append
	// count.
	More []List

	Cost, Claim int64 // as those of a Text
}

// What stands before an element of a list.
const (
	NextElement = ",\n    "
	NextValue   = ", "
)

// AppendElement appends an element of a list that is not flat.
func AppendElement(b []byte, element any) ([]byte, error) {
	return jsonenc.AppendMarshal(append(b, NextElement...), element)
}

// Elements returns a long list of n elements, inPart of which are in a part. add appends those from
// first to before end.
func Elements(key string, n, inPart int, add func(ctx context.Context, b []byte, first, end int) ([]byte, error)) List {
	return List{Key: key, N: (n + inPart - 1) / inPart, Append: func(ctx context.Context, b []byte, part int) ([]byte, error) {
		return add(ctx, b, part*inPart, min(n, (part+1)*inPart))
	}}
}

// Text returns the document as a text: what is before the list, its parts, and what is after it.
func (l *List) Text() *Text {
	lists, n := append([]List{*l}, l.More...), 1
	for i := range lists {
		n += lists[i].N + 1
	}
	return &Text{N: n, Cost: l.Cost + listCost*int64(len(lists)), Claim: l.Claim, Make: func(ctx context.Context, i int, at any) (Part, error) {
		if i == 0 {
			return l.head(ctx)
		}
		k := 0
		for i--; i > lists[k].N; k++ {
			i -= lists[k].N + 1
		}
		if i < lists[k].N {
			return lists[k].part(ctx, i, at.(listPlace))
		}
		return lists[k].tail(at.(listPlace), lists[k+1:]), ctx.Err()
	}}
}

// A listPlace is the place at which a part of a list begins.
type listPlace struct {
	rest    []byte // of the document
	element bool   // there are elements before
}

// head makes the document and cuts it in the first list.
func (l *List) head(ctx context.Context) (Part, error) {
	value, err := l.Document(ctx)
	if err != nil {
		return Part{}, err
	}
	doc, err := jsonenc.MarshalIndented(value)
	if err != nil {
		return Part{}, err
	}
	return l.cut(nil, doc), nil
}

// cut returns the part of a document up to the place of the elements of the list. before is what
// precedes that part. No string in a document looks like a key.
func (l *List) cut(before, doc []byte) Part {
	key := fmt.Appendf(nil, " %q: [", l.Key)
	at := bytes.Index(doc, key) + len(key)
	return Part{Bytes: append(before, doc[:at:at]...), Next: listPlace{rest: doc[at:]}}
}

// part makes some elements.
func (l *List) part(ctx context.Context, i int, place listPlace) (Part, error) {
	b, err := l.Append(ctx, nil, i)
	if err != nil {
		return Part{}, err
	}
	if !place.element && len(b) > 0 {
		place.element = true
		if b = b[len(","):]; l.Flat {
			b = b[len(NextValue)-len(","):]
		}
	}
	return Part{Bytes: b, Next: place}, nil
}

// tail returns what is after the elements, up to those of the next list.
func (l *List) tail(at listPlace, next []List) Part {
	var end []byte
	if !l.Flat && at.element {
		end = []byte("\n  ")
	}
	if len(next) > 0 {
		return next[0].cut(end, at.rest)
	}
	return Part{Bytes: append(end, at.rest...)}
}
