package archive

import (
	"context"

	"recfs/nodes"
)

// A rootChild is a directory in a recording, or in what else is the root, by its name. The
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

// Resolve returns the directory as the tree has it now.
func (t rootChild) Resolve(ctx context.Context) (nodes.Dir, error) {
	if r, ok := t.recording.(childOpener); ok {
		return r.child(ctx, t.name)
	}
	e, err := nodes.Child(ctx, t.recording, t.name)
	return e.Dir, err
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
	d, err := t.Resolve(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Child(ctx, d, name)
}

// Snapshot implements nodes.Volatile.
func (t volatileChild) Snapshot(ctx context.Context) (nodes.Dir, error) {
	d, err := t.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	if v, ok := d.(nodes.Volatile); ok {
		return v.Snapshot(ctx)
	}
	return d, nil
}
