//go:build !linux

package source

import (
	"context"
	"os"
)

// Stat implements Tree.
func (l *Local) Stat(_ context.Context, name string) (Info, error) {
	info, err := l.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}

func (l *Local) open(name string) (*os.File, error) {
	return l.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

// stat returns the state of an opened file.
func stat(f *os.File) (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(info), nil
}
