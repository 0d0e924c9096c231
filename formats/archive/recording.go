package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// A recording is the tree of one version of a recording, opened when it is
// looked into. It is a value, equal to another of the same version.
type recording struct {
	a   *archive
	key recordingKey
}

type recordingKey struct {
	path, name string // in fsys; as shown
	v          source.Version
	format     int
	packed     bool
	distrust   bool         // do not believe its seek table
	segments   string       // the files of a directory, see segments
	beside     nodes.Rights // see archive.beside
}

func (r recording) Len(ctx context.Context) (int, error) {
	d, err := r.a.trees.Get(ctx, r.key)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (r recording) At(ctx context.Context, i int) (nodes.Entry, error) {
	d, err := r.a.trees.Get(ctx, r.key)
	if err != nil {
		return nodes.Entry{}, err
	}
	e, err := d.At(ctx, i)
	if err == nil && e.Name == "index.json" && e.File != nil && r.a.opt.Indexed != nil {
		e.File = indexFile{e.File, r}
	}
	return e, err
}

func (r recording) Find(ctx context.Context, name string) (int, error) {
	d, err := r.a.trees.Get(ctx, r.key)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

// stamp returns the stamp of the recording: that of one in segments has those
// of all its files in place of an inode.
func (k recordingKey) stamp() formats.Stamp {
	s := k.v.Stamp
	if k.segments == "" {
		return s
	}
	var b []byte
	for _, f := range parseSegments(k.segments) {
		b = append(b, f.name...)
		b = f.v.Append(append(b, 0))
	}
	s.Inode = xxhash.Sum64(b)
	return s
}

// noFormat is the format of a container, and of a directory that is none.
const noFormat = -1

// treeCost is what an opened recording counts for in the cache: its header
// and tables. What is bigger, its format keeps in Memos of its own.
const treeCost = 16 << 10

// packedCost is that of one under outer compression, which may hold a file
// open.
const packedCost = 256 << 10

// open opens a recording. One that is damaged too badly is shown as raw and
// error.txt; the error is only for a source that could not be read, which
// may be better next time.
func (a *archive) open(ctx context.Context, k recordingKey, c *cache.Cache) (nodes.Dir, int64, error) {
	f := a.list[k.format]
	src, reads := a.source(k)
	cost := int64(treeCost)
	var hurt unpack.DamageFunc
	var err error
	if k.packed {
		cost = packedCost
		hurt, err = a.decompress(ctx, k, &src, reads)
	}
	var dir nodes.Dir
	if err == nil {
		dir, err = a.openFormat(ctx, f, src, c)
	}
	switch {
	case err == nil && k.packed:
		return &damagedTree{dir, hurt}, cost, nil
	case err == nil:
		return dir, cost, nil
	case ctx.Err() != nil || notSaved(err):
		return nil, 0, err
	case reads.failure() != nil:
		return nil, 0, reads.failure()
	}
	a.warn(k.path, k.v, "recording does not open", "format", f.Name, "err", err)
	return broken(src, a.errorText(ctx, src, f.Name, err, hurt)), cost, nil
}

// notSaved reports whether err only says that what was asked for would have to be made: that is no
// damage, and another time it is made.
func notSaved(err error) bool {
	missing := (*cache.NotSavedError)(nil)
	return errors.As(err, &missing)
}

// errorText returns the content of error.txt. Of a source that is not read to its end, and may be huge,
// it tells the damage that is known by now.
func (a *archive) errorText(ctx context.Context, src formats.Input, format string, err error, hurt unpack.DamageFunc) []byte {
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
	return formats.ErrorText(format, err, damage...)
}

// decompress completes the Input of a compressed recording. It returns what
// tells of damage of the stream, which may read it to its end.
func (a *archive) decompress(ctx context.Context, k recordingKey, src *formats.Input, w *readErrors) (unpack.DamageFunc, error) {
	file := source.FileKey{Path: k.path, Version: k.v}
	raw := watchedReader{source.NewReader(a.openFiles, k.path, k.v), w}
	src.Raw = raw
	c, err := a.unpack.Open(ctx, file, raw, unpack.Choice{
		Streams: k.format != noFormat && a.list[k.format].Streams, Distrust: k.distrust,
	})
	if failed := (*unpack.ReadError)(nil); errors.As(err, &failed) {
		w.note(failed.Err)
	}
	if c.ReaderAt != nil {
		src.ReaderAt, src.Size, src.Measure = watchedReader{c, w}, c.Size, c.Measure
	}
	return c.Damage, err
}

// openFormat is the Open of a format that does not panic.
func (a *archive) openFormat(ctx context.Context, f formats.Format, src formats.Input, c *cache.Cache) (dir nodes.Dir, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.log.Error("panic", "path", src.Name, "format", f.Name, "err", p, "stack", string(debug.Stack()))
			err = &formats.Error{Format: f.Name, Offset: 0, Err: fmt.Errorf("internal error: %v", p)}
		}
	}()
	return f.Open(ctx, src, c)
}

// source returns the bytes of a recording, and what watches the reads of
// them.
func (a *archive) source(k recordingKey) (formats.Input, *readErrors) {
	w := new(readErrors)
	reader := func(name string, v source.Version) nodes.ReaderAt {
		return watchedReader{source.NewReader(a.openFiles, name, v), w}
	}
	src := formats.Input{Name: k.name, Stored: k.v.Size, Size: k.v.Size, ModTime: k.v.Time(), Stamp: k.stamp(), ID: a.sourceID(k.path)}
	if k.segments != "" {
		src.FS = newSegmentFS(k, reader)
		return src, w
	}
	src.ReaderAt = reader(k.path, k.v)
	src.FS = subFS{a, path.Dir(k.path), k.beside}
	return src, w
}

// A readErrors remembers that a read failed, so that damage can be told from a
// source that cannot be read.
type readErrors struct{ err atomic.Pointer[error] }

func (w *readErrors) note(err error) {
	if err != nil && err != io.EOF {
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

// broken returns the tree of a recording that does not open.
func broken(src formats.Input, text []byte) nodes.Dir {
	raw := nodes.Entry{Name: "raw"}
	if files, ok := src.FS.(*segmentFS); ok {
		raw.Dir = files.raw()
	} else {
		raw.File = src.RawFile()
	}
	return nodes.List(raw, nodes.Entry{Name: "error.txt", File: nodes.Bytes(text)})
}

// beside returns the rights that what lies beside a recording must allow; unknown
// ones allow everything.
func (a *archive) beside(r nodes.Rights) nodes.Rights {
	if !a.opt.Shared {
		return nodes.Rights{}
	}
	r.Mode &= 0o444
	return r
}

// subFS is a directory of a file system, with all its names, for those who have
// certain rights.
type subFS struct {
	a      *archive
	dir    string
	rights nodes.Rights
}

func (s subFS) Open(name string) (iofs.File, error) {
	if name != "." && !validName(name) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	rights := s.rights
	at, info, err := s.a.resolve(s.dir, name, func(dir iofs.FileInfo) { rights = limitedBy(rights, dir) })
	if err != nil {
		return nil, err
	}
	if limited(rights, source.RightsOf(info)) != s.rights {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	f, err := s.a.fsys.Open(at)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || now.Mode().IsRegular() && !source.VersionOf(info).SameFile(now) {
		f.Close()
		return nil, cmp.Or(err, source.Stale(at))
	}
	return f, nil
}

// validName is iofs.ValidPath without asking for UTF-8.
func validName(name string) bool { return iofs.ValidPath(strings.ToValidUTF8(name, "_")) }
