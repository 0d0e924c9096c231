//go:build unix

package formats

import (
	iofs "io/fs"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// fileNumber returns what tells a file from another with the same name.
func fileNumber(info iofs.FileInfo) (dev, ino uint64) {
	if n, ok := info.(numbered); ok {
		return n.number()
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev), uint64(s.Ino) //nolint:unconvert // their types differ by system
	}
	return 0, 0
}

// A numbered is a FileInfo that knows what fileNumber asks for.
type numbered interface{ number() (dev, ino uint64) }
