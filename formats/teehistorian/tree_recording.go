package teehistorian

import (
	"context"
	"errors"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/views"
	"recfs/nodes"
)

// A tree is an opened recording.
type tree struct {
	*views.Tree[index]
	header  *header
	start   startTime
	readMap func(context.Context, []byte) (*formats.Outline, error)

	// Each Memo uses only those before it.
	names  *cache.Memo[struct{}, *names]
	blocks *cache.Memo[blockKey, *block]
	tables *cache.Memo[tableKey, map[int32][]byte]
	active *cache.Memo[int, []activity]
	runs   *cache.Memo[struct{}, []run]
	shots  *cache.Memo[int32, *shot] // of runs
}

// names are the names of the directories of the stays, and the directory of these.
type names struct {
	dirs    []string
	players func() nodes.Dir
}

// A blockKey names a block of ticks or of states.
type blockKey struct {
	chunk, block int
	states       bool
}

// A tableKey names the rows of one table in one chunk.
type tableKey struct {
	chunk int
	table table
}

// of returns a decoder of the recording.
func (t *tree) of(x *index) *recording {
	return &recording{src: t.Input, idx: x, version1: t.header.version1, render: renderer{t.header.idents}}
}

// get returns the indexed recording.
func (t *tree) get(ctx context.Context) (*recording, error) {
	x, err := t.Index(ctx)
	if err != nil {
		return nil, err
	}
	return t.of(x), nil
}

// named returns the indexed recording with the names of its stays.
func (t *tree) named(ctx context.Context) (*recording, error) {
	r, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	n, err := t.names.Get(ctx, struct{}{})
	if err != nil {
		return nil, err
	}
	r.dirs, r.growing, r.events = n.dirs, t.Grows && r.idx.mayGrow(), logWriter{t.start, r.who}
	return r, nil
}

// named returns a recording that has only the index and the directories of the stays.
func (x *index) named() *recording { return &recording{idx: x, dirs: x.dirs(nodes.SafeName)} }

// stale tells a source that was replaced from one that cannot be read: what could be decoded once
// does not become bad.
func stale(err error) error {
	if errors.Is(err, errBad) || errors.Is(err, errShort) {
		return nodes.ErrStale
	}
	return err
}
