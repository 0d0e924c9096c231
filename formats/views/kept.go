package views

import (
	"cmp"
	"context"
	"sync"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// A Kept remembers what is costly to make of a recording, on disk, too, under the seal of the bytes
// that it was made of. The fields are set before [NewKept].
type Kept[K comparable, V any] struct {
	Name  func(k K) string                              // of the file on disk
	Code  func(c indexfile.Codec, v *V)                 // how a value is saved
	Cost  func(v V) int64                               // how many bytes a value keeps alive
	Check func(ctx context.Context, k K, saved V) error // nil: each saved value of these bytes is right
	Learn func(v, saved V)                              // adds what another process saved; nil: values do not grow

	rec  formats.Recording
	memo *cache.Memo[K, sealed[V]]
}

type sealed[V any] struct {
	seal  formats.Seal
	value V
}

// NewKept returns k for a recording of a format.
func NewKept[K comparable, V any](format string, rec formats.Recording, c *cache.Cache, k Kept[K, V]) *Kept[K, V] {
	k.rec = rec
	encode := func(v sealed[V]) []byte {
		w := indexfile.NewWriter(v.seal, indexfile.HeadSize+int(k.Cost(v.value)))
		k.Code(indexfile.Codec{W: w}, &v.value)
		return w.Bytes()
	}
	resume := func(ctx context.Context, key K, saved []byte) (v sealed[V], cost int64, err error) {
		r, was := indexfile.Open(format, saved)
		k.Code(indexfile.Codec{R: r}, &v.value)
		if err = r.Close(); err == nil && k.Check != nil {
			err = k.Check(ctx, key, v.value)
		}
		if err == nil {
			v.seal, err = k.sameSeal(ctx, was)
		}
		if err != nil {
			return v, 0, err
		}
		return v, k.cost(v.value), nil
	}
	place := func(key K) cache.Place { return rec.Place(format, k.Name(key)) }
	k.memo = cache.NewMemo[K, sealed[V]](c, nil).Durable(place, encode, resume)
	return &k
}

func (k *Kept[K, V]) cost(v V) int64 { return k.Cost(v) + formats.SealSize }

// sameSeal returns the seal for what was kept with an earlier one, or formats.ErrOther if the
// recording has other bytes now.
func (k *Kept[K, V]) sameSeal(ctx context.Context, earlier formats.Seal) (formats.Seal, error) {
	if k.rec.Sealed(ctx, earlier) {
		return earlier, nil
	}
	if cache.IsSavedOnly(ctx) { // reading the file takes too long
		return formats.Seal{}, formats.ErrOther
	}
	seal, err := k.rec.Seal(ctx)
	if err == nil && (seal.Length != earlier.Length || seal.Sum != earlier.Sum) {
		err = formats.ErrOther
	}
	return seal, err
}

// Get returns the value for a key, which make makes if none is kept. What is not kept on disk needs
// no seal, which may take a pass over the file.
func (k *Kept[K, V]) Get(ctx context.Context, key K, make func(context.Context) (V, error)) (V, error) {
	v, err := k.memo.GetFrom(ctx, key, func(ctx context.Context, _ K) (v sealed[V], cost int64, err error) {
		if k.rec.Content != nil {
			v.seal, err = k.rec.Seal(ctx)
		}
		if err == nil {
			v.value, err = make(ctx)
		}
		if err != nil {
			return v, 0, err
		}
		return v, k.cost(v.value), nil
	})
	return v.value, err
}

// Knows reports whether a value is in memory or on disk.
func (k *Kept[K, V]) Knows(ctx context.Context, key K) bool {
	_, ok := k.memo.Peek(key)
	if ok || k.rec.Content == nil {
		return ok
	}
	_, err := k.memo.GetFrom(cache.SavedOnly(ctx), key, nil)
	return err == nil
}

// save keeps a value that has learned more on disk again.
func (k *Kept[K, V]) save(ctx context.Context, key K, v V) {
	if k.rec.Content == nil {
		return
	}
	if saved, ok := k.memo.Saved(ctx, key); ok {
		k.Learn(v, saved.value)
	}
	if seal, err := k.rec.Seal(ctx); err == nil {
		k.memo.Save(ctx, key, sealed[V]{seal, v})
	}
}

// lengths are the sizes of the parts of a text, or of the texts of a view.
type lengths struct {
	mu    sync.Mutex
	list  []int64 // 0: not known
	known int
	saves int // that are asked for: the one that is made, and those which it may come too early for
}

// codeLengths is the layout of sizes on disk.
func codeLengths(c indexfile.Codec, l **lengths) {
	if c.R != nil {
		*l = &lengths{}
	}
	(*l).mu.Lock()
	defer (*l).mu.Unlock()
	indexfile.List(c, &(*l).list, 1, func(n *int64) { c.Values(n) })
	(*l).count()
}

// count counts the sizes that are known.
func (l *lengths) count() {
	l.known = 0
	for _, n := range l.list {
		if n > 0 {
			l.known++
		}
	}
}

// learn takes over the sizes that are known to other, which nobody else has.
func (l *lengths) learn(other *lengths) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) != len(other.list) {
		return
	}
	for i, n := range l.list {
		l.list[i] = cmp.Or(n, other.list[i])
	}
	l.count()
}

// fit forgets a list that is not one of n sizes: another program may have written it.
func (l *lengths) fit(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) != n {
		l.list, l.known = make([]int64, n), 0
	}
}

// get returns a size, 0 if it is not known, or of another version.
func (l *lengths) get(i int) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i >= len(l.list) {
		return 0
	}
	return l.list[i]
}

// set notes a size, and reports whether it is time to save all, which nobody does yet: that is done
// in 256 steps, so that the bytes that are written do not grow with the square of the texts.
func (l *lengths) set(i int, size int64) (save bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i >= len(l.list) || l.list[i] != 0 {
		return false
	}
	l.list[i] = size
	l.known++
	if l.known < len(l.list) && l.known%(len(l.list)/256+1) != 0 {
		return false
	}
	l.saves++
	return l.saves == 1
}

// again reports whether all have to be saved once more, as it was time for that during a save.
func (l *lengths) again() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saves = min(l.saves-1, 1)
	return l.saves > 0
}
