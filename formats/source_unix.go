//go:build unix

package formats

import (
	iofs "io/fs"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// systemVersion returns what the system tells of a file.
func systemVersion(info iofs.FileInfo) version {
	v := plainVersion(info)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		v.dev, v.links = uint64(s.Dev), uint64(s.Nlink) //nolint:unconvert // their types differ by system
		v.Inode = uint64(s.Ino)                         //nolint:unconvert // the same
		v.Changed, v.Born = inodeTimes(s)
	}
	return v
}
