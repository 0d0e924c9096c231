//go:build !linux

package source

import (
	iofs "io/fs"
	"os"
)

// Lstat does not follow a symbolic link.
func (l *Local) Lstat(name string) (iofs.FileInfo, error) { return l.root.Lstat(name) }

func (l *Local) open(name string) (*os.File, error) {
	return l.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

func wrapFile(f *os.File) iofs.File { return f }
