//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// The process of the test is a process.
func TestProcess(t *testing.T) {
	p := Process(os.Getpid())
	if n, err := p.Number("status", "VmRSS"); n < 1000 || err != nil {
		t.Errorf("%d KiB resident, %v", n, err)
	}
	if n, err := p.Number("status", "NoSuch"); err == nil {
		t.Errorf("a number of a key that is not there: %d", n)
	}
	if n, err := p.Files(); n < 3 || err != nil {
		t.Errorf("%d descriptors, %v", n, err)
	}
	if d, err := p.CPU(); d < 0 || err != nil {
		t.Errorf("%v of processor time, %v", d, err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 1<<20+5), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := ReadFile(name); n != 1<<20+5 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := ReadFile(name + "x"); err == nil {
		t.Error("a file that is not there can be read")
	}
}
