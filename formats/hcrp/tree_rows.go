package hcrp

import (
	"context"
	"fmt"
	"sync"

	"recfs/nodes"
)

// A rowMaker is a observer that makes rows.
type rowMaker interface {
	observer
	text() []byte
}

// rows returns the content of a CSV file: a head, then pieces whose rows watch
// makes. Read in order, each tick range is played once.
func (t *playback) rows(head string, pieces []piece, watch func(p *replay, c *chunk, size int64) rowMaker) nodes.Content {
	var p *replay // in front of tick range next
	next := 0
	f := nodes.NewPieces(oneByOne(func(ctx context.Context, i int) ([]byte, error) {
		if i == 0 {
			return []byte(head), nil
		}
		number := pieces[i-1].Range
		if err := checkPiece(pieces[i-1].Size); err != nil {
			return nil, err
		}
		var err error
		if p == nil || next != number {
			p, err = t.before(ctx, number)
		}
		var rows rowMaker
		if err == nil {
			err = t.play(ctx, p, number, t.index.ranges[number].Last, func(c *chunk) observer {
				rows = watch(p, c, pieces[i-1].Size)
				return rows
			})
		}
		if err != nil {
			p = nil
			return nil, err
		}
		next = number + 1
		return rows.text(), nil
	}))
	f.Add(int64(len(head)))
	for _, part := range pieces {
		f.Add(part.Size)
	}
	return f
}

// ghost returns the content of export/ghost.csv.
func (t *playback) ghost() nodes.Content {
	var pieces []piece
	for i := range t.index.ranges {
		if n := t.index.ranges[i].Ghost; n > 0 {
			pieces = append(pieces, piece{i, n})
		}
	}
	return t.rows(ghostHead, pieces, func(p *replay, _ *chunk, size int64) rowMaker {
		return &ghostRows{replay: p, write: true, limit: size}
	})
}

// track returns the content of a file in tracks/.
func (t *playback) track(tr *track) nodes.Content {
	return t.rows(trackHead, tr.Pieces, func(p *replay, c *chunk, _ int64) rowMaker {
		return &trackRows{track: tr, replay: p, chunk: c}
	})
}

// maxPiece bounds how many bytes one piece of a content may have.
const maxPiece = 256 << 20

// checkPiece refuses a piece of n bytes that is too large to be made at once.
func checkPiece(n int64) error {
	if n > maxPiece {
		return fmt.Errorf("a piece of %d bytes, %d are the limit", n, maxPiece)
	}
	return nil
}

// oneByOne returns load as a function that runs once at a time and remembers
// the piece that it made last: readers ask for pieces of a piece, mostly in order.
func oneByOne(load func(ctx context.Context, i int) ([]byte, error)) func(ctx context.Context, i int) ([]byte, error) {
	var mu sync.Mutex
	var text []byte
	last := -1
	return func(ctx context.Context, i int) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if last == i {
			return text, nil
		}
		last = -1
		piece, err := load(ctx, i)
		if err == nil {
			last, text = i, piece
		}
		return piece, err
	}
}
