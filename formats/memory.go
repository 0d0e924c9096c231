package formats

import (
	"context"

	"recfs/cache"
)

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
