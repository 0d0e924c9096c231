// Package recordings opens recordings. It reads their heads, makes their indexes, ties both to the
// bytes that they were made of, and keeps them on disk: with a head and an index that were kept,
// the tree of a recording stands without a look at its bytes.
package recordings

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
)

// A Source is one version of a recording that was not read yet.
type Source struct {
	Format *formats.Format

	// Input is the recording. What is compressed is opened by the first read; the Size of that is
	// unknown until Open.
	Input formats.Input

	// Open, if set, learns what only the bytes tell of the Input: Size and Measure.
	Open func(ctx context.Context, in *formats.Input) error

	// Damage, if set, returns what is wrong with the compressed stream; nil: nothing is. It may read
	// to the end.
	Damage func(ctx context.Context) (*formats.Problem, error)

	// Failure, if set, returns the first error of reading the source.
	Failure func() error
}

// A Store opens recordings, whose versions have names of type K, and remembers them.
type Store[K comparable] struct {
	source  func(K) Source
	c       *cache.Cache
	log     *slog.Logger
	opened  *cache.Memo[K, *Opened]
	indexes *cache.Memo[indexKey[K], *sealedIndex]
	pace    pace
}

// An indexKey is a recording, and what beside it its index depends on.
type indexKey[K comparable] struct {
	k      K
	beside string
}

// NewStore returns a Store. source returns what K names, without reading it. The log hears of
// panics.
func NewStore[K comparable](c *cache.Cache, log *slog.Logger, source func(K) Source) *Store[K] {
	s := &Store[K]{source: source, c: c, log: log, pace: pace{keepEvery, leastStretch}}
	s.opened = cache.NewMemo(c, s.open)
	s.indexes = cache.NewMemo(c, s.scan).Durable(s.place, (*sealedIndex).encode, s.resume)
	return s
}

// An Opened is a recording with its tree.
type Opened struct {
	formats.Recording
	Dir    nodes.Dir
	tables func() []columnar.Maker // nil: there are none

	source Source
	beside string // see formats.Format
}

// Layout is the number of the layout of all that is kept of recordings.
const Layout = indexfile.Layout

// Beside names what lay beside the recording when it was opened, as far as its index depends on it.
func (o *Opened) Beside() string { return o.beside }

// BesideFiles names the files beside the recording on which its index depends, as Files of
// [formats.Beside].
func (o *Opened) BesideFiles() (names []string, ok bool) {
	if b := o.source.Format.Beside; b != nil {
		return b.Files(o.Input, o.Head)
	}
	return nil, false
}

// HeadSummary returns what the head says for a person.
func (o *Opened) HeadSummary(ctx context.Context) (formats.Summary, error) {
	return o.source.Format.Summary(ctx, o.Recording, nil)
}

// Summary returns what a person wants to know first, for which the index is made if there is none.
// Of an error there is what the head says.
func (o *Opened) Summary(ctx context.Context) (formats.Summary, error) {
	x, err := o.Index(ctx)
	var damage *formats.Problem
	if err == nil {
		damage, err = o.Damage(ctx)
	}
	if err != nil {
		s, _ := o.HeadSummary(ctx)
		return s, err
	}
	s, err := o.source.Format.Summary(ctx, o.Recording, x)
	if damage != nil {
		var problems []formats.Problem
		if s.Problems != nil {
			problems = slices.Collect(s.Problems)
		}
		s.Complete, s.Problems = false, slices.Values(formats.InsertProblem(problems, *damage))
	}
	return s, err
}

// Get opens a recording. The error is a *formats.UnreadError if it could not be read this time, and
// a *cache.NotSavedError if that is what the context asks for.
func (s *Store[K]) Get(ctx context.Context, k K) (*Opened, error) { return s.opened.Get(ctx, k) }

// OpenOne opens a recording for the caller alone.
func OpenOne(ctx context.Context, src Source, c *cache.Cache, log *slog.Logger) (*Opened, error) {
	return NewStore(c, log, func(struct{}) Source { return src }).Get(ctx, struct{}{})
}

// openCost is what an Opened counts for besides its head.
const openCost = 2 << 10

func (s *Store[K]) open(ctx context.Context, k K) (o *Opened, cost int64, err error) {
	src := s.source(k)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "path", src.Input.Name, "format", src.Format.Name, "err", p, "stack", string(debug.Stack()))
			err = &formats.Error{Format: src.Format.Name, Offset: 0, Err: fmt.Errorf("internal error: %v", p)}
		}
	}()
	if o = s.openSaved(ctx, k, src); o == nil {
		o, err = s.openSource(ctx, k, src)
	}
	switch {
	case err == nil:
		return o, o.Head.Memory() + openCost, nil
	case ctx.Err() == nil && src.Failure != nil && src.Failure() != nil:
		return nil, 0, &formats.UnreadError{Err: src.Failure()}
	}
	return nil, 0, err
}

// openSource opens a recording whose head is not on disk.
func (s *Store[K]) openSource(ctx context.Context, k K, src Source) (*Opened, error) {
	if src.Open != nil {
		if err := src.Open(ctx, &src.Input); err != nil {
			return nil, err
		}
	}
	h, err := src.Format.Open(ctx, src.Input)
	if err != nil {
		return nil, err
	}
	return s.tree(k, src, h), nil
}

// openSaved opens a recording whose head is on disk, with its index; nil: it is not.
func (s *Store[K]) openSaved(ctx context.Context, k K, src Source) *Opened {
	b, ok := s.c.Load(ctx, src.Input.Place(src.Format.Name, src.Format.Variant))
	if !ok {
		return nil
	}
	f, err := decode(src.Format.Name, b)
	if err != nil || f.pass != nil || !src.Input.Sealed(ctx, f.seal) {
		return nil
	}
	if src.Open != nil {
		src.Input.Size = f.size
	}
	h, err := src.Format.ReadHead(ctx, src.Input, f.head)
	if err != nil {
		return nil
	}
	return s.tree(k, src, h)
}

// tree returns an opened recording.
func (s *Store[K]) tree(k K, src Source, h formats.Head) *Opened {
	o := &Opened{Recording: formats.Recording{Input: src.Input, Head: h}, source: src}
	o.beside = src.Format.BesideSum(h)
	key := indexKey[K]{k, o.beside}
	get := func(ctx context.Context) (sealedIndex, error) {
		x, err := s.indexes.Get(ctx, key)
		if err != nil {
			return sealedIndex{}, err
		}
		return *x, nil
	}
	o.Index = func(ctx context.Context) (formats.Index, error) { x, err := get(ctx); return x.Index, err }
	o.Seal = func(ctx context.Context) (formats.Seal, error) { x, err := get(ctx); return x.seal, err }
	o.Touch = func() { s.indexes.Peek(key) }
	o.Damage = func(ctx context.Context) (*formats.Problem, error) {
		if src.Damage == nil {
			return nil, nil
		}
		x, err := get(ctx)
		return x.damage, err
	}
	o.Dir, o.tables = src.Format.Tree(o.Recording, s.c)
	return o
}

// Tables returns the tables of the recording.
func (o *Opened) Tables() []columnar.Maker {
	if o.tables == nil {
		return nil
	}
	return o.tables()
}

// Table returns the table of a name, nil if the recording has none.
func (o *Opened) Table(name string) *columnar.Maker {
	list := o.Tables()
	if i := slices.IndexFunc(list, func(t columnar.Maker) bool { return t.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}
