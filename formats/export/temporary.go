package export

import (
	"crypto/rand"
	iofs "io/fs"
	"os"
	"path/filepath"
)

// A temporary is a file that has no name for others yet. Engines pass over names that begin with a dot.
type temporary struct{ *os.File }

// newTemporary makes a file beside name.
func newTemporary(name string, mode iofs.FileMode) (temporary, error) {
	at := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"-"+rand.Text()[:8])
	f, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	return temporary{f}, err
}

// publish gives the file its name, in place of what has that now.
func (t temporary) publish(name string) error {
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), name)
}

// discard removes the file unless it was published.
func (t temporary) discard() {
	t.Close()
	os.Remove(t.Name())
}
