package source

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Local is a directory of this machine as an io/fs.FS. Nothing outside of
// it can be opened, whatever its symbolic links say, and unlike os.DirFS it
// has the names that are not UTF-8, too.
type Local struct {
	root *os.Root
	dir  *os.File // the same directory
	path string   // absolute, without symbolic links
	name string   // absolute, as it was given
}

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
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	dir, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Local{root, dir, abs, name}, nil
}

// Close lets go of the directory.
func (l *Local) Close() error { return errors.Join(l.dir.Close(), l.root.Close()) }

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

// Open opens a file or a directory to which no symbolic link leads. It does not
// wait for the other end of a fifo.
func (l *Local) Open(name string) (iofs.File, error) {
	f, err := l.open(name)
	if err != nil {
		return nil, err
	}
	return wrapFile(f), nil
}

// ReadLink returns the target of a symbolic link.
func (l *Local) ReadLink(name string) (string, error) { return l.root.Readlink(name) }

var _ iofs.ReadLinkFS = (*Local)(nil)

// ReadDir calls each for every name in a directory, in no order, without
// holding them all.
func ReadDir(fsys iofs.FS, name string, each func(iofs.DirEntry)) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dir, ok := f.(iofs.ReadDirFile)
	if !ok {
		return &iofs.PathError{Op: "readdir", Path: name, Err: iofs.ErrInvalid}
	}
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			each(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
