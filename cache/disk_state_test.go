package cache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// age makes the directories of d look as if nothing was saved for that long.
func age(t *testing.T, d *Disk, by time.Duration) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(d.Dir(), "??"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		then := time.Now().Add(-by)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiskState(t *testing.T) {
	d, _ := tempDisk(t, 1<<20)
	changed := func(what string, want bool, do func()) {
		t.Helper()
		before := d.State()
		if d.State() != before {
			t.Errorf("before %s: another state without a change", what)
		}
		do()
		if got := d.State() != before; got != want {
			t.Errorf("%s: another state: %v, want %v", what, got, want)
		}
	}
	save := func(name string) func() {
		return func() { NewDisk(filepath.Dir(d.Dir()), 1<<20, nil).Save(name, []byte("x")) }
	}
	changed("nothing", false, func() {})
	changed("the first save", true, save("a"))
	changed("another save at once", true, save("b"))
	changed("a load", false, func() { d.Load(t.Context(), "a") })
	age(t, d, time.Hour)
	changed("a save later", true, save("c"))
	age(t, d, time.Hour)
	changed("the same save later", true, save("c"))
}
