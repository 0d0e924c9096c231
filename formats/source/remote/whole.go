package remote

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

const (
	maxWhole  = 64 << 20 // bytes of a file that is taken whole, as the server has no ranges
	maxWholes = 8        // of them that are kept
	wholeIdle = time.Minute
)

// newWholes keeps files that were taken whole, out of memory.
func newWholes() *cache.LRU[object, *os.File] {
	return cache.NewLRU[object](cache.LRUOptions[*os.File]{Max: maxWholes, Idle: wholeIdle, Close: func(f *os.File) {
		f.Close()
		os.Remove(f.Name()) // where that could not be done while it was open
	}})
}

// takeWhole takes all of an object, which is the answer to a question for n bytes from off, and
// returns these. Of those who ask at the same time one takes it.
func (s *Server) takeWhole(ctx context.Context, o object, off, n int64, body io.Reader) ([][]byte, error) {
	taken, err := s.wholes.Acquire(ctx, o, func(context.Context) (*os.File, error) { return copyWhole(s.url(o.key), body, o.size) })
	if err != nil {
		return nil, err
	}
	return readTaken(taken, off, n)
}

// readTaken reads a part of what was taken whole.
func readTaken(taken *cache.Ref[object, *os.File], off, n int64) ([][]byte, error) {
	defer taken.Release()
	var got int64
	return fill(nil, io.NewSectionReader(taken.Value, off, n), &got, n)
}

// copyWhole copies a body of n bytes to a file without a name.
func copyWhole(url string, body io.Reader, n int64) (*os.File, error) {
	f, err := os.CreateTemp("", "recfs-")
	if err == nil {
		os.Remove(f.Name())
		if _, err = io.CopyN(f, body, n); err == nil {
			return f, nil
		}
		f.Close()
	}
	if path, ok := errors.AsType[*iofs.PathError](err); ok { // of this machine
		return nil, &Error{url, "no place for the file: " + path.Err.Error(), nodes.ErrUnavailable}
	}
	return nil, io.ErrUnexpectedEOF
}
