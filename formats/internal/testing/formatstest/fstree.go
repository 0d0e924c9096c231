package formatstest

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// FromFS returns the source.Tree of a file system of the standard library, which has no ID. fsys
// must be comparable. Files that have no ReadAt cannot be read.
func FromFS(fsys iofs.FS) source.Tree { return fsTree{fsys} }

type fsTree struct{ fsys iofs.FS }

func (t fsTree) ID() string { return "" }

func (t fsTree) Inside(string) (string, bool) { return "", false }

func (t fsTree) Stat(_ context.Context, name string) (source.Info, error) {
	info, err := iofs.Lstat(t.fsys, name)
	if err != nil {
		return source.Info{}, err
	}
	return infoOf(info), nil
}

// infoOf is source.InfoOf where info does not tell its version by a method.
func infoOf(info iofs.FileInfo) source.Info {
	i := source.InfoOf(info)
	if v, ok := info.(interface{ Version() source.Version }); ok {
		i.Version = v.Version()
	}
	return i
}

func (t fsTree) List(_ context.Context, name string) (source.Names, error) {
	entries, err := iofs.ReadDir(t.fsys, name)
	if err != nil {
		return nil, err
	}
	var list []source.Name
	for _, e := range entries {
		list = append(list, source.Name{Name: e.Name(), Type: e.Type()})
	}
	return source.NewNames(list), nil
}

func (t fsTree) ReadLink(_ context.Context, name string) (string, error) {
	return iofs.ReadLink(t.fsys, name)
}

func (t fsTree) Open(_ context.Context, name string) (source.File, error) {
	f, err := t.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, f.Close())
	}
	return fsFile{nodes.Unbound(r), f}, nil
}

// An fsFile is an opened file of an fsTree.
type fsFile struct {
	nodes.ReaderAt
	f iofs.File
}

func (f fsFile) Close() error { return f.f.Close() }

func (f fsFile) Info(context.Context) (source.Info, error) {
	info, err := f.f.Stat()
	if err != nil {
		return source.Info{}, err
	}
	return infoOf(info), nil
}

// Files returns the regular files of a directory, as of a recording that is one.
func Files(fsys iofs.FS) (list formats.Files) {
	entries, _ := iofs.ReadDir(fsys, ".")
	for _, e := range entries {
		if f, err := (Folder{fsys}).Open(context.Background(), e.Name()); err == nil {
			list = append(list, f)
		}
	}
	return list
}

// A Folder is a file system of the standard library as a [formats.Folder].
type Folder struct{ iofs.FS }

// Open implements [formats.Folder].
func (d Folder) Open(_ context.Context, name string) (formats.File, error) {
	info, err := iofs.Stat(d.FS, name)
	if err == nil && !info.Mode().IsRegular() {
		err = formats.ErrNoFile
	}
	if err != nil {
		return formats.File{}, err
	}
	return formats.File{ReaderAt: folderFile{fsTree{d.FS}, name}, Name: name, Stamp: infoOf(info).Stamp}, nil
}

// A folderFile is a file of a Folder, which is opened for each read.
type folderFile struct {
	tree fsTree
	name string
}

func (f folderFile) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	file, err := f.tree.Open(ctx, f.name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.ReadAt(ctx, p, off)
}
