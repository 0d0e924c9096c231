package source

import (
	iofs "io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"recfs/formats"
	"recfs/nodes"
)

// Lstat does not follow a symbolic link as the last part of name. It is one
// system call, while os.Root opens every directory on the way: names from
// package formats have no links in them, and of a link that appears there
// this moment nothing but the attributes of its target could be learnt.
func (l *Local) Lstat(name string) (iofs.FileInfo, error) {
	info, err := statAt(l.dir, name)
	if err != nil {
		return nil, &iofs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info, nil
}

// open opens a file by a path without links: where a directory on it was
// replaced by a link since it was looked up, that may lead round a directory
// that is closed to who asks. What a link leads to is not there. A kernel
// without openat2 follows links inside.
func (l *Local) open(name string) (*os.File, error) {
	conn, err := l.dir.SyscallConn()
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
		return l.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	case errno == unix.ELOOP:
		errno = unix.ENOENT
	}
	return nil, &iofs.PathError{Op: "open", Path: name, Err: errno}
}

// A localFile is an open file whose Stat tells when the inode was made.
type localFile struct{ *os.File }

func wrapFile(f *os.File) iofs.File { return localFile{f} }

// Stat returns the state of the file.
func (f localFile) Stat() (iofs.FileInfo, error) {
	info, err := statAt(f.File, "")
	if err != nil {
		return nil, &iofs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	info.name = path.Base(f.Name())
	return info, nil
}

// statAt returns the state of the file called name in the directory f, links
// not followed, or of f itself if name is empty.
func statAt(f *os.File, name string) (*statInfo, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	info := &statInfo{name: path.Base(name)}
	var errno error
	err = conn.Control(func(fd uintptr) {
		errno = info.stat(int(fd), name)
		for errno == unix.EINTR {
			errno = info.stat(int(fd), name)
		}
	})
	if err == nil {
		err = errno
	}
	return info, err
}

// statInfo is the FileInfo of a local file.
type statInfo struct {
	name string
	st   unix.Stat_t
	born int64 // nanoseconds since 1970, 0: not known
}

const statFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH

// stat fills in the state of a file. Where statx is missing or forbidden, that
// is all but the time of birth.
func (i *statInfo) stat(fd int, name string) error {
	var x unix.Statx_t
	err := unix.Statx(fd, name, statFlags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x)
	if err == unix.ENOSYS || err == unix.EPERM {
		return unix.Fstatat(fd, name, &i.st, statFlags)
	}
	if err != nil {
		return err
	}
	i.st = unix.Stat_t{Ino: x.Ino, Mode: uint32(x.Mode), Uid: x.Uid, Gid: x.Gid, Size: int64(x.Size)}
	i.st.Dev = unix.Mkdev(x.Dev_major, x.Dev_minor)
	setLinks(&i.st.Nlink, x.Nlink)
	i.st.Mtim, i.st.Ctim = timespec(x.Mtime), timespec(x.Ctime)
	if born := timespec(x.Btime); x.Mask&unix.STATX_BTIME != 0 {
		i.born = born.Nano()
	}
	return nil
}

// setLinks sets a link count, whose type differs by architecture.
func setLinks[T uint32 | uint64](links *T, n uint32) { *links = T(n) }

func timespec(t unix.StatxTimestamp) unix.Timespec {
	return unix.NsecToTimespec(t.Sec*int64(time.Second) + int64(t.Nsec))
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

// Version tells VersionOf.
func (i *statInfo) Version() Version {
	v := plainVersion(i)
	v.Dev, v.Links = uint64(i.st.Dev), uint64(i.st.Nlink) //nolint:unconvert // their types differ by architecture
	v.Inode, v.Changed, v.Born = i.st.Ino, i.st.Ctim.Nano(), i.born
	return v
}

// Stamp tells StampOf.
func (i *statInfo) Stamp() formats.Stamp { return i.Version().Stamp }

// Rights tells RightsOf.
func (i *statInfo) Rights() nodes.Rights { return nodes.NewRights(i.Mode(), i.st.Uid, i.st.Gid) }

// inodeTimes returns when an inode was changed last; when it was made only
// statx tells.
func inodeTimes(s *syscall.Stat_t) (changed, born int64) { return s.Ctim.Nano(), 0 }
