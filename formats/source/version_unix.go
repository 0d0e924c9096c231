//go:build unix

package source

import (
	iofs "io/fs"
	"syscall"

	"recfs/nodes"
)

const nonblock = syscall.O_NONBLOCK

// rightsOf returns who may do what with a file.
func rightsOf(info iofs.FileInfo) nodes.Rights {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return nodes.NewRights(info.Mode(), s.Uid, s.Gid)
	}
	return nodes.Rights{}
}

// systemVersion returns what the system tells of a file.
func systemVersion(info iofs.FileInfo) Version {
	v := plainVersion(info)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		v.Dev, v.Links = uint64(s.Dev), uint64(s.Nlink) //nolint:unconvert // their types differ by system
		v.Inode = uint64(s.Ino)                         //nolint:unconvert // the same
		v.Changed, v.Born = inodeTimes(s)
	}
	return v
}
