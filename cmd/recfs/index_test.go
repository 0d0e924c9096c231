package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	archives "recfs/formats/archive"
	"recfs/nodes"
)

// The first index is made, and told of, before the walk has found the second recording.
func TestIndexDuringWalk(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	made := make(chan string, 3)
	recording := func(name string) found {
		index := nodes.Func(func(context.Context) ([]byte, error) { made <- name; return []byte("{}"), nil })
		return found{
			name: name, isRecording: true, Description: archives.Description{Format: "f", Stored: 5},
			entry: nodes.Entry{Name: name, Dir: nodes.List(nodes.Entry{Name: "index.json", File: index})},
		}
	}
	walk := func(yield func(found) bool) {
		for i := range 3 {
			name := fmt.Sprint("r", i)
			if !yield(found{name: "file"}) || !yield(recording(name)) {
				return
			}
			select {
			case got := <-made:
				if got != name {
					t.Errorf("index of %s, want %s", got, name)
				}
			case <-ctx.Done():
				t.Error("no index is made before the walk goes on")
				return
			}
		}
	}
	var stdout, stderr bytes.Buffer
	x := &indexer{
		failures: failures{env: &env{stdout: &stdout, stderr: &stderr}}, ctx: ctx, asJSON: true,
		told: map[string]bool{}, bar: newProgress(&stderr, "indexing", -1),
	}
	x.indexAll(walk, 1)
	if x.recordings != 3 || x.total != 15 || x.n != 0 || strings.Count(stdout.String(), "\n") != 3 {
		t.Errorf("%d recordings of %d bytes, %d failed: %s%s", x.recordings, x.total, x.n, &stdout, &stderr)
	}
}

// What the walk and the indexing both cannot read is told once.
func TestIndexTellsOnce(t *testing.T) {
	var stderr bytes.Buffer
	x := &indexer{failures: failures{env: &env{stderr: &stderr}}, ctx: t.Context(), told: map[string]bool{}}
	done := make(chan bool)
	for range 2 {
		go func() { x.fail("a", errors.New("broken")); done <- true }()
	}
	<-done
	<-done
	if x.n != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("told %d times: %s", x.n, &stderr)
	}
}
