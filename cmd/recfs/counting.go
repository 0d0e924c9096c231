package main

import (
	"io"
	iofs "io/fs"

	"recfs/formats/source"
)

// A countingFS tells how many bytes are read from a source.
type countingFS struct {
	*source.Local
	onRead func(int)
}

func (c countingFS) Open(name string) (iofs.File, error) {
	f, err := c.Local.Open(name)
	if file, ok := f.(readableFile); ok && err == nil {
		return countingFile{file, c.onRead}, nil
	}
	return f, err
}

// A readableFile is what a Local opens.
type readableFile interface {
	iofs.ReadDirFile
	io.ReaderAt
}

type countingFile struct {
	readableFile
	onRead func(int)
}

func (c countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.readableFile.ReadAt(p, off)
	c.onRead(n)
	return n, err
}
