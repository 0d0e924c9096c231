package archive

import (
	"context"
	"errors"
	"io"
	"path"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

func (r recording) format() formats.Format { return r.a.list[r.key.format] }

// tree returns what its format makes of it.
func (r recording) tree(ctx context.Context) (nodes.Dir, error) {
	return r.a.trees.Get(ctx, r.key)
}

func (r recording) deep() bool { return true }

func (r recording) Len(ctx context.Context) (int, error) {
	d, err := r.tree(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (r recording) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i == rawIndex && !r.key.isDir() {
		return r.raw(), nil
	}
	d, err := r.tree(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := d.At(ctx, i)
	return child{top: r}.below(e), err
}

func (r recording) Find(ctx context.Context, name string) (int, error) {
	if name == rawName && !r.key.isDir() {
		return rawIndex, nil
	}
	d, err := r.tree(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

const (
	rawName = "raw"

	// rawIndex is where raw of a recording that is a file opens, which has fewer entries than that.
	// A program that reads nothing else does not wait until the recording is opened.
	rawIndex = 1 << 30
)

// raw returns the entry raw of a recording that is a file.
func (r recording) raw() nodes.Entry {
	k := r.key
	in := formats.Input{
		ReaderAt: source.NewReader(r.a.openFiles, source.FileKey{Path: k.path, Version: k.v}),
		Stored:   k.v.Size, Grows: !k.packed && grows(k.v),
	}
	return in.RawEntry()
}

var _ nodes.Grower = recording{}

// Since implements nodes.Grower.
func (r recording) Since(earlier nodes.Grower) nodes.Change {
	e, ok := earlier.(recording)
	c := changeOf(e.key.v, r.key.v)
	if !ok || c == nodes.Grown && (e.key.format != r.key.format || r.key.packed) || c == nodes.Replaced && (e.key.isDir() || r.key.isDir()) {
		return nodes.Unknown
	}
	return c
}

// stamp returns the stamp of the recording: that of a recording in segments has the stamps of all
// its files in place of an inode.
func (k recordingKey) stamp() formats.Stamp {
	s := k.v.Stamp
	if k.isDir() {
		s.Inode = k.segments.inode()
	}
	return s
}

// treeCost is what the tree of a recording counts for in the cache: what is bigger has Memos of its
// own. openCost is what a container, a compressed stream or what does not open counts for.
const (
	treeCost = 16 << 10
	openCost = 2 << 10
)

// open opens a recording. A recording that is damaged too badly is shown as raw and error.txt; the
// error is only for a source that could not be read, which may be better next time.
func (a *Archive) open(ctx context.Context, k recordingKey) (nodes.Dir, int64, error) {
	f := a.list[k.format]
	o, err := a.recordings.Get(ctx, k)
	unread := (*formats.UnreadError)(nil)
	switch {
	case err == nil:
		return o.Dir, treeCost, nil
	case ctx.Err() != nil || notSaved(err):
		return nil, 0, err
	case errors.As(err, &unread):
		return nil, 0, unread.Err
	}
	a.warn(k.path, k.v, "recording does not open", "format", f.Name, "err", err)
	src, _ := a.source(k)
	var hurt unpack.DamageFunc
	if a.wrapped(k) {
		if u, err := a.unpacked.Get(ctx, k); err == nil {
			src, hurt = u.src, u.hurt
		}
	}
	return broken(src, f.Name, openProblem(ctx, src, err, hurt)), openCost, nil
}

// notSaved reports whether err only says that what was asked for would have to be made, or with
// more memory: that is no damage, and another time it is made.
func notSaved(err error) bool {
	_, missing := errors.AsType[*cache.NotSavedError](err)
	return missing || cache.IsShort(err)
}

// openProblem returns why a source does not open. Of a source that is not read to its end, and may
// be huge, it tells the damage that is known by now.
func openProblem(ctx context.Context, src formats.Input, err error, hurt unpack.DamageFunc) formats.Problem {
	var damage []error
	if hurt != nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if src.Size == formats.UnknownSize {
			cancel()
		}
		if d, _ := hurt(ctx); d != nil {
			damage = append(damage, d)
		}
	}
	return formats.ErrorProblem(err, damage...)
}

// modified returns the time of a recording's files: for a recording in segments that of the file by
// which it is recognised.
func (a *Archive) modified(k recordingKey) time.Time {
	for f := range k.segments.all {
		if s := a.list[k.format].Segments; s != nil && f.name == s.File {
			return f.v.Time()
		}
	}
	return k.v.Time()
}

// source returns the bytes of a recording, and what watches the reads of
// them.
func (a *Archive) source(k recordingKey) (formats.Input, *readErrors) {
	w := new(readErrors)
	reader := func(name string, v source.Version) nodes.ReaderAt {
		return watchedReader{source.NewReader(a.openFiles, source.FileKey{Path: name, Version: v}), w}
	}
	src := formats.Input{
		Name: k.name, Stored: k.v.Size, Size: k.v.Size, ModTime: a.modified(k), Stamp: k.stamp(), Content: a.contentOf(k),
		Grows: !k.packed && grows(k.v), Running: k.running,
	}
	if k.isDir() {
		for s := range k.segments.all {
			src.Files = append(src.Files, formats.File{ReaderAt: reader(s.at, s.v), Name: s.name, Stamp: s.v.Stamp})
		}
		src.Beside = src.Files
		return src, w
	}
	src.ReaderAt = reader(k.path, k.v)
	src.Beside = beside{a, path.Dir(k.path), k.beside}
	return src, w
}

// A readErrors remembers that a read failed, so that damage and what is refused can be told from a
// source that cannot be read.
type readErrors struct{ err atomic.Pointer[error] }

func (w *readErrors) note(err error) {
	if err == nil || err == io.EOF || notSaved(err) || errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if _, ok := errors.AsType[*unpack.Damage](err); !ok {
		w.err.CompareAndSwap(nil, &err)
	}
}

func (w *readErrors) failure() error {
	if e := w.err.Load(); e != nil {
		return *e
	}
	return nil
}

type watchedReader struct {
	r nodes.ReaderAt
	w *readErrors
}

func (r watchedReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.r.ReadAt(ctx, p, off)
	r.w.note(err)
	return n, err
}

// A brokenDir is the tree of a recording that does not open.
type brokenDir struct {
	nodes.Dir
	problem formats.Problem
}

// broken returns the tree of a source that does not open.
func broken(src formats.Input, format string, p formats.Problem) brokenDir {
	var raw nodes.Entry
	if src.ReaderAt == nil {
		var files []nodes.Entry
		for _, f := range src.Files {
			files = append(files, nodes.Entry{Name: f.Name, Attr: nodes.Attr{Time: f.Stamp.Time()}, File: f.Node()})
		}
		raw = nodes.Entry{Name: "raw", Dir: nodes.List(files...)}
	} else {
		raw = src.RawEntry()
	}
	return brokenDir{nodes.List(raw, nodes.Entry{Name: "error.txt", File: nodes.Bytes(p.ErrorText(format))}), p}
}
