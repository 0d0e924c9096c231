package formats

import (
	"context"

	"recfs/cache"
)

// A Head is what Open learns of a recording: its header and tables. It does not change.
type Head interface {
	// Append appends the saved form, from which ReadHead makes the same Head.
	Append(b []byte) []byte
	// Memory is about how many bytes the head keeps alive.
	Memory() int64
}

// An Index is what one pass over a recording leaves behind: enough to list its tree, and to read
// each file of it without a second pass. It does not change but for what it remembers of itself.
type Index interface {
	// Append appends the saved form, from which ReadIndex makes the same Index.
	Append(b []byte) []byte
	// Memory is about how many bytes the index keeps alive.
	Memory() int64
	// Reach returns how many first bytes of a file the index is made of: as long as they are the same
	// the index is right, or one to go on from. name is that of a file in a recording that is a
	// directory, else "".
	Reach(name string) int64
}

// A Recording is what a tree is made of. Where Head and Index are on disk, no byte of the Input is
// read before somebody reads a file that is made of it.
type Recording struct {
	Input
	Head Head

	// Index returns the index, which is made when it is first asked for.
	Index func(ctx context.Context) (Index, error)

	// Touch says that an index that Index has returned is in use still, so that it is not given up for
	// others; nil: nobody asks.
	Touch func()

	// Seal returns the seal of the index, for what else of the recording is kept on disk.
	Seal func(ctx context.Context) (Seal, error)

	// Damage returns what is wrong with the compressed stream that the recording was read from, nil if
	// nothing is. The format, which sees only what came out before, lists it in index.json: see
	// Damaged.
	Damage func(ctx context.Context) (*Problem, error)
}

// Held is memory that is charged to the request in which something is read, see [Charge].
type Held = cache.Held

// Charge counts n bytes for what is about to be made beyond a few hundred KiB. An error has to be
// returned, as one of a read: it says that the request has too little memory and nothing of the
// bytes. The request is then begun again with more. See [cache.Charge].
func Charge(ctx context.Context, n int64) (*Held, error) { return cache.Charge(ctx, n) }

// Claim sees to it that the request has n bytes for what is charged later, or kept, before
// something that takes long: else it would begin again halfway. Its error is that of [Charge].
func Claim(ctx context.Context, n int64) error {
	held, err := Charge(ctx, n)
	held.Free()
	return err
}

// IsShort reports whether an error is, or comes from, one of [Charge].
func IsShort(err error) bool { return cache.IsShort(err) }
