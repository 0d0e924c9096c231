//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// errno is the one place where errors become what a program sees.
func errno(err error) fuse.Status {
	switch {
	case err == nil:
		return fuse.OK
	case errors.Is(err, iofs.ErrNotExist):
		return fuse.ENOENT
	case errors.Is(err, iofs.ErrPermission):
		return fuse.EACCES
	case errors.Is(err, nodes.ErrStale):
		return fuse.Status(syscall.ESTALE)
	case errors.Is(err, errors.ErrUnsupported):
		return fuse.Status(syscall.EOPNOTSUPP)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fuse.EINTR
	case errors.Is(err, syscall.ENAMETOOLONG):
		return fuse.Status(syscall.ENAMETOOLONG)
	case errors.Is(err, errNotDir):
		return fuse.ENOTDIR
	case errors.Is(err, errIsDir):
		return fuse.EISDIR
	}
	return fuse.EIO
}
