package archive

import (
	"context"
	"io"
	iofs "io/fs"

	"recfs/nodes"
)

// A readerFile is an opened file of a file system of ours: bytes that are read
// at an offset in a context. Read is for those who know io/fs alone.
type readerFile struct {
	nodes.ReaderAt
	info   iofs.FileInfo
	stream *io.SectionReader
}

func newReaderFile(r nodes.ReaderAt, size int64, info iofs.FileInfo) *readerFile {
	c := nodes.SectionContent(r, 0, size)
	return &readerFile{c, info, nodes.Reader(context.Background(), c)}
}

func (f *readerFile) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *readerFile) Close() error                 { return nil }

func (f *readerFile) Read(p []byte) (int, error) { return f.stream.Read(p) }
