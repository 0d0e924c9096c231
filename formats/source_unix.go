//go:build unix

package formats

import (
	iofs "io/fs"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// inodeOf returns what the system tells of a file.
func inodeOf(info iofs.FileInfo) inode {
	if i, ok := info.(interface{ inode() inode }); ok {
		return i.inode()
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return inode{uint64(s.Dev), uint64(s.Ino), uint64(s.Nlink), changeTime(s)} //nolint:unconvert // their types differ by system
	}
	return inode{}
}
