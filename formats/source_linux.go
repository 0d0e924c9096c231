package formats

import (
	iofs "io/fs"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lstat does not follow a symbolic link as the last part of name. It is one
// system call, while os.Root opens every directory on the way: names from
// package formats have no links in them, and of a link that appears there
// this moment nothing but the attributes of its target could be learnt.
func (l *Local) Lstat(name string) (iofs.FileInfo, error) {
	info := &statInfo{name: path.Base(name)}
	conn, err := l.dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	var errno error
	err = conn.Control(func(fd uintptr) {
		for {
			errno = unix.Fstatat(int(fd), name, &info.st, unix.AT_SYMLINK_NOFOLLOW)
			if errno != unix.EINTR {
				return
			}
		}
	})
	if err == nil {
		err = errno
	}
	if err != nil {
		return nil, &iofs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info, nil
}

// statInfo is the FileInfo of Lstat.
type statInfo struct {
	name string
	st   unix.Stat_t
}

func (i *statInfo) Name() string       { return i.name }
func (i *statInfo) Size() int64        { return i.st.Size }
func (i *statInfo) ModTime() time.Time { return time.Unix(i.st.Mtim.Unix()) }
func (i *statInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i *statInfo) Sys() any           { return &i.st }

// Mode returns the type and permissions.
func (i *statInfo) Mode() iofs.FileMode {
	mode := iofs.FileMode(i.st.Mode & 0o777)
	switch i.st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= iofs.ModeDir
	case unix.S_IFLNK:
		mode |= iofs.ModeSymlink
	default:
		mode |= iofs.ModeIrregular
	}
	return mode
}

// inode tells inodeOf.
func (i *statInfo) inode() inode {
	return inode{uint64(i.st.Dev), i.st.Ino, uint64(i.st.Nlink), i.st.Ctim.Nano()} //nolint:unconvert // their types differ by architecture
}

func changeTime(s *syscall.Stat_t) int64 { return s.Ctim.Nano() }
