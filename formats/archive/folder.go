package archive

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A place is a directory of the source by its path, which is free of symbolic links.
type place struct {
	a    *Archive
	path string
}

// Resolve returns the names as they are now.
func (p place) Resolve(ctx context.Context) (nodes.Dir, error) {
	l, err := p.a.pages(ctx, p.path)
	if err != nil {
		return nil, err
	}
	return snapshot{p, l}, nil
}

// dir returns the directory at a path. It is a value, so that two look-ups give equal ones, which
// is how fs knows that its node may stay. That of a container never changes.
func (a *Archive) dir(at string) nodes.Dir {
	d := nodes.Deferred[place]{Target: place{a, at}}
	if a.container != nil {
		return d
	}
	return folder{d}
}

// A folder is a directory of the source outside of containers.
type folder struct{ nodes.Deferred[place] }

// Lookup returns the entry of that name as it is now.
func (d folder) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == ".." || name == "" || strings.Contains(name, "/") {
		return nodes.Entry{}, nodes.NotExist("lookup", name)
	}
	e, err := d.Target.a.lookup(ctx, path.Join(d.Target.path, name), name)
	if err == nil {
		d.Target.a.hold(ctx, e)
	}
	return e, err
}

// Snapshot returns the names as they are now.
func (d folder) Snapshot(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }

// hold keeps the file of an entry open for a moment. Most of the time a file that was looked up is
// read next, and then what the look-up saw is read even if another file has taken its place.
func (a *Archive) hold(ctx context.Context, e nodes.Entry) {
	switch dir := e.Dir.(type) {
	case recording:
		if !dir.key.isDir() {
			a.openFiles.Hold(ctx, source.FileKey{Path: dir.key.path, Version: dir.key.v})
		}
	case containerDir:
		k := dir.Target.key
		a.openFiles.Hold(ctx, source.FileKey{Path: k.path, Version: k.v})
	}
	if f, ok := e.File.(plainFile); ok {
		a.openFiles.Hold(ctx, f.key)
	}
}

// linkEntry returns the entry of a symbolic link.
func (a *Archive) linkEntry(ctx context.Context, link, name string, info source.Info) (nodes.Entry, error) {
	target, err := a.tree.ReadLink(ctx, link)
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Entry{Name: name, Attr: attrOf(info), Link: a.shownTarget(ctx, path.Dir(link), target)}, nil
}

// A snapshot is the names of a directory at one moment.
type snapshot struct {
	d place
	l source.Names
}

func (s snapshot) Len(ctx context.Context) (int, error) { return s.LenTo(ctx, math.MaxInt) }

// LenTo implements nodes.Paged.
func (s snapshot) LenTo(ctx context.Context, n int) (int, error) {
	if p, ok := s.l.(source.Pages); ok {
		if err := p.Reach(ctx, n); err != nil {
			return 0, err
		}
	}
	return s.l.Len(), nil
}

func (s snapshot) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= s.l.Len() {
		return nodes.Entry{}, nodes.NotExist("lookup", "")
	}
	name, _ := s.l.At(i)
	at := path.Join(s.d.path, name)
	var e nodes.Entry
	var err error
	if info, ok := s.l.Info(i); ok {
		e, err = s.d.a.entry(ctx, at, name, info)
	} else {
		e, err = s.d.a.lookup(ctx, at, name)
	}
	if err != nil {
		e.Name = name
	}
	return e, err
}

var (
	_ nodes.Namer = snapshot{}
	_ nodes.Paged = snapshot{}
)

// AppendName implements nodes.Namer: it looks at a file only if neither its
// name nor the directory says what it is shown as.
func (s snapshot) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i < 0 || i >= s.l.Len() {
		return b, 0, nodes.NotExist("lookup", "")
	}
	name, typ := s.l.At(i)
	mode, ok := s.d.a.typeByName(name, typ)
	if !ok {
		e, err := s.At(ctx, i)
		if err != nil && !isPassing(err) {
			return b, 0, err
		}
		mode = 0
		if e.Dir != nil {
			mode = e.Type()
		}
	}
	return append(b, name...), mode, nil
}

// typeByName tells what an entry of a type is shown as, if that takes no look at it.
func (a *Archive) typeByName(name string, typ iofs.FileMode) (mode iofs.FileMode, ok bool) {
	if typ != 0 {
		return typ, true
	}
	switch n := a.naming(name); {
	case n.format != noFormat:
		return iofs.ModeDir, a.list[n.format].MatchNamed == nil
	case n.container != nil:
		return iofs.ModeDir, !a.opt.Sniff
	}
	return 0, !a.opt.Sniff
}

func (s snapshot) Find(ctx context.Context, name string) (int, error) {
	if _, err := s.Len(ctx); err != nil {
		return 0, err
	}
	i, ok := s.l.Find(name)
	if !ok {
		return 0, nodes.NotExist("lookup", name)
	}
	return i, nil
}

// lookup returns the entry of what lies at a path now, under name.
func (a *Archive) lookup(ctx context.Context, at, name string) (nodes.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Entry{}, err
	}
	info, err := a.tree.Stat(ctx, at)
	if err != nil {
		return nodes.Entry{}, err
	}
	return a.entry(ctx, at, name, info)
}

// entry returns the entry of what lies at a path under name, which info describes. Most of what can
// fail becomes an entry that tells of it when it is read; but what was not found out because ctx
// ended, or for another passing reason, decides nothing.
func (a *Archive) entry(ctx context.Context, at, name string, info source.Info) (e nodes.Entry, err error) {
	switch info.Type {
	case iofs.ModeDir:
		e = a.dirEntry(ctx, at, name, info)
	case iofs.ModeSymlink:
		e, err = a.linkEntry(ctx, at, name, info)
	case 0:
		if e, err = a.File(ctx, at, info); !isPassing(err) {
			err = nil
		}
	default:
		err = nodes.NotExist("lookup", name) // sockets, devices and fifos are not shown
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nodes.Entry{}, err
	}
	return e, nil
}

// isPassing reports whether an error says something of this machine at this moment, and nothing of
// a file.
func isPassing(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return nodes.IsOfServer(err) || ok && slices.Contains([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO}, errno)
}

// dirEntry returns the entry of a directory: a folder, or a recording in
// segments.
func (a *Archive) dirEntry(ctx context.Context, dir, name string, info source.Info) nodes.Entry {
	e := nodes.Entry{Name: name, Attr: attrOf(info), Dir: a.dir(dir)}
	format := a.dirFormat(ctx, dir)
	if format == noFormat {
		return e
	}
	l, err := a.Names(ctx, dir)
	if err != nil {
		return e // to list it will give the error
	}
	files, v, rights := a.segments(ctx, dir, l, info)
	if !a.matchDir(ctx, format, files) {
		return e
	}
	if at := a.tree.ID(); name == "." && at != "" {
		name = path.Base(at)
	}
	e.Dir = recording{a, recordingKey{path: dir, name: name, v: v, format: format, segments: newSegments(files)}}
	e.Rights, e.DirSize, e.Time = rights.Searchable(), v.Size, v.Time()
	return e
}

// dirFormat returns the index of the format whose recording a directory may
// be, or noFormat. The directory, which may be large, is not read for it.
func (a *Archive) dirFormat(ctx context.Context, dir string) int {
	return slices.IndexFunc(a.list, func(f formats.Format) bool {
		if f.Segments == nil {
			return false
		}
		info, err := a.tree.Stat(ctx, path.Join(dir, f.Segments.File))
		return err == nil && (info.Type == 0 || info.Type == iofs.ModeSymlink)
	})
}

// matchDir tells whether a directory with the files of a recording of a format
// is one. A file that cannot be read is an error of the recording.
func (a *Archive) matchDir(ctx context.Context, format int, files []segment) bool {
	f := a.list[format].Segments
	i := slices.IndexFunc(files, func(s segment) bool { return s.name == f.File })
	if f.Match == nil || i < 0 {
		return true
	}
	head, err := a.head(ctx, source.FileKey{Path: files[i].at, Version: files[i].v}, formats.HeadSize)
	return err != nil || f.Match(head, func(yield func(string) bool) {
		for _, s := range files {
			if !yield(s.name) {
				return
			}
		}
	})
}

// File returns the entry of the regular file that info describes: a recording, a container or the
// file itself. With an error, which says that it is not known what the file is, there is one, too.
func (a *Archive) File(ctx context.Context, at string, info source.Info) (nodes.Entry, error) {
	file, name := source.FileKey{Path: at, Version: info.Version}, path.Base(at)
	e := nodes.Entry{Name: name, Attr: attrOf(info)}
	n := a.naming(name)
	k, err := a.kind(ctx, file, n)
	switch {
	case k.recording:
		var beside nodes.Rights // that what lies beside it must allow; unknown ones allow everything
		if a.opt.Shared {
			beside = e.Rights
			beside.Mode &= 0o444
		}
		e.Dir = recording{a, recordingKey{
			path: at, name: name, v: info.Version, format: k.format, packed: k.packed,
			running: a.opt.Follow && a.list[k.format].HoldsBack && !k.packed && a.running(at, info.Version),
			beside:  beside,
		}}
		e.DirSize = info.Version.Size
	case n.container != nil:
		k := recordingKey{path: at, name: name, v: info.Version, format: noFormat, kind: n.container, packed: n.packed}
		e.Dir = containerDir{nodes.Deferred[Container]{Target: Container{a, k}}}
	default:
		e.File = plainFile{a.openFiles, file}
		if err != nil {
			e.File = unknownFile{plainFile{a.openFiles, file}, a, n}
		}
		e.Grows = grows(info.Version)
		return e, err
	}
	e.Rights = e.Rights.Searchable()
	return e, err
}

// An unknownFile is a file that may be a recording: its first bytes, which would tell, could not be
// read.
type unknownFile struct {
	plainFile
	a      *Archive
	naming naming
}

// settled is how old the last change of a directory must be before its
// listing is remembered: a change right after it may leave the same time.
const settled = 2 * time.Second

// Settled reports whether the last change of a directory is so old that another one would leave
// another time.
func Settled(dir source.Info) bool { return time.Since(dir.Time()) >= settled }

// quiet reports whether what is learnt of a directory may be remembered for its version.
func quiet(dir source.Info) bool {
	return !dir.Time().IsZero() && Settled(dir)
}

// pages returns the names in a directory, which may come page by page.
func (a *Archive) pages(ctx context.Context, name string) (source.Names, error) {
	w, ok := a.tree.(source.Walker)
	if !ok {
		return a.Names(ctx, name)
	}
	if _, err := a.directory(ctx, name); err != nil {
		return nil, err
	}
	return w.Pages(ctx, name)
}

// Names returns the sorted names in a directory.
func (a *Archive) Names(ctx context.Context, name string) (source.Names, error) {
	if a.depth > 0 { // a container has its list by heart, and does not change
		return a.tree.List(ctx, name)
	}
	info, err := a.directory(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.Fixed || !quiet(info) {
		return a.tree.List(ctx, name)
	}
	return a.listings.Get(ctx, listingKey{name, info.Version})
}

// directory returns what the tree tells of a directory, which is still there.
func (a *Archive) directory(ctx context.Context, name string) (source.Info, error) {
	info, err := a.tree.Stat(ctx, name)
	if err == nil && info.Type != iofs.ModeDir {
		err = source.Stale(name)
	}
	return info, err
}

// loadListing reads a directory for the Memo, which counts the bytes of all names.
func (a *Archive) loadListing(ctx context.Context, k listingKey) (source.Names, int64, error) {
	l, err := a.tree.List(ctx, k.path)
	if err != nil {
		return nil, 0, err
	}
	return l, l.Cost() + int64(len(k.path)+128), ctx.Err()
}
