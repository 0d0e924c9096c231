package archive

import (
	"context"
	iofs "io/fs"
	"path"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A file that holds files (.tar, also compressed, and .zip) is shown as the
// directory of what it holds, an archive like the one it lies in: its
// recordings are opened, its files passed through. One that does not open is
// shown like a recording that does not, as raw and error.txt.

const maxDepth = 4 // containers in containers

// containerOf returns how a file of that name is shown as a directory, if it
// is, and whether it is compressed as a whole.
func (a *archive) containerOf(name string) (k *container.Kind, packed bool) {
	if a.depth >= maxDepth {
		return nil, false
	}
	return container.KindOf(name)
}

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
		return l.broken, treeCost, nil
	}
	fsys := &container.FS{Kind: k.c, Version: k.v, Unpack: a.unpack, List: func(ctx context.Context) (*container.Members, formats.Input, error) {
		l, err := a.lists.Get(ctx, k)
		if err != nil || l.broken != nil {
			return nil, formats.Input{}, err
		}
		return l.Members, l.src, nil
	}}
	if id := a.sourceID(k.path); id != "" {
		fsys.Name = path.Join("/", id, k.name)
	}
	inner := newArchive(fsys, a.list, c, a.opt, a.memory, a.depth+1)
	return memberDir{folder{inner, "."}}, treeCost, nil
}

// A listed is a container with the list of what it holds.
type listed struct {
	*container.Members
	src    formats.Input
	broken nodes.Dir // what is shown instead if it does not open
}

func (a *archive) loadList(ctx context.Context, k containerKey, c *cache.Cache) (*listed, int64, error) {
	src, reads := a.source(k.recordingKey)
	var hurt unpack.DamageFunc
	var err error
	if k.packed {
		hurt, err = a.decompress(ctx, k.recordingKey, &src, reads)
	}
	var m *container.Members
	if err == nil {
		m, err = a.membersOf(ctx, k, src, c)
	}
	switch {
	case err == nil:
		if m.Damage != nil {
			a.warn(k.path, k.v, "archive is damaged; what comes before is shown", "format", k.c.Name, "err", m.Damage)
		}
		return &listed{Members: m, src: src}, m.Cost() + treeCost, nil
	case ctx.Err() != nil || notSaved(err):
		return nil, 0, err
	case reads.failure() != nil:
		return nil, 0, reads.failure()
	}
	a.warn(k.path, k.v, "archive does not open", "format", k.c.Name, "err", err)
	return &listed{broken: broken(src, a.errorText(ctx, src, k.c.Name, err, hurt))}, treeCost, nil
}

// membersOf returns the list of a container.
func (a *archive) membersOf(ctx context.Context, k containerKey, src formats.Input, c *cache.Cache) (*container.Members, error) {
	if m := a.savedList(k); m != nil {
		return m, nil
	}
	room := c.Room()
	defer room.Close()
	m, err := k.c.List(ctx, src, container.Work{Limit: a.maxList, Room: room, Unpack: a.unpack})
	if err == nil {
		a.saveList(k, m)
	}
	return m, err
}

// A memberDir is a folder of a container: unlike others it never changes.
type memberDir struct{ d folder }

func (f memberDir) Len(ctx context.Context) (int, error) { return f.d.Len(ctx) }

func (f memberDir) Find(ctx context.Context, name string) (int, error) { return f.d.Find(ctx, name) }

func (f memberDir) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	s, err := f.d.Snapshot(ctx)
	if err != nil {
		return b, 0, err
	}
	return nodes.AppendName(ctx, s, b, i)
}

func (f memberDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := f.d.At(ctx, i)
	if d, ok := e.Dir.(folder); ok {
		e.Dir = memberDir{d}
	}
	return e, err
}

var _ nodes.Namer = memberDir{}
