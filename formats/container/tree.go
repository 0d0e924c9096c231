package container

import (
	"context"
	iofs "io/fs"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A Tree is the files in a container. It holds no more than what
// the container is: the list is asked for each time.
type Tree struct {
	Kind    *Kind
	At      string           // where the container lies in its archive
	Version source.Version   // of the container
	Whole   *formats.Content // of the container; nil: nothing is kept of it
	Unpack  *unpack.Unpacker

	// Load returns the list and what it is of, or no list if the container does
	// not open.
	Load func(context.Context) (*Members, formats.Input, error)

	// Warn hears of an opened file that is whole, and about which the container says different
	// things; nil: nobody does.
	Warn func(name string, err error)
}

var _ source.Tree = (*Tree)(nil)

// ID implements [source.Tree].
func (t *Tree) ID() string { return "" }

// Inside implements [source.Tree]: no absolute path leads into a container.
func (t *Tree) Inside(string) (string, bool) { return "", false }

// A position is a member and the list that it stands in.
type position struct {
	*Members
	i   uint32
	src formats.Input
}

func (t *Tree) find(ctx context.Context, op, name string) (position, error) {
	l, src, err := t.Load(ctx)
	if err != nil {
		return position{}, err
	}
	if l != nil {
		if i, ok := l.find(name); ok {
			return position{l, i, src}, nil
		}
	}
	return position{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrNotExist}
}

// Stat implements [source.Tree].
func (t *Tree) Stat(ctx context.Context, name string) (source.Info, error) {
	f, err := t.find(ctx, "lstat", name)
	if err != nil {
		return source.Info{}, err
	}
	return f.at(f.i).info(t.Version), nil
}

// List implements [source.Tree].
func (t *Tree) List(ctx context.Context, name string) (source.Names, error) {
	f, err := t.find(ctx, "readdir", name)
	if err == nil && f.at(f.i).kind != dirMember {
		err = &iofs.PathError{Op: "readdir", Path: name, Err: iofs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return names{f.Members, f.in(f.i), t.Version}, nil
}

// ReadLink implements [source.Tree].
func (t *Tree) ReadLink(ctx context.Context, name string) (string, error) {
	f, err := t.find(ctx, "readlink", name)
	if err == nil && f.at(f.i).kind != linkMember {
		err = &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return f.target(f.i), nil
}

// Open implements [source.Tree].
func (t *Tree) Open(ctx context.Context, name string) (source.File, error) {
	f, err := t.find(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	c, err := t.content(ctx, name, f)
	if err != nil {
		return nil, err
	}
	return file{wholeReader{c}, f.at(f.i).info(t.Version)}, nil
}

// Content returns what a file holds, as far as it is there.
func (t *Tree) Content(ctx context.Context, name string) (Content, error) {
	f, err := t.find(ctx, "open", name)
	if err != nil {
		return Content{}, err
	}
	return t.content(ctx, name, f)
}

// First fills b with the first bytes of a file, as far as they are there. It reads none if the list
// has them, and nothing is kept of what is decompressed for them.
func (t *Tree) First(ctx context.Context, name string, b []byte) (int, error) {
	f, err := t.find(ctx, "open", name)
	if err != nil {
		return 0, err
	}
	if m := f.at(f.i); m.kind == fileMember && len(b) <= formats.NamedSize {
		if head, ok := f.heads[m.at]; ok {
			return copy(b, head), nil
		}
	}
	c, err := t.content(ctx, name, f)
	switch {
	case err != nil:
		return 0, err
	case c.stream != nil:
		return c.stream.First(ctx, b)
	}
	return c.ReadAt(ctx, b, 0)
}

// content returns what a member holds, if it is a file.
func (t *Tree) content(ctx context.Context, name string, f position) (Content, error) {
	m := f.at(f.i)
	if m.mode() != 0 {
		return Content{}, &iofs.PathError{Op: "open", Path: string(f.name(f.i)), Err: iofs.ErrInvalid}
	}
	if m.kind == textMember {
		return plain(formats.Input{ReaderAt: nodes.BytesContent([]byte(f.target(f.i))), Size: m.size}, 0, m.size), nil
	}
	c, err := t.Kind.open(ctx, f.src, source.FileKey{Path: t.At, Version: t.Version}, f.Members, *m, t.Unpack)
	if c.odd != nil && t.Warn != nil {
		t.Warn(name, c.odd)
	}
	return c, err
}

// A file is an opened member.
type file struct {
	nodes.ReaderAt
	info source.Info
}

func (f file) Info(context.Context) (source.Info, error) { return f.info, nil }
func (f file) Close() error                              { return nil }

// names are the names in a directory of a container.
type names struct {
	*Members
	in []uint32       // the members
	v  source.Version // of the container
}

func (n names) Len() int { return len(n.in) }

func (n names) At(i int) (string, iofs.FileMode) {
	return string(n.name(n.in[i])), n.at(n.in[i]).mode()
}

func (n names) Find(name string) (int, bool) {
	return n.findIn(n.in, []byte(name))
}

func (n names) Info(i int) (source.Info, bool) { return n.at(n.in[i]).info(n.v), true }

// info returns what is known of a member of a container of version v.
func (m *member) info(v source.Version) source.Info {
	size := int64(0)
	if m.mode() == 0 {
		size = m.size
	}
	s := stampAt(v.Stamp, m.at, size)
	s.Modified, s.Nanos = m.sec, int64(m.nsec)
	return source.Info{Version: source.Version{Stamp: s}, Type: m.mode(), Fixed: true}
}

func (m *member) mode() iofs.FileMode {
	switch m.kind {
	case dirMember:
		return iofs.ModeDir
	case linkMember:
		return iofs.ModeSymlink
	}
	return 0
}
