package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/source"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestCharges opens and reads many recordings of each format, view by view, and compares how the
// heap grows with what the values of the cache count for: if many small values count for less than
// they take, the heap outgrows the budget.
func TestCharges(t *testing.T) {
	nodestest.Long(t)
	for _, sample := range []string{
		"butter/arena_v3early_none.butter", "datafile/maps/new.map", "datafile/maps/old.map",
		"hcrp/tiny.hcrp", "hcrp/bad/flipped-byte.hcrp", "nethack/timezone.nhgame", "teehistorian/reload-20.1.teehistorian",
	} {
		t.Run(path.Base(sample), func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join(samples, sample))
			if err != nil {
				t.Fatal(err)
			}
			testCharges(t, b, path.Ext(sample))
		})
	}
}

// testCharges tests with a file, many times.
func testCharges(t *testing.T, b []byte, ext string) {
	const copies = 30
	dir, atRest := t.TempDir(), time.Now().Add(-time.Hour)
	name := func(i int) string { return fmt.Sprintf("%03d%s", i, ext) }
	for i := range copies + 1 {
		file := filepath.Join(dir, name(i))
		if err := errors.Join(os.WriteFile(file, b, 0o600), os.Chtimes(file, atRest, atRest)); err != nil {
			t.Fatal(err)
		}
	}
	local, err := source.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	c, root := openCached(t, local, 1<<30)
	views := readViews(t, root, name(copies), "") // what all share is there from now on
	heap, charged := inUse(c)
	for _, view := range append([]string{"."}, views...) {
		for i := range copies {
			readViews(t, root, name(i), view)
		}
		h, n := inUse(c)
		takes, counts := (h-heap)/copies, (n-charged)/copies
		t.Logf("%-16s takes %6d, counts for %6d", view, takes, counts)
		if takes > counts+max(counts/12, 640) { // the heap rounds sizes, and maps grow at once
			t.Errorf("%s takes %d bytes, but counts for %d", view, takes, counts)
		}
		heap, charged = h, n
	}
}

// inUse returns how large the heap is, and what the values of a cache count for.
func inUse(c *cache.Cache) (heap, charged int64) {
	runtime.GC()
	runtime.GC() // the first one leaves the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	work, _ := c.Work()
	return int64(m.HeapAlloc), c.Stats().Bytes + work
}

// readViews opens a recording and reads the beginning of a view of it, or of each: it returns their
// names.
func readViews(t *testing.T, root nodes.Dir, name, view string) (views []string) {
	e, err := nodes.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range nodes.Entries(t.Context(), e) {
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, e.Name)
		left := 40
		if view == "" || view == e.Name {
			err = nodes.Walk(t.Context(), nodes.List(e), func(_ string, e nodes.Entry, err error) error {
				if e.File != nil && err == nil {
					_, _ = readFile(t.Context(), e.File, 64<<10) // may be damaged
					left--
				}
				if left < 0 {
					return errEnough
				}
				return nil
			})
		}
		if err != nil && err != errEnough {
			t.Fatal(err)
		}
	}
	return views
}
