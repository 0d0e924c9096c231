package main

import (
	iofs "io/fs"
	"os"

	"recfs/formats"
)

// A countingFS tells how many bytes are read from a source.
type countingFS struct {
	*formats.Local
	onRead func(int)
}

func (c countingFS) Open(name string) (iofs.File, error) {
	f, err := c.Local.Open(name)
	if file, ok := f.(*os.File); ok && err == nil {
		return countingFile{file, c.onRead}, nil
	}
	return f, err
}

type countingFile struct {
	*os.File
	onRead func(int)
}

func (c countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.File.ReadAt(p, off)
	c.onRead(n)
	return n, err
}
