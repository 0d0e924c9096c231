package archive

import (
	"context"
	"hash/fnv"
	"io"
	"path"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/recordings"
	"recfs/formats/source"
	"recfs/nodes"
)

// Of returns the archive that dir, the directory of an entry, is a directory, a recording or a
// container of, or the root.
func Of(dir nodes.Dir) (a *Archive, ok bool) {
	switch d := dir.(type) {
	case rootDir:
		return d.Target.a, true
	case recording:
		return d.a, true
	case containerDir:
		return d.Target.a, true
	}
	p, ok := placeOf(dir)
	return p.a, ok
}

// Walk tells the source of an archive that all below dir, a directory of it, is about to be listed.
func Walk(ctx context.Context, dir nodes.Dir) error {
	if p, ok := placeOf(dir); ok {
		return p.a.Walk(ctx, p.path)
	}
	return nil
}

// FolderOf reports whether dir is a directory of the source, and where it lies there.
func FolderOf(dir nodes.Dir) (name string, ok bool) {
	p, ok := placeOf(dir)
	return p.path, ok
}

func placeOf(dir nodes.Dir) (p place, ok bool) {
	switch d := dir.(type) {
	case folder:
		return d.Target, true
	case nodes.Deferred[place]:
		return d.Target, true
	}
	return place{}, false
}

// Formats returns the formats of the archive.
func (a *Archive) Formats() []formats.Format { return a.list }

// ID names the source for what is kept of all of it on disk: where it lies. It is "" if it has no
// such name, as that of a container.
func (a *Archive) ID() string {
	if a.depth > 0 {
		return ""
	}
	return a.tree.ID()
}

// Walk tells the source that all below a directory is about to be listed.
func (a *Archive) Walk(ctx context.Context, dir string) error {
	if w, ok := a.tree.(source.Walker); ok {
		return w.Walk(ctx, dir)
	}
	return nil
}

// Stat returns what the source tells of a file, or of a link itself.
func (a *Archive) Stat(ctx context.Context, name string) (source.Info, error) {
	return a.tree.Stat(ctx, name)
}

// Lookup returns the entry called name in the directory dir.
func (a *Archive) Lookup(ctx context.Context, dir, name string) (nodes.Entry, error) {
	return a.lookup(ctx, path.Join(dir, name), name)
}

// IsPlain reports whether a file is shown as it is, as its name alone tells.
func (a *Archive) IsPlain(name string) bool {
	mode, ok := a.typeByName(name, 0)
	return ok && !mode.IsDir()
}

// BesideSum returns a checksum of the versions of files on which the recording called name depends,
// named as by [formats.Beside.Files], or that they are not there.
func (a *Archive) BesideSum(ctx context.Context, name string, names []string) uint64 {
	sum := fnv.New64a()
	add := func(dir formats.Folder, n string) {
		_, _ = io.WriteString(sum, n)
		if f, err := dir.Open(ctx, n); err != nil {
			_, _ = io.WriteString(sum, err.Error())
		} else {
			_, _ = sum.Write(f.Stamp.Append([]byte{0}))
		}
	}
	for _, n := range names {
		n, elsewhere := strings.CutPrefix(n, "/")
		if !elsewhere {
			add(beside{a: a, dir: path.Dir(name)}, n)
			continue
		}
		for _, f := range a.list {
			if f.Beside == nil {
				continue
			}
			for _, dir := range f.Beside.Elsewhere {
				add(dir, n)
			}
		}
	}
	return sum.Sum64()
}

// RecordingOf reports whether dir, the directory of an entry, is a recording, and which.
func RecordingOf(dir nodes.Dir) (Recording, bool) {
	r, ok := dir.(recording)
	return Recording{r}, ok
}

// Format returns its format.
func (r Recording) Format() formats.Format { return r.r.format() }

// Path returns where it lies in the source.
func (r Recording) Path() string { return r.r.key.path }

// Version returns the version of its file or directory; the size is that of all its files.
func (r Recording) Version() source.Version { return r.r.key.v }

// Modified returns the time of its files.
func (r Recording) Modified() time.Time { return r.r.a.modified(r.r.key) }

// Stamp returns the stamp of all its files.
func (r Recording) Stamp() formats.Stamp { return r.r.key.stamp() }

// Content names what is kept of it on disk; nil: nothing is.
func (r Recording) Content() *formats.Content { return r.r.a.contentOf(r.r.key) }

// Shared returns where what is worth sharing is kept of it: its index, and the list of the
// container that it lies in.
func (r Recording) Shared() []cache.Place {
	f := r.Format()
	list := []cache.Place{r.r.a.recordingOf(r.r.key).Input.Place(f.Name, f.Variant)}
	if c := r.r.a.container; c != nil {
		list = append(list, c.Whole.At(listKind(container.Tar, false)), c.Whole.At(listKind(container.Tar, true)))
	}
	return list
}

// Unread returns why it is not known what file, that of an entry of an archive, is: its first bytes
// would have told, and could not be read.
func Unread(ctx context.Context, file nodes.File) error {
	f, ok := file.(unknownFile)
	if !ok {
		return nil
	}
	_, err := f.a.kind(ctx, f.key, f.naming)
	if err == nil { // by now they can
		err = source.Stale(f.key.Path)
	}
	return err
}

// Archive returns the one that it lies in.
func (r Recording) Archive() *Archive { return r.r.a }

// Segments returns the files of a recording that is a directory.
func (r Recording) Segments() (files []source.FileKey, ok bool) {
	for s := range r.r.key.segments.all {
		files = append(files, source.FileKey{Path: s.at, Version: s.v})
	}
	return files, r.r.key.isDir()
}

// Tree returns the tree that its format makes of it.
func (r Recording) Tree(ctx context.Context) (nodes.Dir, error) { return r.r.tree(ctx) }

// A NotOpenError says why a recording does not open.
type NotOpenError struct{ formats.Problem }

func (e *NotOpenError) Error() string { return e.Message }

// Open opens it once for all callers. The error of a recording that does not open is a
// [NotOpenError].
func (r Recording) Open(ctx context.Context) (*recordings.Opened, error) {
	dir, err := r.Tree(ctx)
	if err != nil {
		return nil, err
	}
	if b, ok := dir.(brokenDir); ok {
		return nil, &NotOpenError{b.problem}
	}
	return r.r.a.recordings.Get(ctx, r.r.key)
}

// Summary returns what a person wants to know first, for which the index is made if there is none:
// with an error it has what is known without. The error of a recording that does not open is a
// [NotOpenError].
func (r Recording) Summary(ctx context.Context) (formats.Summary, error) {
	o, err := r.Open(ctx)
	if err != nil {
		return formats.Summary{}, err
	}
	return o.Summary(ctx)
}

// OpenWith opens a recording for the caller alone, with a cache of its own. Unlike Tree it has an
// error for one that does not open, and a [formats.UnreadError] if it could not be read this time.
func (r Recording) OpenWith(ctx context.Context, c *cache.Cache) (*recordings.Opened, error) {
	return recordings.OpenOne(ctx, r.r.a.claimedOf(r.r.key), c, r.r.a.log)
}

// ContainerOf reports whether dir, the directory of an entry, is a container, and which.
func ContainerOf(dir nodes.Dir) (Container, bool) {
	n, ok := dir.(containerDir)
	return n.Target, ok
}

// Stamp returns the stamp of the file.
func (c Container) Stamp() formats.Stamp { return c.key.stamp() }

// Format returns its format: "tar", "zip", "tar.xz" and the like.
func (c Container) Format() string { return container.FormatOf(c.key.name) }

// Problems returns what is wrong with it: with its own structure and the compression around it, not
// with what is in its members, which reading them tells. They are sorted by offset, in the bytes
// without outer compression. A container that does not open has one problem.
func (c Container) Problems(ctx context.Context) ([]formats.Problem, error) {
	l, err := c.a.lists.Get(ctx, c.key)
	if err != nil {
		return nil, err
	}
	return l.problems, nil
}

// summed returns the file that it is if it has a checksum which is compared only when the file is
// read to its end, as a file that lies in a zip, else nil.
func (c Container) summed() nodes.File {
	a, k := c.a, c.key
	if a.container == nil || a.container.Kind != container.Zip || k.packed {
		return nil
	}
	return plainFile{a.openFiles, source.FileKey{Path: k.path, Version: k.v}}
}

// A Description is what an archive knows of a recording without opening it.
type Description struct {
	Format string // name of the format
	Stored int64  // bytes of its file
	Time   time.Time

	Unended bool // it is a tar without the zeros of its end, so that members may be missing
}

// Describe tells whether dir, the directory of an entry of an archive or an
// archive itself, is a recording, and which.
func Describe(ctx context.Context, dir nodes.Dir) (d Description, ok bool) {
	dir, err := Current(ctx, dir)
	r, ok := dir.(recording)
	if err != nil || !ok {
		return d, false
	}
	return r.key.describe(r.format().Name), true
}

func (k recordingKey) describe(format string) Description {
	return Description{Format: format, Stored: k.v.Size, Time: k.v.Time()}
}

// Describe returns what an archive knows of the container without opening it.
func (c Container) Describe() Description { return c.key.describe(c.Format()) }

// DescribeContainer returns what an archive knows of dir, the directory of an entry of an archive
// or an archive itself, if it is a container, and what is wrong with it. It knows nothing of a
// container that could not be read this time.
func DescribeContainer(ctx context.Context, dir nodes.Dir) (d Description, problems []formats.Problem, summed nodes.File) {
	dir, err := Current(ctx, dir)
	c, ok := ContainerOf(dir)
	if err != nil || !ok {
		return d, nil, nil
	}
	l, err := c.a.lists.Get(ctx, c.key)
	if err != nil {
		return d, nil, nil
	}
	d = c.Describe()
	d.Unended = l.Members != nil && l.Unended
	return d, l.problems, c.summed()
}
