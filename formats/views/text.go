package views

import (
	"context"
	"runtime"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
)

// A Text is a file that is made part by part, as all of it may take more memory than there is.
type Text struct {
	N     int     // how many parts there are
	Sizes []int64 // of the parts, if they are known; nil: all parts are made once to learn them
	Keep  bool    // the sizes that are learned are kept on disk, under the name of the view

	// Make makes part i. at is where it begins, which the Next of the part before has told; nil for
	// the first. Bytes that a Part has are not used by Make again.
	// It finds in Sizes those of the parts before.
	Make func(ctx context.Context, i int, at any) (Part, error)

	Cost  int64 // bytes that the text keeps alive
	Claim int64 // bytes that are counted while the sizes are learned, beside the parts
}

// A Part is a part of a text.
type Part struct {
	Bytes []byte
	Next  any  // where the next part begins, for Make
	Last  bool // what would follow is held back
}

// A textKey names a text among those of a recording: by the view, and by a number in it.
type textKey struct {
	view string
	n    int
}

type partKey struct {
	textKey
	part int
}

// A keptSizes is what is kept on disk of the sizes of a text.
type keptSizes struct {
	seal  formats.Seal // of the index that it was made by
	sizes []int64
}

// encode returns the sizes as they are saved.
func (k keptSizes) encode() []byte {
	w := indexfile.NewWriter(k.seal, indexfile.HeadSize+4*len(k.sizes))
	k.code(indexfile.Codec{W: w})
	return w.Bytes()
}

func (k *keptSizes) code(c indexfile.Codec) {
	indexfile.List(c, &k.sizes, 1, func(n *int64) { c.Values(n) })
}

// resumeSizes takes saved sizes if they are of this version of the recording.
func (t *Tree[T]) resumeSizes(ctx context.Context, _ textKey, saved []byte) (k keptSizes, cost int64, err error) {
	r, was := indexfile.Open(t.Format, saved)
	k.code(indexfile.Codec{R: r})
	if err = r.Close(); err == nil {
		k.seal, err = t.Seal(ctx)
	}
	if err == nil && (was.Length != k.seal.Length || was.Sum != k.seal.Sum) {
		err = formats.ErrOther
	}
	return k, int64(8 * len(k.sizes)), err
}

// A layout is where the parts of a text begin.
type layout struct {
	text  *Text
	sizes []int64
	at    []any // for Make
}

// partsKept is how many parts of a text stay in memory behind the one that is read: it is mostly
// read from end to end, and then the kernel has its pages.
const partsKept = 8

// Text returns the file of a text. Number n tells texts of one view apart. open is called with the
// index, which it must not keep alive in what it returns unless Cost counts it.
func (t *Tree[T]) Text(view string, n int, open func(ctx context.Context, x *T) (*Text, error)) nodes.File {
	return t.text(view, n, func(ctx context.Context) (*Text, *T, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, nil, err
		}
		text, err := open(ctx, x)
		return text, x, err
	})
}

// HeadText is Text for one that takes no index.
func (t *Tree[T]) HeadText(view string, n int, open func(ctx context.Context) (*Text, error)) nodes.File {
	return t.text(view, n, func(ctx context.Context) (*Text, *T, error) {
		text, err := open(ctx)
		return text, nil, err
	})
}

func (t *Tree[T]) text(view string, n int, open func(context.Context) (*Text, *T, error)) nodes.File {
	key := textKey{view, n}
	load := func(ctx context.Context, _ textKey) (*layout, int64, error) {
		text, x, err := open(ctx)
		if err != nil {
			return nil, 0, err
		}
		l, cost, err := t.layout(ctx, key, text)
		runtime.KeepAlive(x) // so that it is not read again for each part
		return l, cost, err
	}
	return nodes.Opened(func(ctx context.Context) (nodes.Content, error) {
		l, err := t.layouts.GetFrom(ctx, key, load)
		if err != nil {
			return nil, err
		}
		p := nodes.NewPieces(func(ctx context.Context, i int) ([]byte, error) {
			t.parts.Drop(partKey{key, i - partsKept})
			return t.parts.GetFrom(ctx, partKey{key, i}, l.load)
		})
		for _, size := range l.sizes {
			p.Add(size)
		}
		return p, nil
	})
}

// load makes a part.
func (l *layout) load(ctx context.Context, k partKey) ([]byte, int64, error) {
	var at any
	if l.at != nil {
		at = l.at[k.part]
	}
	p, err := l.text.Make(ctx, k.part, at)
	return p.Bytes, int64(cap(p.Bytes)), err
}

// layout learns the sizes of the parts of a text. Whoever reads it from its start finds the first
// parts made: all of them if it is not a very long one.
func (t *Tree[T]) layout(ctx context.Context, key textKey, text *Text) (*layout, int64, error) {
	l := &layout{text: text, sizes: text.Sizes}
	if l.sizes == nil {
		learned, err := t.learned(ctx, key, l)
		if err != nil {
			return nil, 0, err
		}
		l.sizes, text.Sizes = learned, learned
	}
	return l, 64 + text.Cost + int64(8*cap(l.sizes)+16*cap(l.at)), nil
}

// learned returns the sizes of the parts of a text that does not know them.
func (t *Tree[T]) learned(ctx context.Context, key textKey, l *layout) ([]int64, error) {
	if !l.text.Keep {
		err := t.learn(ctx, key, l)
		return l.sizes, err
	}
	k, err := t.kept.GetFrom(ctx, key, func(ctx context.Context, key textKey) (keptSizes, int64, error) {
		seal, err := t.Seal(ctx)
		if err == nil {
			err = t.learn(ctx, key, l)
		}
		return keptSizes{seal, l.sizes}, int64(8 * len(l.sizes)), err
	})
	if err == nil && len(k.sizes) != l.text.N {
		err = formats.Corrupt(t.Format, 0, "%d sizes are kept, not %d", len(k.sizes), l.text.N)
	}
	return k.sizes, err
}

// learn makes all parts of a text for their sizes, and keeps the first of them.
func (t *Tree[T]) learn(ctx context.Context, key textKey, l *layout) error {
	held, err := formats.Charge(ctx, l.text.Claim+24*int64(l.text.N))
	if err != nil {
		return err
	}
	defer held.Free()
	l.sizes = make([]int64, 0, l.text.N)
	var at any
	made, ahead := int64(0), t.cache.Budget()/8
	for i := range l.text.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.at = append(l.at, at)
		p, err := l.text.Make(ctx, i, at)
		if err != nil {
			return err
		}
		l.sizes = append(l.sizes, int64(len(p.Bytes)))
		l.text.Sizes = l.sizes
		if made += int64(cap(p.Bytes)); made <= ahead {
			t.parts.Put(partKey{key, i}, p.Bytes, int64(cap(p.Bytes)))
		}
		if p.Last {
			break
		}
		at = p.Next
	}
	return nil
}
