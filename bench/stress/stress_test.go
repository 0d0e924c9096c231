//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"recfs/bench/internal/harness"
	"recfs/nodes/nodestest"
)

func samplesOf(t *testing.T) []sample {
	t.Helper()
	all, err := readSamples("../../testdata/archive")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSeed makes the same inputs of the same seed, and others of another.
func TestSeed(t *testing.T) {
	samples := samplesOf(t)
	made := map[string]bool{}
	seeds := nodestest.Times(20, 6)
	for seed := range uint64(seeds) {
		var twice [2][]byte
		for i := range twice {
			m := &mutator{Rand: newRand(seed, 0), others: [][]byte{samples[0].content}}
			twice[i] = m.mutate(samples[seed%uint64(len(samples))].content)
		}
		if !bytes.Equal(twice[0], twice[1]) {
			t.Errorf("seed %d makes two inputs", seed)
		}
		key := fmt.Sprint(seed%uint64(len(samples)), string(twice[0]))
		made[key] = true
	}
	if len(made) < seeds-2 {
		t.Errorf("%d seeds make %d inputs", seeds, len(made))
	}
}

func TestPanicked(t *testing.T) {
	for text, want := range map[string]bool{
		"":                               false,
		"recfs: a.map: 3 problems\n":     false,
		"panic: runtime error\n\nmore\n": true,
		"level=ERROR msg=panic err=x\n":  true,
		"reason: internal error: x\n":    true,
	} {
		if got := panicked([]byte(text)) != ""; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestUse is a short use.
func TestUse(t *testing.T) {
	nodestest.Long(t)
	f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	f.Close()
	t.Chdir("../..")
	*duration, *copies, *source = 2*time.Second, 2, "testdata/archive/nethack"
	dir := t.TempDir()
	recfs, err := harness.Recfs(t.Context(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := use(t.Context(), dir, recfs); err != nil {
		t.Error(err)
	}
}
