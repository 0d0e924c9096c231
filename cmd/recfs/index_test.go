package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"recfs/formats"
	archives "recfs/formats/archive"
	"recfs/nodes"
	"recfs/nodes/nodestest"
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
	x := newIndexer(&env{stdout: &stdout, stderr: &stderr})
	x.asJSON = true
	x.indexAll(ctx, walk, 1)
	if done := x.meter.done; done != (amount{3, 15}) || x.n != 0 || strings.Count(stdout.String(), "\n") != 3 {
		t.Errorf("%v done, %d failed: %s%s", done, x.n, &stdout, &stderr)
	}
}

// What the walk and the indexing both cannot read is told once.
func TestIndexTellsOnce(t *testing.T) {
	var stderr bytes.Buffer
	x := newIndexer(&env{stderr: &stderr})
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
	x := newIndexer(&env{stdout: io.Discard, stderr: io.Discard})
	x.indexAll(ctx, walk, 1)
	if far := x.meter.far(); far != "2 recordings" {
		t.Errorf("%s are done", far)
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
	if err := measure(t.Context(), found{entry: nodes.Entry{Name: "x.map", Dir: tree}}); err != nil || asked != [3]bool{true, true, true} {
		t.Errorf("%v, drawn: %v", err, asked)
	}
	failed := errors.New("disk failure")
	tree = nodes.List(nodes.Entry{Name: "preview.png", File: drawnFile{&asked[0], failed}})
	if err := measure(t.Context(), found{entry: nodes.Entry{Dir: tree}}); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
}

// indexAgain returns what needs no work by then, and does the rest. disk, unless nil, tells what the cache has.
func indexAgain(t *testing.T, source string, demos bool, disk func(string) bool, line ...string) (list []string, m *meter) {
	flags := pflag.NewFlagSet("index", pflag.ContinueOnError)
	read := readFlags(flags)
	must(t, flags.Parse(line))
	e := &env{stdout: io.Discard, stderr: io.Discard}
	a, err := read.open(e)
	must(t, err)
	defer a.close()
	x := newIndexer(e)
	a.onRead = x.meter.onRead
	x.demos = demos
	must(t, x.remember(t.Context(), a, []string{source}))
	if disk != nil {
		x.disk = disk
	}
	for f := range a.find(t.Context(), []string{source}, x.fail) {
		if f.isRecording && x.isMade(t.Context(), f) {
			list = append(list, filepath.Base(f.name))
		}
	}
	must(t, x.run(t.Context(), a, []string{source}, 1))
	return list, x.meter
}

// What was indexed before is not looked into again, unless it changed, or something beside it, its index is not there, or
// more is made of it than that.
func TestIndexAgain(t *testing.T) {
	nodestest.Long(t)
	source, dir := t.TempDir(), t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	samples := filepath.Join("..", "..", "testdata", "archive")
	for name, from := range map[string]string{
		"kept.teehistorian": "teehistorian/reload-20.1.teehistorian", "changed.teehistorian": "teehistorian/reload-20.1.teehistorian",
		"packed.teehistorian.xz": "teehistorian/busy-20.1.teehistorian.xz", "kept.nhgame": "nethack/small.nhgame",
		"packed.hcrp.gz": "hcrp/run-short.hcrp", "small.hcrp": "hcrp/run-short.hcrp",
	} {
		b, err := os.ReadFile(filepath.Join(samples, filepath.FromSlash(from)))
		must(t, err)
		if strings.HasSuffix(name, ".gz") {
			b = gzipped(b)
		}
		must(t, os.WriteFile(filepath.Join(source, name), b, 0o666))
	}
	must(t, os.CopyFS(filepath.Join(source, "segments"), os.DirFS(filepath.Join(samples, "hcrp", "run-finished"))))
	made := func(disk func(string) bool, demos bool) []string {
		list, m := indexAgain(t, source, demos, disk, "--cache-dir", dir)
		if m.done.recordings != 7 {
			t.Errorf("%d recordings are counted", m.done.recordings)
		}
		return list
	}
	nothing := func(string) bool { return false }
	all := []string{"changed.teehistorian", "kept.nhgame", "kept.teehistorian", "packed.hcrp.gz", "packed.teehistorian.xz", "segments", "small.hcrp"}
	for i, step := range []struct {
		disk  func(string) bool
		demos bool
		want  []string
	}{{want: nil}, {want: all}, {disk: nothing, want: all[5:]}, {demos: true}, {want: all}} { // none is kept of the last two
		if got := made(step.disk, step.demos); !slices.Equal(got, step.want) {
			t.Errorf("run %d finds %q, want %q", i, got, step.want)
		}
	}
	name := filepath.Join(source, all[0])
	b, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, b[:len(b)/2], 0o666))
	if got := made(nil, false); !slices.Equal(got, all[1:]) {
		t.Errorf("after a change: %q", got)
	}
	if got := made(nil, false); !slices.Equal(got, all) {
		t.Errorf("after that was indexed: %q", got)
	}
	for schema, i := range map[string]int{"packed.schema.json": 3, "segments/schema.json": 5} {
		schema = filepath.Join(source, schema)
		for _, change := range []func() error{
			func() error { return os.WriteFile(schema, []byte("{}"), 0o666) },
			func() error { return os.WriteFile(schema, []byte("{ }"), 0o666) },
			func() error { return os.Remove(schema) },
		} {
			must(t, change())
			for again, want := range [][]string{slices.Concat(all[:i], all[i+1:]), all} {
				if got := made(nil, false); !slices.Equal(got, want) {
					t.Errorf("after a change of %s, run %d: %q, want %q", schema, again, got, want)
				}
			}
		}
	}
}

// A recording whose dictionary may lie in a directory of --dict-dir is not looked into again, either, unless that
// dictionary came, changed or went.
func TestIndexAgainDictionaries(t *testing.T) {
	source, dir, empty, dicts := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "archive", "hcrp", "design-snapshot.hcrp"))
	must(t, err)
	b[48] = 77 // the dictionary
	must(t, os.WriteFile(filepath.Join(source, "packed.hcrp.gz"), gzipped(b), 0o666))
	must(t, os.WriteFile(filepath.Join(source, "plain.hcrp"), b, 0o666))
	b[48] = 0
	must(t, os.WriteFile(filepath.Join(source, "without.hcrp"), b, 0o666))
	name := filepath.Join(dicts, "77.dict")
	write := func(name, content string) func() error {
		return func() error { return os.WriteFile(name, []byte(content), 0o666) }
	}
	all := []string{"packed.hcrp.gz", "plain.hcrp", "without.hcrp"}
	for i, step := range []struct {
		change func() error
		want   []string
	}{
		{change: func() error { return nil }},
		{write(filepath.Join(dicts, "78.dict"), "another one"), all},
		{write(name, "a dictionary"), all[2:]},
		{func() error { return os.Chtimes(name, time.Now(), time.Unix(1e9, 0)) }, all[2:]},
		{func() error {
			return cmp.Or(write(name, "A dictionary")(), os.Chtimes(name, time.Now(), time.Unix(1e9, 0)))
		}, all[2:]},
		{func() error { return os.Remove(name) }, all[2:]},
	} {
		must(t, step.change())
		for again, want := range [][]string{step.want, all} {
			got, m := indexAgain(t, source, false, nil, "--cache-dir", dir, "--dict-dir", empty, "--dict-dir", dicts)
			if opened := m.read > 0; !slices.Equal(got, want) || opened != (len(want) < len(all)) {
				t.Errorf("step %d, run %d: %q need no work, want %q; %d bytes are read", i, again, got, want, m.read)
			}
		}
	}
}
