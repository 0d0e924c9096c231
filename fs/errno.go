//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

// sourceErrnos are the errors of a source that a program gets as they are: they do not say that the
// bytes of a file are damaged. ENOTCONN, ENODEV, ENXIO and the like are EIO instead, because a
// program and the next mount would take them for the death of this mount. So is EINTR: nobody has
// interrupted the program.
var sourceErrnos = []syscall.Errno{
	syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, // what stood there was replaced
	syscall.ESTALE,
	syscall.EPERM,
	syscall.ENOMEM,
	syscall.ETIMEDOUT,
}

var (
	errIsDir  = errors.New("is a directory")
	errNotDir = errors.New("not a directory")
)

// errno is the one place where errors become what a program sees.
func errno(err error) fuse.Status {
	var source syscall.Errno
	switch {
	case err == nil:
		return fuse.OK
	case errors.Is(err, context.Canceled):
		return fuse.EINTR
	case errors.Is(err, context.DeadlineExceeded):
		return fuse.Status(syscall.ETIMEDOUT)
	case errors.Is(err, nodes.ErrStale):
		return fuse.Status(syscall.ESTALE)
	case errors.Is(err, nodes.ErrUnavailable):
		return fuse.Status(syscall.ETIMEDOUT)
	case errors.Is(err, nodes.ErrRemote):
		return fuse.Status(syscall.EREMOTEIO)
	case nodes.IsOfServer(err) && errors.Is(err, errors.ErrUnsupported):
		return fuse.Status(syscall.ENOTSUP)
	case errors.Is(err, errNotDir):
		return fuse.ENOTDIR
	case errors.Is(err, errIsDir):
		return fuse.EISDIR
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, errTableFull):
		return fuse.Status(syscall.ENFILE) // EMFILE would blame the program
	case errors.As(err, &source) && slices.Contains(sourceErrnos, source):
		return fuse.Status(source)
	case errors.Is(err, iofs.ErrNotExist):
		return fuse.ENOENT
	case errors.Is(err, iofs.ErrPermission):
		return fuse.EACCES
	}
	return fuse.EIO
}
