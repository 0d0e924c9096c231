package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// A mark is there for all processes until the cache is cleared, and nearly no other number is.
func TestMarks(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	if d.Marked(1) {
		t.Error("marked before there is a directory")
	}
	for n := range uint64(1000) {
		d.Mark(n)
	}
	other := NewDisk(filepath.Dir(d.Dir()), 1<<20, nil)
	wrong := 0
	for n := range uint64(2000) {
		switch marked := other.Marked(n); {
		case n < 1000 && !marked:
			t.Fatalf("%d is not marked", n)
		case n >= 1000 && marked:
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 1000 are marked and were not", wrong)
	}
	if _, _, err := other.Clear(); err != nil || d.Marked(1) {
		t.Errorf("after all was cleared: %t, %v", d.Marked(1), err)
	}
	d.Mark(5)
	if !other.Marked(5) {
		t.Error("not marked after all was cleared")
	}
}

// What is no file of ours has no marks.
func TestMarksRefused(t *testing.T) {
	for what, put := range map[string]func(string) error{
		"a directory": func(at string) error { return os.Mkdir(at, 0o700) },
		"a link":      func(at string) error { return os.Symlink("/dev/zero", at) },
		"of others":   func(at string) error { return os.WriteFile(at, []byte{255}, 0o666) },
	} {
		d, _ := tempDisk(t, 1<<20)
		d.Save("name", []byte("data"))
		at := filepath.Join(d.Dir(), "marks")
		must(t, put(at))
		if what == "of others" {
			must(t, os.Chmod(at, 0o666))
		}
		if d.Mark(0); d.Marked(0) {
			t.Errorf("%s has marks", what)
		}
	}
}
