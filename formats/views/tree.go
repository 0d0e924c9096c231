package views

import (
	"context"
	"sync"
	"sync/atomic"
	"weak"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/parquet"
	"recfs/nodes"
)

// A Tree is what the views of one recording share. T is the index of the format: *T is the
// [formats.Index] of the recording.
type Tree[T any] struct {
	formats.Recording
	Format string // its name

	// Check, if set, refuses an index that is not of these bytes.
	Check func(x *T) error

	cache *cache.Cache
	last  atomic.Pointer[weak.Pointer[T]] // what Index returned

	listings *cache.Memo[string, nodes.Dir] // what an index gives at once
	sizes    *cache.Memo[stretchKey, []uint32]
	layouts  *cache.Memo[textKey, *layout]
	parts    *cache.Memo[partKey, []byte]
	lengths  *Kept[string, *lengths] // by view
}

// New returns the tree of a recording, which reads nothing.
func New[T any](format string, rec formats.Recording, c *cache.Cache) *Tree[T] {
	t := &Tree[T]{
		Recording: rec, Format: format, cache: c,
		listings: cache.NewMemo[string, nodes.Dir](c, nil),
		sizes:    cache.NewMemo[stretchKey, []uint32](c, nil),
		parts:    cache.NewMemo[partKey, []byte](c, nil),
		layouts:  cache.NewMemo[textKey, *layout](c, nil),
	}
	t.lengths = NewKept(format, rec, c, Kept[string, *lengths]{
		Name: func(view string) string { return view }, Code: codeLengths,
		Cost: func(l *lengths) int64 { return int64(8*len(l.list)) + 64 }, Learn: (*lengths).learn,
	})
	return t
}

// Index returns the index, which the first caller makes. The cache may give it up while somebody
// still goes through the recording: it is not read again as long as it is in use.
func (t *Tree[T]) Index(ctx context.Context) (*T, error) {
	if x := t.peek(); x != nil {
		if t.Touch != nil {
			t.Touch()
		}
		return x, nil
	}
	found, err := t.Recording.Index(ctx)
	if err != nil {
		return nil, err
	}
	x := any(found).(*T)
	if t.Check != nil {
		if err := t.Check(x); err != nil {
			return nil, err
		}
	}
	t.last.Store(new(weak.Make(x)))
	return x, nil
}

// peek returns the index if it is in use, else nil.
func (t *Tree[T]) peek() *T {
	if last := t.last.Load(); last != nil {
		return last.Value()
	}
	return nil
}

// A Document is the value of an index.json, which can say that the stream around the recording is
// damaged.
type Document interface{ Damaged(*formats.Problem) }

// A Game is what a recording declares. Fields that are nil are not in its tree.
type Game[T any] struct {
	Header   func(context.Context) (any, error)                // the value of header.json; nil: it is among Files
	Document func(ctx context.Context, x *T) (Document, error) // the value of index.json
	Index    nodes.File                                        // index.json, in place of Document
	Raw      nodes.Dir                                         // raw/ of a recording that is a folder
	Metadata nodes.File                                        // metadata
	Chunks   *Chunks[T]                                        // chunks/
	Lines    *Chunks[T]                                        // lines/
	Ticks    *Documents[T]                                     // ticks/
	States   *Documents[T]                                     // states/
	Tables   func() []Table[T]                                 // tables/
	Files    []nodes.Entry                                     // what the format alone has
	Play     *Play[T]                                          // how it plays
}

// Dir returns the directory of the recording, and its tables.
func (t *Tree[T]) Dir(g Game[T]) (dir nodes.Dir, tables func() []columnar.Maker) {
	var entries []nodes.Entry
	if g.Header != nil {
		entries = append(entries, nodes.Entry{Name: "header.json", File: JSON(g.Header)})
	}
	if g.Index == nil {
		g.Index = t.document(g.Document)
	}
	entries = append(entries, nodes.Entry{Name: "index.json", File: g.Index})
	if g.Raw != nil {
		entries = append(entries, nodes.Entry{Name: "raw", Dir: g.Raw})
	} else {
		entries = append(entries, t.RawEntry())
	}
	if g.Metadata != nil {
		entries = append(entries, nodes.Entry{Name: "metadata", File: g.Metadata})
	}
	if g.Chunks != nil {
		entries = append(entries, nodes.Entry{Name: "chunks", Dir: t.chunks(g.Chunks, "")})
	}
	if g.Lines != nil {
		entries = append(entries, nodes.Entry{Name: "lines", Dir: t.chunks(g.Lines, ".jsonl")})
	}
	if g.Ticks != nil {
		entries = append(entries, nodes.Entry{Name: "ticks", Dir: t.Documents("ticks", g.Ticks)})
	}
	if g.States != nil {
		entries = append(entries, nodes.Entry{Name: "states", Dir: t.Documents("states", g.States)})
	}
	if g.Tables != nil {
		tables = sync.OnceValue(func() []columnar.Maker { return t.makers(g.Tables()) })
		entries = append(entries, nodes.Entry{Name: "tables", Dir: parquet.Dir(t.cache, t.Input, t.Format, tables)})
	}
	dir = nodes.List(t.Timed(append(entries, g.Files...))...)
	if g.Play != nil {
		p := &playing[T]{Play: g.Play, index: t.Index}
		p.abouts = cache.NewMemo(t.cache, p.about)
		p.blocks = cache.NewMemo(t.cache, p.block)
		dir = playingDir{dir, p}
	}
	return dir, tables
}

// JSON returns a File that shows a value in the layout of the house, see [jsonenc.AppendIndented].
func JSON(value func(context.Context) (any, error)) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		v, err := value(ctx)
		if err != nil {
			return nil, err
		}
		return jsonenc.MarshalIndented(v)
	})
}

// document is index.json of a value, with what is wrong with the stream around the recording.
func (t *Tree[T]) document(value func(context.Context, *T) (Document, error)) nodes.File {
	return JSON(func(ctx context.Context) (any, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		damage, err := t.Damage(ctx)
		if err != nil {
			return nil, err
		}
		doc, err := value(ctx, x)
		if err != nil {
			return nil, err
		}
		doc.Damaged(damage)
		return doc, nil
	})
}

// Lazy returns a directory that the index gives. list is called for every operation, so it must be
// cheap. A directory that costs more belongs in a Listing.
func (t *Tree[T]) Lazy(list func(x *T) nodes.Dir) nodes.Dir {
	return nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		return list(x), nil
	})
}

// Listing returns a directory that the index gives and that is remembered under its name. list also
// returns how many bytes that keeps alive, without those of the index, which is kept alive, too.
func (t *Tree[T]) Listing(name string, list func(x *T) (nodes.Dir, int64)) nodes.Dir {
	return nodes.Lazy(t.lister(name, list))
}

// lister is the function of a Listing.
func (t *Tree[T]) lister(name string, list func(x *T) (nodes.Dir, int64)) func(context.Context) (nodes.Dir, error) {
	load := func(ctx context.Context, _ string) (nodes.Dir, int64, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, 0, err
		}
		dir, n := list(x)
		return dir, n + any(x).(formats.Index).Memory(), nil
	}
	return func(ctx context.Context) (nodes.Dir, error) { return t.listings.GetFrom(ctx, name, load) }
}

// File returns a file that only the index knows.
func (t *Tree[T]) File(open func(x *T) (nodes.File, error)) nodes.File {
	return nodes.LazyFile(func(ctx context.Context) (nodes.File, error) {
		x, err := t.Index(ctx)
		if err != nil {
			return nil, err
		}
		return open(x)
	})
}

// Chunks are a directory of one file a chunk. Its names have six digits.
type Chunks[T any] struct {
	N       func(x *T) int // how many there are
	Known   int            // how many there are if the head tells, and N is nil
	Grows   bool           // the last file gets longer with the recording
	AllGrow bool           // files before the last do so, too: the head tells of more than there are
	File    func(x *T, n int) (nodes.File, error)
}

func (t *Tree[T]) chunks(c *Chunks[T], suffix string) nodes.Dir {
	series := func(n int) nodes.Dir {
		return &nodes.Series{
			Suffix: suffix, Width: 6, N: n,
			Grows: func(i int64) bool { return c.Grows && (c.AllGrow || int(i) == n-1) },
			File: func(n int64) nodes.File {
				return t.File(func(x *T) (nodes.File, error) { return c.File(x, int(n)) })
			},
		}
	}
	if c.N == nil {
		return series(c.Known)
	}
	return t.Lazy(func(x *T) nodes.Dir { return series(c.N(x)) })
}
