package fs

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"path"
	"time"

	"recfs/nodes"
)

// An FS presents a tree as an [io/fs.FS]. It is also an io/fs.ReadDirFS,
// StatFS and ReadLinkFS; its files are io.Seekers and io.ReaderAts. Symbolic
// links are shown and not followed.
type FS struct {
	ctx  context.Context
	root nodes.Dir
}

// New returns the tree root as an io/fs.FS. Its operations end when ctx does.
func New(ctx context.Context, root nodes.Dir) *FS { return &FS{ctx, root} }

var (
	errIsDir  = errors.New("is a directory")
	errNotDir = errors.New("not a directory")
)

// Open implements io/fs.FS.
func (f *FS) Open(name string) (iofs.File, error) {
	e, err := f.lookup("open", name)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Dir != nil:
		return f.openDir(name, e)
	case e.File != nil:
		return f.openFile(name, e)
	}
	return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
}

func (f *FS) openDir(name string, e nodes.Entry) (iofs.File, error) {
	dir := e.Dir
	if v, ok := dir.(nodes.Volatile); ok {
		snapshot, err := v.Snapshot(f.ctx)
		if err != nil {
			return nil, &iofs.PathError{Op: "open", Path: name, Err: err}
		}
		dir = snapshot
	}
	return &openDir{fs: f, path: name, entry: e, dir: dir}, nil
}

func (f *FS) openFile(name string, e nodes.Entry) (iofs.File, error) {
	c, err := e.File.Open(f.ctx)
	if err != nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{content: c, SectionReader: nodes.Reader(f.ctx, c), entry: e}, nil
}

// ReadDir implements io/fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]iofs.DirEntry, error) {
	e, err := f.lookup("readdir", name)
	if err != nil {
		return nil, err
	}
	if e.Dir == nil {
		return nil, &iofs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	d, err := f.openDir(name, e)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.(*openDir).ReadDir(-1)
}

// Stat implements io/fs.StatFS. A symbolic link is not followed.
func (f *FS) Stat(name string) (iofs.FileInfo, error) { return f.stat("stat", name) }

// Lstat implements io/fs.ReadLinkFS.
func (f *FS) Lstat(name string) (iofs.FileInfo, error) { return f.stat("lstat", name) }

func (f *FS) stat(op, name string) (iofs.FileInfo, error) {
	e, err := f.lookup(op, name)
	if err != nil {
		return nil, err
	}
	info, err := f.info(e)
	if err != nil {
		return nil, &iofs.PathError{Op: op, Path: name, Err: err}
	}
	return info, nil
}

// ReadLink implements io/fs.ReadLinkFS.
func (f *FS) ReadLink(name string) (string, error) {
	e, err := f.lookup("readlink", name)
	if err != nil {
		return "", err
	}
	if e.Link == "" {
		return "", &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
	}
	return e.Link, nil
}

// lookup returns the entry at name, with the last element of name for its
// own: it may have been found by another name than a listing shows.
func (f *FS) lookup(op, name string) (nodes.Entry, error) {
	if !iofs.ValidPath(name) {
		return nodes.Entry{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrInvalid}
	}
	e, err := nodes.Lookup(f.ctx, f.root, name)
	if err != nil {
		return nodes.Entry{}, &iofs.PathError{Op: op, Path: name, Err: err}
	}
	e.Name = path.Base(name)
	return e, nil
}

func (f *FS) info(e nodes.Entry) (iofs.FileInfo, error) {
	size := int64(len(e.Link))
	if e.File != nil {
		var err error
		if size, err = e.File.Size(f.ctx); err != nil {
			return nil, err
		}
	}
	return fileInfo{e, size}, nil
}

// A dirEntry is an io/fs.DirEntry; the size of a file is asked for by Info.
type dirEntry struct {
	fs    *FS
	entry nodes.Entry
}

func (d dirEntry) Name() string                 { return d.entry.Name }
func (d dirEntry) IsDir() bool                  { return d.entry.Dir != nil }
func (d dirEntry) Type() iofs.FileMode          { return d.entry.Type() }
func (d dirEntry) Info() (iofs.FileInfo, error) { return d.fs.info(d.entry) }
func (d dirEntry) String() string               { return iofs.FormatDirEntry(d) }

type fileInfo struct {
	entry nodes.Entry
	size  int64
}

func (i fileInfo) Name() string        { return i.entry.Name }
func (i fileInfo) Size() int64         { return i.size }
func (i fileInfo) Mode() iofs.FileMode { return i.entry.Mode() }
func (i fileInfo) ModTime() time.Time  { return i.entry.Time }
func (i fileInfo) IsDir() bool         { return i.entry.Dir != nil }
func (i fileInfo) Sys() any            { return nil }
func (i fileInfo) String() string      { return iofs.FormatFileInfo(i) }

// An openFile reads through the SectionReader.
type openFile struct {
	*io.SectionReader
	content nodes.Content
	entry   nodes.Entry
}

func (f *openFile) Stat() (iofs.FileInfo, error) { return fileInfo{f.entry, f.Size()}, nil }

func (f *openFile) Close() error { return nodes.CloseContent(f.content) }

type openDir struct {
	fs    *FS
	path  string
	entry nodes.Entry
	dir   nodes.Dir
	next  int
}

func (d *openDir) Stat() (iofs.FileInfo, error) { return fileInfo{entry: d.entry}, nil }
func (d *openDir) Close() error                 { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &iofs.PathError{Op: "read", Path: d.path, Err: errIsDir}
}

// ReadDir implements io/fs.ReadDirFile. Entries that vanished meanwhile are
// left out.
func (d *openDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	fail := func(list []iofs.DirEntry, err error) ([]iofs.DirEntry, error) {
		return list, &iofs.PathError{Op: "readdir", Path: d.path, Err: err}
	}
	length, err := d.dir.Len(d.fs.ctx)
	if err != nil {
		return fail(nil, err)
	}
	list := []iofs.DirEntry{}
	for ; d.next < length && (n <= 0 || len(list) < n); d.next++ {
		e, err := d.dir.At(d.fs.ctx, d.next)
		if errors.Is(err, iofs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fail(list, err)
		}
		list = append(list, dirEntry{d.fs, e.Inherit(d.entry.Attr)})
	}
	if n > 0 && len(list) == 0 {
		return nil, io.EOF
	}
	return list, nil
}
