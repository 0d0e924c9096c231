package recordings

import (
	"bytes"
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes"
)

// A sealedIndex is an index with what it was made of.
type sealedIndex struct {
	formats.Index
	about
	head  formats.Head // with which it was made
	saved bool         // it lies on disk as it is
}

// An about is what is kept with an index. The index is of the first bytes alone if there is the
// state of the Tally of a pass that is to go on.
type about struct {
	seal   formats.Seal     // of a directory the stamp only
	parts  []part           // of a directory
	size   int64            // of the Input, or UnknownSize
	beside string           // see formats.Format
	damage *formats.Problem // of the compressed stream
	pass   []byte           // nil: the index is whole
}

func (x *sealedIndex) memory() int64 { return x.Index.Memory() + 256 }

// countedAlone is how large an index is that counts beside what the cache takes a pass for.
const countedAlone = 1 << 20

// count counts an index that was read from disk. The request that has the memory for a large one
// leaves it to those that come after it; else each would read it again.
func (x *sealedIndex) count(ctx context.Context) error {
	if x.memory() < countedAlone {
		return nil
	}
	return formats.Claim(ctx, x.memory())
}

// place is where the index is on disk; nil: it is not kept.
func (s *Store[K]) place(key indexKey[K]) cache.Place {
	src := s.source(key.k)
	return src.Input.Place(src.Format.Name, src.Format.Variant)
}

// openedFor returns the recording that an index is of. It is stale if what lies beside it is
// another by now.
func (s *Store[K]) openedFor(ctx context.Context, key indexKey[K]) (*Opened, error) {
	o, err := s.opened.Get(ctx, key.k)
	if err == nil && o.beside != key.beside {
		err = nodes.ErrStale
	}
	return o, err
}

// scan makes the index of a recording that has none yet.
func (s *Store[K]) scan(ctx context.Context, key indexKey[K]) (*sealedIndex, int64, error) {
	o, err := s.openedFor(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	if o.ReaderAt == nil {
		return o.scanDir(ctx, nil, newTallies(o.Files))
	}
	r, seen := o.steady()
	return s.pass(o, key, formats.NewTally(r), seen).run(ctx, nil)
}

// resume brings the saved index of a recording up to date. In a context of [cache.SavedOnly] there
// is none of a recording of another size: it would take a pass over what was added.
func (s *Store[K]) resume(ctx context.Context, key indexKey[K], saved []byte) (*sealedIndex, int64, error) {
	o, err := s.openedFor(ctx, key)
	if err != nil {
		return nil, 0, err
	}
	f, err := decode(o.source.Format.Name, saved)
	if err != nil {
		return nil, 0, err
	}
	same := o.Sealed(ctx, f.seal)
	switch {
	case f.beside != o.beside, cache.IsSavedOnly(ctx) && (f.pass != nil || f.seal.Stamp.Size != o.Stamp.Size):
		return nil, 0, formats.ErrOther
	case same && f.pass == nil:
		x, err := o.reuse(f)
		if err != nil {
			return nil, 0, err
		}
		return x, x.memory(), x.count(ctx)
	case o.ReaderAt == nil:
		return o.refreshDir(ctx, f)
	}
	return s.refresh(ctx, key, o, f)
}

// reuse returns the index of a file that did not change.
func (o *Opened) reuse(f file) (*sealedIndex, error) {
	x, err := o.source.Format.ReadIndex(o.Input, o.Head, f.index)
	if err != nil {
		return nil, err
	}
	unknown := f.size == formats.UnknownSize || o.Size == formats.UnknownSize
	if f.beside != o.beside || f.size != o.Size && !unknown || f.seal.Length < x.Reach("") {
		return nil, formats.ErrOther
	}
	return &sealedIndex{x, f.about, o.Head, true}, nil
}

// refresh returns the index of a file that changed, if its bytes begin with those of the index, or
// goes on with the pass of one.
func (s *Store[K]) refresh(ctx context.Context, key indexKey[K], o *Opened, f file) (*sealedIndex, int64, error) {
	x, err := o.source.Format.ReadIndex(o.Input, o.Head, f.index)
	if err != nil {
		return nil, 0, err
	}
	in := o.Input
	r, seen := o.steady()
	in.ReaderAt = r
	fit, tally, err := f.fit(ctx, in)
	switch {
	case err != nil:
		return nil, 0, err
	case fit == formats.Other, f.seal.Length < x.Reach(""):
		return nil, 0, formats.ErrOther
	case fit == formats.Grown:
		return s.pass(o, key, tally, seen).run(ctx, x)
	}
	if o.hasHead(f) {
		o.Content.Prove(ctx, f.seal)
	} else {
		f.seal.Stamp = o.Stamp
	}
	return o.sealed(ctx, x, f.seal, nil)
}

// hasHead reports whether the recording has the head that is kept with an index: then both hold for
// it.
func (o *Opened) hasHead(f file) bool { return bytes.Equal(o.Head.Append(nil), f.head) }

// fit reports what the index is worth for in. One of a pass that did not come to its end is never
// all of it.
func (f *file) fit(ctx context.Context, in formats.Input) (formats.Fit, *formats.Tally, error) {
	switch {
	case f.pass == nil:
		return f.seal.Fit(ctx, in)
	case in.Size != formats.UnknownSize && f.seal.Length > in.Size:
		return formats.Other, nil, nil
	case in.Sealed(ctx, f.seal):
		t, err := formats.ResumeTally(in, f.seal, f.pass)
		return formats.Grown, t, err
	}
	fit, t, err := f.seal.Fit(ctx, in)
	if fit == formats.Same {
		fit = formats.Grown
	}
	return fit, t, err
}

// sealed returns an index that fits the recording as it is. The damage of a compressed stream is
// known here, after its end was come to, and is kept with the index, so that no other pass is made
// for it.
func (o *Opened) sealed(ctx context.Context, x formats.Index, seal formats.Seal, parts []part) (*sealedIndex, int64, error) {
	i := &sealedIndex{Index: x, about: about{seal: seal, parts: parts, size: o.Size, beside: o.beside}, head: o.Head}
	if o.source.Damage != nil {
		var err error
		if i.damage, err = o.source.Damage(ctx); err != nil {
			return nil, 0, err
		}
	}
	return i, i.memory(), nil
}

// steady returns the bytes that an index is tied to, and if they are not those of the recording
// what was read of those last.
func (o *Opened) steady() (formats.ReaderAt, *lastRead) {
	f := o.source.Format.Steady
	if f == nil {
		return o.ReaderAt, nil
	}
	seen := &lastRead{r: o.ReaderAt}
	return f(o.Head, seen), seen
}

// A lastRead keeps what was read last.
type lastRead struct {
	r   formats.ReaderAt
	b   []byte
	off int64
}

// ReadAt implements formats.ReaderAt.
func (l *lastRead) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := l.r.ReadAt(ctx, p, off)
	l.b, l.off = append(l.b[:0], p[:n]...), off
	return n, err
}

// An unsteady gives a pass the bytes as they are, while the tally takes in the steady ones: so both
// need one read.
type unsteady struct {
	tally *formats.Tally
	seen  *lastRead
}

// ReadAt implements formats.ReaderAt.
func (u unsteady) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := u.tally.ReadAt(ctx, p, off)
	if off == u.seen.off && n <= len(u.seen.b) {
		return copy(p[:n], u.seen.b), err
	}
	return u.seen.r.ReadAt(ctx, p, off)
}

// A file is what is kept of a recording.
type file struct {
	about
	head, index []byte
}

// encode returns what is kept, nil if that is kept already: the values of the format have its own
// encoding.
//
//	| head | size zigzag | [damage problem] | pass blob | beside text | count | part … | Head blob | Index |
//
// part: | name text | formats.Seal |
func (x *sealedIndex) encode() []byte {
	if x.saved {
		return nil
	}
	// Somewhat more than it takes: to grow it would be there twice, and days of a busy server make
	// megabytes.
	h := x.head.Append(nil)
	w := indexfile.NewWriter(x.seal, int(x.Index.Memory()*2/3)+len(h)+2*indexfile.HeadSize)
	x.code(indexfile.Codec{W: w})
	w.Blob(h)
	return x.Index.Append(w.Bytes())
}

// code writes or reads what is between the heads.
func (a *about) code(c indexfile.Codec) {
	c.Int(&a.size)
	c.Whole(&a.damage)
	c.Blob(&a.pass)
	c.Values(&a.beside)
	indexfile.List(c, &a.parts, 1+formats.SealSize, func(p *part) {
		c.Values(&p.name)
		c.Seal(&p.seal)
	})
}

func decode(format string, saved []byte) (file, error) {
	r, seal := indexfile.Open(format, saved)
	f := file{about: about{seal: seal}}
	f.code(indexfile.Codec{R: r})
	f.head = r.Bytes(r.Count(1))
	f.index = r.Rest()
	if f.size < 0 && f.size != formats.UnknownSize {
		r.Fail("a size of %d", f.size)
	}
	return f, r.Close()
}
