package source

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"path"
	"path/filepath"
	"sync"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// FromFS returns the Tree of a file system of the standard library, which has no ID. Its operations
// end with their contexts no sooner than those of fsys do, which knows of none. fsys must be
// comparable.
func FromFS(fsys iofs.FS) Tree { return fsTree{fsys} }

type fsTree struct{ fsys iofs.FS }

func (t fsTree) ID() ID { return ID{} }

func (t fsTree) Inside(string) (string, bool) { return "", false }

func (t fsTree) Stat(_ context.Context, name string) (Info, error) {
	info, err := iofs.Lstat(t.fsys, name)
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}

func (t fsTree) List(ctx context.Context, name string) (Names, error) {
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(iofs.ReadDirFile)
	if !ok {
		return nil, &iofs.PathError{Op: "readdir", Path: name, Err: iofs.ErrInvalid}
	}
	return readNames(ctx, dir, name)
}

// readNames returns the names in the opened directory dir.
func readNames(ctx context.Context, dir iofs.ReadDirFile, name string) (Names, error) {
	var list []Name
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			list = append(list, Name{e.Name(), e.Type()})
		}
		if err == io.EOF {
			return NewNames(name, list)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

func (t fsTree) ReadLink(_ context.Context, name string) (string, error) {
	target, err := iofs.ReadLink(t.fsys, name)
	return filepath.ToSlash(target), err
}

func (t fsTree) Open(_ context.Context, name string) (File, error) {
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return fsFile{readerAt(f), f}, nil
}

// An fsFile is an opened file of an fsTree.
type fsFile struct {
	nodes.ReaderAt
	f iofs.File
}

func (f fsFile) Close() error { return f.f.Close() }

func (f fsFile) Info(context.Context) (Info, error) {
	info, err := f.f.Stat()
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}

// InfoOf returns what info tells of a file: its version, if it has a method for that, or else what
// the system does.
func InfoOf(info iofs.FileInfo) Info {
	v, ok := info.(interface{ Version() Version })
	if ok {
		return Info{Version: v.Version(), Type: info.Mode().Type(), Rights: rightsOf(info)}
	}
	return Info{Version: systemVersion(info), Type: info.Mode().Type(), Rights: rightsOf(info)}
}

// plainVersion is what every FileInfo tells.
func plainVersion(info iofs.FileInfo) Version {
	t := info.ModTime()
	return Version{Stamp: formats.Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
}

// readerAt returns f for reads at an offset, by seeking if it must.
func readerAt(f iofs.File) nodes.ReaderAt {
	switch f := f.(type) {
	case io.ReaderAt:
		return nodes.Unbound(f)
	case io.ReadSeeker:
		return nodes.Unbound(&seekReaderAt{r: f})
	}
	return unreadable{}
}

type seekReaderAt struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seekReaderAt) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.r.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.r, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

type unreadable struct{}

func (unreadable) ReadAt(context.Context, []byte, int64) (int, error) {
	return 0, errors.ErrUnsupported
}

// IOFile returns an opened file for those who know io/fs alone: all reads are in ctx, which the result
// must not outlive, and info is what it tells of itself. It is an io.ReaderAt, too. Nothing of f is
// used once the result is closed, and f is closed then.
func IOFile(ctx context.Context, name string, f File, info Info) iofs.File {
	return &ioFile{SectionReader: nodes.Reader(ctx, nodes.SectionContent(f, 0, info.Size)), f: f, info: IOInfo(name, info)}
}

type ioFile struct {
	*io.SectionReader
	f    File
	info iofs.FileInfo
}

func (f *ioFile) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *ioFile) Close() error                 { return f.f.Close() }

// IOInfo returns what info tells of the file called name for those who know io/fs alone. It has a
// method Stamp for [formats.StampOf].
func IOInfo(name string, info Info) iofs.FileInfo { return ioInfo{path.Base(name), info} }

type ioInfo struct {
	name string
	info Info
}

func (i ioInfo) Name() string         { return i.name }
func (i ioInfo) Size() int64          { return i.info.Size }
func (i ioInfo) Mode() iofs.FileMode  { return i.info.Type | 0o444 }
func (i ioInfo) ModTime() time.Time   { return i.info.Time() }
func (i ioInfo) IsDir() bool          { return i.info.Type.IsDir() }
func (i ioInfo) Sys() any             { return nil }
func (i ioInfo) Version() Version     { return i.info.Version }
func (i ioInfo) Stamp() formats.Stamp { return i.info.Stamp }
