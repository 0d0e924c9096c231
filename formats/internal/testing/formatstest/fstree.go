package formatstest

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"

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
	return source.InfoOf(info), nil
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
	return source.InfoOf(info), nil
}
