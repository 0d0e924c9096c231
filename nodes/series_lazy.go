package nodes

import (
	"context"
	"errors"
	"io/fs"
)

// A LazySeries is a directory whose entries open by number although its list is not made yet, or
// although the list does not have them. Use it through a pointer.
//
// The index of an entry is its place in the list, or one that only depends on its number; which of
// the two Find returns may change once the list is made, and both stay good.
type LazySeries struct {
	// Unlisted has N 0: its File or Dir and Extra open entries by number.
	Unlisted *Series

	// List returns the list, which may be of other entries than numbered ones. Like the function of
	// [Lazy] it is called for every operation that needs the list.
	List func(context.Context) (Dir, error)

	// Made returns the list if it is made, so that finding an entry need not make it; nil: it is
	// made to find an entry, too.
	Made func() (Dir, bool)
}

// Len implements Dir.
func (s *LazySeries) Len(ctx context.Context) (int, error) {
	list, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	return list.Len(ctx)
}

// At implements Dir.
func (s *LazySeries) At(ctx context.Context, i int) (Entry, error) {
	if i >= unlisted {
		return s.Unlisted.At(ctx, i)
	}
	list, err := s.List(ctx)
	if err != nil {
		return Entry{}, err
	}
	return list.At(ctx, i)
}

// AppendName implements Namer.
func (s *LazySeries) AppendName(ctx context.Context, b []byte, i int) ([]byte, fs.FileMode, error) {
	if i >= unlisted {
		return s.Unlisted.AppendName(ctx, b, i)
	}
	list, err := s.List(ctx)
	if err != nil {
		return b, 0, err
	}
	return AppendName(ctx, list, b, i)
}

// Find implements Dir. A name that the list does not have is looked for among the unlisted numbers.
func (s *LazySeries) Find(ctx context.Context, name string) (int, error) {
	list, err := s.made(ctx)
	if err != nil {
		return 0, err
	}
	if list != nil {
		i, err := list.Find(ctx, name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return i, err
		}
	}
	return s.Unlisted.Find(ctx, name)
}

// made returns the list, or nil if it is not made and need not be.
func (s *LazySeries) made(ctx context.Context) (Dir, error) {
	if s.Made == nil {
		return s.List(ctx)
	}
	if list, ok := s.Made(); ok {
		return list, nil
	}
	return nil, nil
}
