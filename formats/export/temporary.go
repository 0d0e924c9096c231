package export

import (
	"crypto/rand"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
)

// A temporary is a file that has no name for others yet. Engines pass over names that begin with a dot.
type temporary struct {
	*os.File
	name      string // that it is to have, by which errors call it
	published bool
}

// newTemporary makes a file beside name, and the directory if there is none.
func newTemporary(name string, mode iofs.FileMode) (*temporary, error) {
	dir := filepath.Dir(name)
	at := filepath.Join(dir, "."+filepath.Base(name)+"-"+rand.Text()[:8])
	create := func() (*os.File, error) { return os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode) }
	f, err := create()
	if errors.Is(err, iofs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		f, err = create()
	}
	return &temporary{File: f, name: name}, named(err, name)
}

// named returns an error of an operation on a temporary file with the name that this is to have.
func named(err error, name string) error {
	if e, ok := errors.AsType[*iofs.PathError](err); ok {
		return &iofs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &iofs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// WriteAt implements io.WriterAt.
func (t *temporary) WriteAt(b []byte, off int64) (int, error) {
	n, err := t.File.WriteAt(b, off)
	return n, named(err, t.name)
}

// publish gives the file its name, in place of what has that now.
func (t *temporary) publish() error {
	err := t.Close()
	if err == nil {
		err = os.Rename(t.Name(), t.name)
	}
	t.published = err == nil
	return named(err, t.name)
}

// discard removes the file unless it was published.
func (t *temporary) discard() {
	if !t.published {
		t.Close()
		os.Remove(t.Name())
	}
}
