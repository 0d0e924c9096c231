package source

import (
	"context"
	"io"
	iofs "io/fs"

	"recfs/nodes"
)

// A file is an opened file of a file system of ours: bytes that are read
// at an offset in a context. Read is for those who know io/fs alone.
type file struct {
	nodes.ReaderAt
	info   iofs.FileInfo
	stream *io.SectionReader
}

// NewFile returns an opened file with the first size bytes of r.
func NewFile(r nodes.ReaderAt, size int64, info iofs.FileInfo) iofs.File {
	c := nodes.SectionContent(r, 0, size)
	return &file{c, info, nodes.Reader(context.Background(), c)}
}

func (f *file) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error                 { return nil }

func (f *file) Read(p []byte) (int, error) { return f.stream.Read(p) }

// Immutable is the Sys of a file that cannot change while it is open.
type Immutable struct{}

// Entries is iofs.ReadDirFile's ReadDir for a directory in memory that has
// all entries, of which next were given out before.
func Entries(all int, next *int, n int, entry func(i int) iofs.DirEntry) ([]iofs.DirEntry, error) {
	rest := all - *next
	if n > 0 {
		if rest == 0 {
			return nil, io.EOF
		}
		rest = min(n, rest)
	}
	entries := make([]iofs.DirEntry, rest)
	for i := range entries {
		entries[i] = entry(*next + i)
	}
	*next += rest
	return entries, nil
}
