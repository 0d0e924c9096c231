package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/formats/export"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// The first index is made, and told of, before the walk has found the second recording.
func TestIndexDuringWalk(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), nodestest.Hang)
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
	x := newIndexer(&env{stdout: &stdout, stderr: &stderr}, &archive{}, nil)
	x.full, x.asJSON, x.jobs = true, true, 1
	x.indexAll(ctx, walk)
	if done := x.meter.done; done != (amount{3, 15}) || x.failures != 0 || strings.Count(stdout.String(), "\n") != 3 {
		t.Errorf("%v done, %d failed: %s%s", done, x.failures, &stdout, &stderr)
	}
}

// What the walk and the indexing both cannot read is told once.
func TestIndexTellsOnce(t *testing.T) {
	var stderr bytes.Buffer
	x := newIndexer(&env{stderr: &stderr}, nil, nil)
	done := make(chan bool)
	for range 2 {
		go func() { x.fail("a", errors.New("broken")); done <- true }()
	}
	<-done
	<-done
	if x.failures != 1 || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("told %d times: %s", x.failures, &stderr)
	}
}

// An interrupted command says what was done, not what was found.
func TestInterruptedIndex(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	recording := func(index nodes.File) found {
		return found{
			name: "r", isRecording: true, Description: archives.Description{Format: "f", Stored: 5},
			entry: nodes.Entry{Name: "r", Dir: nodes.List(nodes.Entry{Name: "index.json", File: index})},
		}
	}
	whole := nodes.Bytes([]byte("{}"))
	long := nodes.Func(func(ctx context.Context) ([]byte, error) {
		interrupt()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	walk := func(yield func(found) bool) {
		for _, file := range []nodes.File{whole, whole, long, whole, whole} {
			if !yield(recording(file)) {
				return
			}
		}
	}
	x := newIndexer(&env{stdout: io.Discard, stderr: io.Discard, jobs: 1}, nil, nil)
	x.indexAll(ctx, walk)
	if far := x.meter.far(); far != "2 recordings" {
		t.Errorf("%s are done", far)
	}
}

// TestIndexShards takes a recording for the same part of a source, however that is called.
func TestIndexShards(t *testing.T) {
	for i := range 32 {
		name := fmt.Sprint(i)
		want := export.Shard{I: 1, N: 2}.Has(name)
		for _, arg := range []string{"days", "days/", "./days", "days/../days", "/days"} {
			x := &indexer{shard: export.Shard{I: 1, N: 2}, args: []string{"else", arg}}
			if x.ours(found{name: cleanName(arg) + "/" + name}) != want {
				t.Errorf("%s in %s is of another shard", name, arg)
			}
		}
	}
}

// A drawnFile has a size only once it was asked for.
type drawnFile struct {
	asked *bool
	err   error
}

func (f drawnFile) Size(context.Context) (int64, error) { *f.asked = true; return 1, f.err }
func (f drawnFile) Open(context.Context) (nodes.Content, error) {
	return nodes.BytesContent([]byte{1}), f.err
}
func (f drawnFile) IsMeasured(context.Context) bool { return *f.asked }

// The pictures of a map and of its layers are drawn, those after a damaged one, too.
func TestIndexDrawsPictures(t *testing.T) {
	var asked [3]bool
	damage := formats.Corrupt("f", 0, "damaged")
	tree := nodes.List(
		nodes.Entry{Name: "collision.png", File: drawnFile{&asked[0], damage}},
		nodes.Entry{Name: "layers", Dir: nodes.List(nodes.Entry{Name: "game.png", File: drawnFile{&asked[1], nil}})},
		nodes.Entry{Name: "preview.png", File: drawnFile{&asked[2], nil}},
	)
	if err := new(indexer).measure(t.Context(), found{entry: nodes.Entry{Name: "x.map", Dir: tree}}); err != nil || asked != [3]bool{true, true, true} {
		t.Errorf("%v, drawn: %v", err, asked)
	}
	failed := errors.New("disk failure")
	tree = nodes.List(nodes.Entry{Name: "preview.png", File: drawnFile{&asked[0], failed}})
	if err := new(indexer).measure(t.Context(), found{entry: nodes.Entry{Dir: tree}}); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
}
