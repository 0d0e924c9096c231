//go:build linux

package main

import (
	"os"
	"testing"
	"time"

	"recfs/bench/internal/harness"
)

// TestRest is a short stress.
func TestRest(t *testing.T) {
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skip(err)
	} else {
		f.Close()
	}
	t.Chdir("../..")
	*duration, *round, *copies = 3*time.Second, 2*time.Second, 2
	*source = "testdata/archive/nethack"
	dir := t.TempDir()
	recfs, err := harness.Recfs(t.Context(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), dir, recfs); err != nil {
		t.Error(err)
	}
}
