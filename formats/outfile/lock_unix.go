//go:build unix

package outfile

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock takes the lock of a file or directory, alone or with others that do not want it alone. The
// system gives it back when the file is closed.
func Lock(f *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	return unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
}

// flush returns the error that a file system keeps until a file is closed, but leaves it open and
// locked.
func flush(f *os.File) error {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// keepOwner gives a file the owner of an old one, or at least its group, as far as the system
// allows.
func keepOwner(f *os.File, old os.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok && f.Chown(int(s.Uid), int(s.Gid)) != nil {
		_ = f.Chown(-1, int(s.Gid))
	}
}
