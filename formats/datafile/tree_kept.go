package datafile

import (
	"cmp"
	"context"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// A diskMemo remembers what is costly to make of a map, on disk, too, tied to the bytes of the
// file.
type diskMemo[K comparable, V diskValue] struct {
	*cache.Memo[K, sealedValue[V]]
	t *tree
}

// A diskValue is written as it is kept on disk, and keeps so many bytes alive.
type diskValue interface {
	write(w *indexfile.Writer)
	cost() int64
}

type sealedValue[V diskValue] struct {
	seal  formats.Seal
	value V
}

// newDiskMemo returns a memo of what load makes and read reads as it was written; kind names it.
// What is not kept on disk needs no seal, which takes a pass over the file.
func newDiskMemo[K comparable, V diskValue](t *tree, kind func(K) string, load func(context.Context, K) (V, error),
	read func(ctx context.Context, k K, r *indexfile.Reader) (V, error),
) *diskMemo[K, V] {
	make := func(ctx context.Context, k K) (v sealedValue[V], cost int64, err error) {
		if t.Content != nil {
			if v.seal, err = t.Seal(ctx); err != nil {
				return v, 0, err
			}
		}
		v.value, err = load(ctx, k)
		return v, v.value.cost() + formats.SealSize, err
	}
	encode := func(v sealedValue[V]) []byte {
		w := indexfile.NewWriter(v.seal, indexfile.HeadSize+int(v.value.cost()))
		v.value.write(w)
		return w.Bytes()
	}
	resume := func(ctx context.Context, k K, saved []byte) (v sealedValue[V], cost int64, err error) {
		r, seal := indexfile.Open(formatName, saved)
		v.value, err = read(ctx, k, r)
		if err = cmp.Or(r.Close(), err); err == nil {
			v.seal, err = t.sameSeal(ctx, seal)
		}
		return v, v.value.cost() + formats.SealSize, err
	}
	place := func(k K) cache.Place { return t.Place(formatName, kind(k)) }
	return &diskMemo[K, V]{cache.NewMemo(t.cache, make).Durable(place, encode, resume), t}
}

// knows reports whether a value is in memory or on disk.
func (m *diskMemo[K, V]) knows(ctx context.Context, k K) bool {
	if _, ok := m.Peek(k); ok || m.t.Content == nil {
		return ok
	}
	_, err := m.Get(cache.SavedOnly(ctx), k)
	return err == nil
}

// sameSeal returns the seal for what was kept with an earlier one, or formats.ErrOther if the file
// has other bytes now.
func (t *tree) sameSeal(ctx context.Context, earlier formats.Seal) (formats.Seal, error) {
	if t.Sealed(ctx, earlier) {
		return earlier, nil
	}
	if cache.IsSavedOnly(ctx) { // reading the file takes too long
		return formats.Seal{}, formats.ErrOther
	}
	seal, err := t.Seal(ctx)
	if err == nil && (seal.Length != earlier.Length || seal.Sum != earlier.Sum) {
		err = formats.ErrOther
	}
	return seal, err
}
