package views

import (
	"context"
	iofs "io/fs"
	"math"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// Documents are a directory of numbered JSON documents, such as ticks/ and states/. Names have
// eight digits.
//
// The size of a single document is learned by making it. If sizes are asked for one after the
// other, as ls -l does, those of a stretch are learned at once.
type Documents[T any] struct {
	Numbers func(x *T) Numbers
	Clock   func(x *T) nodes.Clock // tells numbers by times; nil: documents have no times
	Listed  bool                   // a time opens a listed document, as AsListed of [nodes.Series]

	// Opens reports whether a number that is not listed opens all the same; nil: no such number
	// does.
	Opens func(ctx context.Context, n int64) (bool, error)
	// Early says that documents open by their numbers before there is an index, as Opens tells.
	Early bool

	// Make makes a document. Made returns a document if it is in memory; nil: none ever is.
	Make func(ctx context.Context, n int64) ([]byte, error)
	Made func(n int64) ([]byte, bool)
	// Long opens a document that is too long to be made at once, and returns nil for others; nil:
	// none is too long.
	Long func(ctx context.Context, n int64) (nodes.Content, error)

	// Stretch returns the listed documents that are made in one go with the i-th; nil: each is alone.
	// Each makes the documents of a stretch in order for fn, which keeps none. It leaves out those
	// that are too long or cannot be made, and may end at the first of these with its damage if none
	// after that is made. Its other errors are those of a read. nil: they are made one by one.
	Stretch func(x *T, i int) (first, end int)
	Each    func(ctx context.Context, x *T, first, end int, fn func(i int, doc []byte) error) error
}

// Numbers are the listed numbers of documents, ascending.
type Numbers struct {
	N      int
	Number func(i int) int64 // nil: i itself
	Search func(n int64) int // the first i whose number is n or more, N if there is none; nil: asks Number
}

// A stretchKey names a stretch by the view and its first document.
type stretchKey struct {
	view  string
	first int
}

// SteadyClock is that of a recording from its first tick to its last, which come at equal distances
// since tick 0. It has no times if it is not known when that began.
func SteadyClock(began *time.Time, distance time.Duration, first, last int64) nodes.Clock {
	return nodes.Clock{
		Start: func(context.Context) (time.Time, error) {
			if began == nil || first > last {
				return time.Time{}, iofs.ErrNotExist
			}
			return began.Add(time.Duration(first) * distance), nil
		},
		Tick: func(_ context.Context, at time.Time) (int64, error) {
			n := int64(at.Sub(*began) / distance)
			if n < first || n > last {
				return 0, iofs.ErrNotExist
			}
			return n, nil
		},
	}
}

// Documents returns the directory of a view, which a format lists itself if it declares no Game.
func (t *Tree[T]) Documents(view string, d *Documents[T]) nodes.Dir {
	list := t.lister(view, func(x *T) (nodes.Dir, int64) {
		s := t.series(d, view, d.Numbers(x))
		if d.Clock != nil {
			s.Clock, s.AsListed = d.Clock(x), d.Listed
		}
		return s, int64(4 * s.N) // for the order of names, where it is not that of the numbers
	})
	if !d.Early {
		return nodes.Lazy(list)
	}
	return &nodes.LazySeries{Unlisted: t.series(d, view, Numbers{}), List: list, Made: func() (nodes.Dir, bool) { return t.listings.Peek(view) }}
}

// series returns the series of a view.
func (t *Tree[T]) series(d *Documents[T], view string, listed Numbers) *nodes.Series {
	return &nodes.Series{
		Suffix: ".json", Width: 8, N: listed.N, Number: listed.Number, Search: listed.Search, Extra: d.Opens,
		File: func(n int64) nodes.File { return t.Document(view, d, n) },
	}
}

// Document returns the file of document n of a view, for a directory that a format lists itself.
func (t *Tree[T]) Document(view string, d *Documents[T], n int64) nodes.File {
	return &document[T]{t, d, view, n}
}

// A document is the file of a document.
type document[T any] struct {
	t    *Tree[T]
	d    *Documents[T]
	view string
	n    int64
}

// Size implements nodes.File.
func (f *document[T]) Size(ctx context.Context) (int64, error) {
	if f.d.Made != nil {
		if b, ok := f.d.Made(f.n); ok {
			return int64(len(b)), nil
		}
	}
	if f.d.Stretch != nil {
		if size := f.t.listedSize(ctx, f.d, f.view, f.n); size > 0 {
			return size, nil
		}
	}
	c, err := f.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer nodes.CloseContent(c)
	return c.Size(), nil
}

// Open implements nodes.File.
func (f *document[T]) Open(ctx context.Context) (nodes.Content, error) { return f.d.open(ctx, f.n) }

// open makes a document, or opens a long one.
func (d *Documents[T]) open(ctx context.Context, n int64) (nodes.Content, error) {
	if d.Long != nil {
		if c, err := d.Long(ctx, n); c != nil || err != nil {
			return c, err
		}
	}
	b, err := d.Make(ctx, n)
	if err != nil {
		return nil, err
	}
	return nodes.BytesContent(b), nil
}

// listedSize returns the size of document n if its stretch tells it, else 0: n may not be listed,
// nobody may be listing the directory, or only making the document tells.
func (t *Tree[T]) listedSize(ctx context.Context, d *Documents[T], view string, n int64) int64 {
	x := t.peek()
	if x == nil {
		if d.Early {
			return 0 // a document must not wait for the index
		}
		var err error
		if x, err = t.Index(ctx); err != nil {
			return 0
		}
	}
	i := t.series(d, view, d.Numbers(x)).Index(n)
	if i < 0 {
		return 0
	}
	first, end := d.Stretch(x, i)
	k := stretchKey{view, first}
	sizes, ok := t.sizes.Peek(k)
	if !ok && nodes.IsListing(ctx) {
		var err error
		sizes, err = t.sizes.GetFrom(ctx, k, func(ctx context.Context, _ stretchKey) ([]uint32, int64, error) {
			return learn(ctx, d, x, first, end)
		})
		ok = err == nil // else a document of the stretch cannot be made, perhaps another one
	}
	if !ok {
		return 0
	}
	return int64(sizes[i-first])
}

// learn makes the documents of a stretch for their sizes. A size of 0 is told only by making the
// document, as is the reason why it cannot be made.
func learn[T any](ctx context.Context, d *Documents[T], x *T, first, end int) ([]uint32, int64, error) {
	held, err := formats.Charge(ctx, int64(4*(end-first)))
	if err != nil {
		return nil, 0, err
	}
	defer held.Free()
	sizes := make([]uint32, end-first)
	err = d.each(ctx, x, first, end, func(i int, doc []byte) error {
		if uint64(len(doc)) <= math.MaxUint32 {
			sizes[i-first] = uint32(len(doc))
		}
		return nil
	})
	if _, damaged := formats.Coded(err); damaged {
		err = nil // that comes with the size of the document
	}
	return sizes, int64(64 + 4*len(sizes)), err
}

// each calls fn for the documents of a stretch.
func (d *Documents[T]) each(ctx context.Context, x *T, first, end int, fn func(i int, doc []byte) error) error {
	if d.Each != nil {
		return d.Each(ctx, x, first, end, fn)
	}
	number := d.Numbers(x).Number
	for i := first; i < end; i++ {
		n := int64(i)
		if number != nil {
			n = number(i)
		}
		doc, err := d.Make(ctx, n)
		if err == nil {
			err = fn(i, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
