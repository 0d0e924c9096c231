package remote

import (
	"context"
	iofs "io/fs"
	"path"

	"recfs/formats/source"
)

// A Tree is what lies below a folder of a server.
type Tree struct {
	s   *Server
	dir string // "" or with a slash at its end
}

var (
	_ source.Tree   = Tree{}
	_ source.Walker = Tree{}
)

// Tree returns what lies below a folder of the server, "" for all of it, which need not be there.
func (s *Server) Tree(dir string) Tree { return Tree{s, dir} }

// key returns the key of a name.
func (t Tree) key(name string) string {
	if name == "." {
		return t.dir
	}
	return t.dir + name
}

// folder returns the key of a name as that of a folder.
func (t Tree) folder(name string) string {
	if name == "." {
		return t.dir
	}
	return t.dir + name + "/"
}

// ID implements source.Tree.
func (t Tree) ID() string { return t.s.place(t.dir) }

// Stat implements source.Tree.
func (t Tree) Stat(ctx context.Context, name string) (source.Info, error) {
	if name != "." {
		found, err := t.s.find(ctx, t.key(name))
		switch {
		case err != nil:
			return source.Info{}, err
		case found.isFile:
			return found.info(), nil
		case !found.isDir:
			return source.Info{}, &iofs.PathError{Op: "stat", Path: name, Err: iofs.ErrNotExist}
		}
	}
	l, err := t.s.folder(ctx, t.folder(name))
	if err != nil {
		return source.Info{}, err
	}
	return l.info(), nil
}

// List implements source.Tree.
func (t Tree) List(ctx context.Context, name string) (source.Names, error) {
	return t.s.all(ctx, t.folder(name))
}

// Pages implements source.Walker.
func (t Tree) Pages(ctx context.Context, name string) (source.Pages, error) {
	return t.s.folder(ctx, t.folder(name))
}

// Walk implements source.Walker.
func (t Tree) Walk(ctx context.Context, name string) error {
	dir := t.folder(name)
	if !t.s.tellsAll() || t.s.walked(dir, t.s.turn()) {
		return nil
	}
	turn, release := t.s.turns.hold()
	defer release()
	_, err := t.s.lists.Get(ctx, listKey{dir: dir, turn: turn, flat: true})
	return err
}

// ReadLink implements source.Tree: there are no links.
func (t Tree) ReadLink(_ context.Context, name string) (string, error) {
	return "", &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
}

// Inside implements source.Tree: nothing leads here.
func (t Tree) Inside(string) (string, bool) { return "", false }

// Open implements source.Tree.
func (t Tree) Open(ctx context.Context, name string) (source.File, error) {
	found, err := t.s.find(ctx, t.key(name))
	switch {
	case err != nil:
		return nil, err
	case found.isFile:
		return &file{s: t.s, o: found.object}, nil
	case found.isDir:
		return nil, &iofs.PathError{Op: "open", Path: path.Base(name), Err: iofs.ErrInvalid}
	}
	return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
}
