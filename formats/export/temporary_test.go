package export

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsNameTheFile looks at what errors say of a file that has a temporary name: who made it never heard of that.
func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "new", "x.parquet")
	f, err := newTemporary(name, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(name, "taken"), 0o777); err != nil {
		t.Fatal(err)
	}
	wantPath(t, f.publish(), name)
	_, err = f.WriteAt([]byte("late"), 0)
	wantPath(t, err, name)
	f.discard()
	long := filepath.Join(dir, strings.Repeat("n", 250))
	_, err = newTemporary(long, 0o666)
	wantPath(t, err, long)
}

func wantPath(t *testing.T, err error, name string) {
	t.Helper()
	if e, ok := errors.AsType[*iofs.PathError](err); !ok || e.Path != name {
		t.Errorf("%v, want an error of %s", err, name)
	}
}
