package hcrp

import (
	"context"
	"fmt"
	"sync"
)

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
