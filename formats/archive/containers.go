package archive

import (
	"context"
	iofs "io/fs"
	"path"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/nodes"
)

// A file that holds files (.tar, also compressed, and .zip) is shown as the
// directory of what it holds, an archive like the one it lies in: its
// recordings are opened, its files passed through. One that does not open is
// shown like a recording that does not, as raw and error.txt.

const maxDepth = 4 // containers in containers

// A containerDir is the directory of what a container holds. It is a value, equal
// to another of the same version of the same file.
type containerDir struct {
	a   *archive
	key containerKey
}

type containerKey struct {
	recordingKey
	c *container.Kind
}

// format returns the format of the container, "tar.xz" or the like.
func (k containerKey) format() string { return container.FormatOf(k.name) }

func (n containerDir) dir(ctx context.Context) (nodes.Dir, error) {
	return n.a.containers.Get(ctx, n.key)
}

func (n containerDir) Len(ctx context.Context) (int, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (n containerDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return d.At(ctx, i)
}

func (n containerDir) Find(ctx context.Context, name string) (int, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

// loadContainer opens a container. What it lists is not part of the value: as
// long as a directory in it is in use, that list can come and go.
func (a *archive) loadContainer(ctx context.Context, k containerKey, c *cache.Cache) (nodes.Dir, int64, error) {
	l, err := a.lists.Get(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	if l.broken != nil {
		return l.broken, treeCost + int64(problemCost*len(l.problems)), nil
	}
	tree := &container.Tree{Kind: k.c, At: k.path, Version: k.v, Unpack: a.unpack, Load: func(ctx context.Context) (*container.Members, formats.Input, error) {
		l, err := a.lists.Get(ctx, k)
		if err != nil || l.broken != nil {
			return nil, formats.Input{}, err
		}
		return l.Members, l.src, nil
	}}
	if id := a.sourceID(k.path); id != "" {
		tree.Name = path.Join("/", id, k.name)
	}
	inner := newArchive(tree, a.list, c, a.opt, a.depth+1)
	inner.container = tree
	dir := nodes.Dir(memberDir{folder{inner, "."}})
	if len(l.problems) > 0 {
		dir, err = newDamagedDir(ctx, memberDir{folder{inner, "."}}, containerErrorText(k.format(), l.problems))
	}
	return dir, treeCost + int64(problemCost*len(l.problems)), err
}

// A memberDir is a folder of a container: unlike others it never changes.
type memberDir struct{ d folder }

// Resolve implements nodes.Resolver: a listing looks for the folder once.
func (f memberDir) Resolve(ctx context.Context) (nodes.Dir, error) { return f.members(ctx) }

func (f memberDir) members(ctx context.Context) (members, error) {
	l, err := f.d.a.listing(ctx, f.d.path)
	return members{snapshot{f.d, l}}, err
}

func (f memberDir) Len(ctx context.Context) (int, error) {
	m, err := f.members(ctx)
	if err != nil {
		return 0, err
	}
	return m.Len(ctx)
}

func (f memberDir) Find(ctx context.Context, name string) (int, error) {
	m, err := f.members(ctx)
	if err != nil {
		return 0, err
	}
	return m.Find(ctx, name)
}

func (f memberDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	m, err := f.members(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return m.At(ctx, i)
}

func (f memberDir) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	m, err := f.members(ctx)
	if err != nil {
		return b, 0, err
	}
	return m.AppendName(ctx, b, i)
}

// members are what is in a memberDir.
type members struct{ snapshot }

func (m members) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := m.snapshot.At(ctx, i)
	if d, ok := e.Dir.(folder); ok {
		e.Dir = memberDir{d}
	}
	return e, err
}

var (
	_ nodes.Namer    = memberDir{}
	_ nodes.Resolver = memberDir{}
)
