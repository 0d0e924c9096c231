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
	published bool
}

// newTemporary makes a file beside name, and the directory if there is none.
func newTemporary(name string, mode iofs.FileMode) (*temporary, error) {
	dir := filepath.Dir(name)
	at := filepath.Join(dir, "."+filepath.Base(name)+"-"+rand.Text()[:8])
	create := func() (*os.File, error) { return os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode) }
	f, err := create()
	if errors.Is(err, iofs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o777); err == nil {
			f, err = create()
		}
	}
	return &temporary{File: f}, err
}

// publish gives the file its name, in place of what has that now.
func (t *temporary) publish(name string) error {
	err := t.Close()
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	t.published = err == nil
	return err
}

// discard removes the file unless it was published.
func (t *temporary) discard() {
	if !t.published {
		t.Close()
		os.Remove(t.Name())
	}
}
