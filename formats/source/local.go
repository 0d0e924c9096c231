package source

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"recfs/nodes"
)

// A Local is the Tree of a directory of this machine. Nothing outside of
// it can be opened, whatever its symbolic links say, and unlike os.DirFS it
// has the names that are not UTF-8, too.
type Local struct {
	at   atomic.Pointer[directory]
	path string // absolute, without symbolic links
	name string // absolute, as it was given
}

// A directory is an opened one.
type directory struct {
	root *os.Root
	dir  *os.File // the same
}

func openDirectory(path string) (*directory, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &directory{root, dir}, nil
}

func (d *directory) close() error { return errors.Join(d.dir.Close(), d.root.Close()) }

// OpenLocal returns the directory at path.
func OpenLocal(path string) (*Local, error) {
	name, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	d, err := openDirectory(abs)
	if err != nil {
		return nil, err
	}
	l := &Local{path: abs, name: name}
	l.at.Store(d)
	return l, nil
}

// Close lets go of the directory.
func (l *Local) Close() error { return l.at.Load().close() }

// renewed reports whether old was removed and another directory stands at its path, which counts
// from now on. One that was renamed stays, and so does one whose path has a symbolic link in it by
// now: that could lead anywhere.
func (l *Local) renewed(old *directory) bool {
	info, err := stat(old.dir)
	if err == nil && info.Links > 0 || err != nil && !errors.Is(err, syscall.ESTALE) { // a server tells so; else it was closed
		return false
	}
	if abs, err := filepath.EvalSymlinks(l.path); err != nil || abs != l.path {
		return false
	}
	d, err := openDirectory(l.path)
	if err != nil {
		return false
	}
	// Others may be using old, so it is closed when nobody has it any more.
	if !l.at.CompareAndSwap(old, d) {
		d.close()
	}
	return true
}

// Path returns where the directory lay when it was opened.
func (l *Local) Path() string { return l.path }

// Inside returns the rest of a slash-separated absolute path that begins with
// the path of the directory, or with the name by which it was opened.
func (l *Local) Inside(abs string) (string, bool) {
	for _, dir := range []string{l.path, l.name} {
		if rest, ok := cutPath(abs, filepath.ToSlash(dir)); ok {
			return rest, true
		}
	}
	return "", false
}

// cutPath returns abs without the names of dir at its beginning, relative.
func cutPath(abs, dir string) (string, bool) {
	for part := range strings.FieldsFuncSeq(dir, func(r rune) bool { return r == '/' }) {
		abs = skipDots(abs)
		var first string
		if first, abs, _ = strings.Cut(abs, "/"); first != part {
			return "", false
		}
	}
	return skipDots(abs), true
}

// skipDots returns a path without what leads nowhere at its beginning.
func skipDots(name string) string {
	for {
		name = strings.TrimLeft(name, "/")
		rest, ok := strings.CutPrefix(name, "./")
		if !ok {
			return name
		}
		name = rest
	}
}

// ID implements Tree.
func (l *Local) ID() string { return filepath.ToSlash(l.path) }

// Stat implements Tree.
func (l *Local) Stat(_ context.Context, name string) (Info, error) {
	d := l.at.Load()
	info, err := d.stat(name)
	if (err != nil || name == "." && info.Links == 0) && l.renewed(d) {
		return l.at.Load().stat(name)
	}
	return info, err
}

// Open implements Tree. No symbolic link leads to the file. It does not wait for the other end of a
// fifo.
func (l *Local) Open(_ context.Context, name string) (File, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	return localFile{nodes.Unbound(f), f}, nil
}

// open opens a file or a directory.
func (l *Local) open(name string) (*os.File, error) {
	d := l.at.Load()
	f, err := d.open(name)
	if err != nil && l.renewed(d) {
		return l.at.Load().open(name)
	}
	return f, err
}

// List implements Tree.
func (l *Local) List(ctx context.Context, name string) (Names, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readNames(ctx, f)
}

// ReadLink implements Tree.
func (l *Local) ReadLink(_ context.Context, name string) (string, error) {
	target, err := l.at.Load().root.Readlink(name)
	return filepath.ToSlash(target), err
}

var _ Tree = (*Local)(nil)

// A localFile is an opened file of this machine.
type localFile struct {
	nodes.ReaderAt
	f *os.File
}

func (f localFile) Info(context.Context) (Info, error) { return stat(f.f) }

func (f localFile) Close() error { return f.f.Close() }
