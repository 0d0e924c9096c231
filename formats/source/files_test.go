package source

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	local, err := OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	h := NewFiles(local, nil)
	for i := range 3 * maxFiles {
		name := strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := local.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4)
		if n, err := NewReader(h, FileKey{name, info.Version}).ReadAt(t.Context(), b, 0); n != len(b) || string(b) != "text" {
			t.Fatalf("%s: %q, %v", name, b[:n], err)
		}
	}
	if n := h.open.Len(); n != maxFiles {
		t.Errorf("%d files are open", n)
	}
	h.Close()
	if n := h.open.Len(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}
