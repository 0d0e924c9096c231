//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"io"
	"slices"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// readFrom reads as much of c at off as there is and buf has room for, which is copied there unless
// it is lent.
func readFrom(ctx context.Context, c nodes.Content, buf []byte, off int64) (fuse.ReadResult, error) {
	if l, ok := c.(nodes.Lender); ok {
		if n := min(int64(len(buf)), c.Size()-off); n > 0 {
			loan, err := l.Lend(ctx, int(n), off)
			switch {
			case err != nil:
				return nil, err
			case loan != nil:
				return lent{loan, int(n)}, nil
			}
		}
	}
	n, err := readFull(ctx, c, buf, off)
	if err != nil {
		return nil, err
	}
	return fuse.ReadResultData(buf[:n]), nil
}

// readFull reads as much of c at off as there is. Anything less would make the
// kernel correct the size of the file downwards, so it is an error.
func readFull(ctx context.Context, c nodes.Content, buf []byte, off int64) (int, error) {
	want := min(int64(len(buf)), c.Size()-off)
	if want <= 0 {
		return 0, nil
	}
	n, err := c.ReadAt(ctx, buf[:want], off)
	switch {
	case int64(n) == want:
		return n, nil
	case err == nil, err == io.EOF:
		return 0, nodes.SizeError(want, int64(n))
	}
	return 0, err
}

// A lent is a reply to a READ out of the memory of a Content, which gets it back when the reply was
// written.
type lent struct {
	loan *nodes.Loan
	size int
}

// Size implements fuse.ReadResult.
func (l lent) Size() int { return l.size }

// Slices is what go-fuse asks replies for that are in several parts.
func (l lent) Slices() ([][]byte, fuse.Status) { return l.loan.Parts, fuse.OK }

// Bytes implements fuse.ReadResult.
func (l lent) Bytes([]byte) ([]byte, fuse.Status) { return slices.Concat(l.loan.Parts...), fuse.OK }

// Done implements fuse.ReadResult.
func (l lent) Done() { l.loan.Return() }

// Read implements fuse.RawFileSystem.
func (s *server) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (result fuse.ReadResult, status fuse.Status) {
	status = s.serve(opRead, in.Pid, cancel, func(ctx context.Context) fuse.Status {
		it, err := s.item(ctx, in.NodeId)
		if err == nil {
			result, err = s.read(ctx, it, buf, int64(in.Offset))
		}
		if err != nil {
			return s.fail(opRead, it.path, err)
		}
		s.counters.bytes.Add(uint64(result.Size()))
		return fuse.OK
	})
	return result, status
}

func (s *server) read(ctx context.Context, it item, buf []byte, off int64) (result fuse.ReadResult, err error) {
	if it.File == nil {
		return nil, errIsDir
	}
	err = s.account.Do(ctx, 0, func(ctx context.Context) error {
		if result != nil { // it was read without the memory it takes
			result.Done()
			result = nil
		}
		return s.contents.Read(ctx, it.key, it.File, off, func(c nodes.Content) (n int, err error) {
			if result, err = readFrom(ctx, c, buf, off); err == nil {
				n = result.Size()
			}
			return n, err
		})
	})
	return result, err
}
