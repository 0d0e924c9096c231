//go:build unix

package formats

import (
	iofs "io/fs"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// fileNumber returns what tells a file from another with the same name.
func fileNumber(info iofs.FileInfo) (dev, ino uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), uint64(s.Ino) //nolint:unconvert // their types differ by system
	}
	return 0, 0
}
