package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What cannot be written leaves no half file. A link is not taken for the copy, and keeps nothing half either.
func TestHalfCopy(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"there", "linked"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("linked", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, target := range []string{"new", "there", "link"} {
		err := writeTo(root, target, 0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, "half")
			return errors.Join(err, errFull)
		})
		if !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", target, err)
		}
	}
	for _, name := range []string{"new", "there"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was left behind", name)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "linked")); err != nil || len(b) > 0 {
		t.Errorf("what the link leads to has %q, %v", b, err)
	}
}
