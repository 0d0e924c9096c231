package source

import (
	iofs "io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"recfs/formats"
	"recfs/nodes"
)

// stat returns the state of a file, link or directory. It is one system call, while os.Root opens
// every directory on the way: names that the archive asks for have no links in them, and of a link
// that appears there this moment nothing but the attributes of its target could be learnt.
func (d *directory) stat(name string) (Info, error) {
	info, err := statAt(d.dir, name)
	if err != nil {
		return Info{}, &iofs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info, nil
}

// open opens a file by a path without links: where a directory on it was replaced by a link since
// it was looked up, that may lead round a directory that is closed to the user. What a link leads
// to is not there. A kernel without openat2 follows links inside.
func (d *directory) open(name string) (*os.File, error) {
	conn, err := d.dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOCTTY,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	}
	fd, errno := -1, error(unix.EINTR)
	err = conn.Control(func(dir uintptr) {
		for errno == unix.EINTR || errno == unix.EAGAIN {
			fd, errno = unix.Openat2(int(dir), name, &how)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case errno == nil:
		return os.NewFile(uintptr(fd), name), nil
	case errno == unix.ENOSYS, errno == unix.EPERM:
		return d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	case errno == unix.ELOOP:
		errno = unix.ENOENT
	}
	return nil, &iofs.PathError{Op: "open", Path: name, Err: errno}
}

// settle waits for the lock that a writer has: a look for holes takes it on most filesystems, a
// read on XFS. Nobody reads from where the file is positioned.
func (f localFile) settle() {
	_, _ = f.f.Seek(0, unix.SEEK_HOLE)
	_, _ = f.f.ReadAt(make([]byte, 1), 0)
}

// stat returns the state of an opened file.
func stat(f *os.File) (Info, error) {
	info, err := statAt(f, "")
	if err != nil {
		return Info{}, &iofs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return info, nil
}

// statAt returns the state of the file called name in the directory f, links
// not followed, or of f itself if name is empty.
func statAt(f *os.File, name string) (info Info, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return Info{}, err
	}
	errno := error(unix.EINTR)
	err = conn.Control(func(fd uintptr) {
		for errno == unix.EINTR {
			info, errno = statx(int(fd), name)
		}
	})
	if err == nil {
		err = errno
	}
	return info, err
}

const statFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH

// statx returns the state of a file. Where statx is missing or forbidden, that
// is all but the time of birth.
func statx(fd int, name string) (Info, error) {
	var x unix.Statx_t
	err := unix.Statx(fd, name, statFlags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	if err == unix.ENOSYS || err == unix.EPERM {
		return fstatat(fd, name)
	}
	if err != nil {
		return Info{}, err
	}
	v := Version{
		Stamp: formats.Stamp{
			Size: int64(x.Size), Modified: x.Mtime.Sec, Nanos: int64(x.Mtime.Nsec),
			Changed: nanos(x.Ctime), Inode: x.Ino,
		},
		Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Links: uint64(x.Nlink),
	}
	if x.Mask&unix.STATX_BTIME != 0 {
		v.Born = nanos(x.Btime)
	}
	return newInfo(v, uint32(x.Mode), x.Uid, x.Gid), nil
}

// nanos returns nanoseconds since 1970.
func nanos(t unix.StatxTimestamp) int64 { return t.Sec*int64(time.Second) + int64(t.Nsec) }

func fstatat(fd int, name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, statFlags); err != nil {
		return Info{}, err
	}
	v := Version{Dev: uint64(st.Dev), Links: uint64(st.Nlink)} //nolint:unconvert // their types differ by architecture
	v.Size, v.Changed, v.Inode = st.Size, st.Ctim.Nano(), st.Ino
	v.Modified, v.Nanos = st.Mtim.Unix()
	return newInfo(v, st.Mode, st.Uid, st.Gid), nil
}

func newInfo(v Version, mode, uid, gid uint32) Info {
	info := Info{Version: v, Rights: nodes.NewRights(iofs.FileMode(mode&0o777), uid, gid)}
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		info.Type = iofs.ModeDir
	case unix.S_IFLNK:
		info.Type = iofs.ModeSymlink
	default:
		info.Type = iofs.ModeIrregular
	}
	return info
}

// inodeTimes returns when an inode was changed last; when it was made only
// statx tells.
func inodeTimes(s *syscall.Stat_t) (changed, born int64) { return s.Ctim.Nano(), 0 }
