package archive

import (
	"context"
	iofs "io/fs"
	"strings"

	"recfs/nodes"
)

// A rootChild is a directory in a recording, or in what else is the root, by its name; a
// deeper one in a recording by its path. The
// values of the tree itself are made anew when the recording was put out of the
// cache and opened again; this one is equal to another of the same version, and who holds
// it keeps nothing of the tree in memory.
type rootChild struct {
	recording nodes.Dir
	name      string
}

// A childOpener is a recording: a look-up in it returns a rootChild again, so that asks for the directory itself here.
type childOpener interface {
	child(ctx context.Context, name string) (nodes.Dir, error)
}

// dir returns the directory as the tree has it now.
func (t rootChild) dir(ctx context.Context) (nodes.Dir, error) {
	r, ok := t.recording.(childOpener)
	if !ok {
		e, err := nodes.Child(ctx, t.recording, t.name)
		return e.Dir, err
	}
	name, rest, deeper := strings.Cut(t.name, "/")
	d, err := r.child(ctx, name)
	for deeper && err == nil {
		var e nodes.Entry
		name, rest, deeper = strings.Cut(rest, "/")
		e, err = nodes.Child(ctx, d, name)
		d = e.Dir
	}
	return d, err
}

// Resolve returns the directory as the tree has it now, but for what stands for the directories in it.
func (t rootChild) Resolve(ctx context.Context) (nodes.Dir, error) {
	d, err := t.dir(ctx)
	if _, ok := t.recording.(childOpener); !ok || err != nil {
		return d, err
	}
	d, err = nodes.Resolve(ctx, d)
	return openedChild{d, t}, err
}

// below returns an entry of the directory with what stands for it if it is one itself.
func (t rootChild) below(e nodes.Entry) nodes.Entry {
	if _, ok := t.recording.(childOpener); ok && e.Dir != nil { // the kernel may hold it for long
		e.Dir = deferTop(rootChild{t.recording, t.name + "/" + e.Name}, e.Dir)
	}
	return e
}

// An openedChild is what a rootChild in a recording resolves to.
type openedChild struct {
	nodes.Dir
	t rootChild
}

// At implements nodes.Dir.
func (d openedChild) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := d.Dir.At(ctx, i)
	return d.t.below(e), err
}

// AppendName implements nodes.Namer.
func (d openedChild) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	return nodes.AppendName(ctx, d.Dir, b, i)
}

// sources returns the recordings that t and an earlier child of its name are in; nil: they are none.
func (t rootChild) sources(earlier rootChild) (now, before nodes.Grower) {
	now, ok := t.recording.(nodes.Grower)
	before, was := earlier.recording.(nodes.Grower)
	if !ok || !was || earlier.name != t.name {
		return nil, nil
	}
	return now, before
}

// deferTop returns the directory that stands for dir, which t resolves to now.
func deferTop(t rootChild, dir nodes.Dir) nodes.Dir {
	top := topDir{nodes.Deferred[rootChild]{Target: t}}
	if _, ok := dir.(nodes.Volatile); ok {
		return volatileChild{top}
	}
	return top
}

// A topDir is what a rootChild stands for.
type topDir struct{ nodes.Deferred[rootChild] }

// GrewFrom implements nodes.Grower.
func (t topDir) GrewFrom(earlier nodes.Grower) bool {
	e, _ := earlier.(topDir)
	now, before := t.Target.sources(e.Target)
	return before != nil && now.GrewFrom(before)
}

// Replaces implements nodes.Grower.
func (t topDir) Replaces(earlier nodes.Grower) bool {
	e, _ := earlier.(topDir)
	now, before := t.Target.sources(e.Target)
	return before != nil && now.Replaces(before)
}

// A volatileChild is a topDir whose entries are looked up by name.
type volatileChild struct{ topDir }

// Lookup implements nodes.Volatile.
func (t volatileChild) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	d, err := t.Target.dir(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := nodes.Child(ctx, d, name)
	return t.Target.below(e), err
}

// Snapshot implements nodes.Volatile.
func (t volatileChild) Snapshot(ctx context.Context) (nodes.Dir, error) {
	d, err := t.Target.dir(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := d.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return d, nil
}
