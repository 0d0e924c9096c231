package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"

	"recfs/nodes/nodestest"
)

// openForTest returns an archive without a disk cache.
func openForTest(t *testing.T) *archive {
	t.Helper()
	flags := readFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	flags.disk.limit = 0
	a, err := flags.open(&env{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	return a
}

// Files that are sources take no descriptor each, however many are named: a limit of 1,024 of them
// is common. Those that were read last are kept open, some more than a hundred.
func TestManyArguments(t *testing.T) {
	nodestest.Long(t)
	const fds, many, few = "/proc/self/fd", 1000, 600
	if _, err := os.Stat(fds); err != nil {
		t.Skip(err)
	}
	a, dir := openForTest(t), t.TempDir()
	run, err := os.ReadFile(filepath.Join(samples, "hcrp", "tiny.hcrp"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		name := filepath.Join(dir, fmt.Sprintf("%d.hcrp", i))
		writeNew(t, name, run)
		if _, err := a.resolve(t.Context(), filepath.Join(name, "header.json")); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := os.ReadDir(fds); err != nil || len(open) > few {
		t.Errorf("%d descriptors are open, %v", len(open), err)
	}
}

// Who was interrupted looks nothing up any more, however many names there are.
func TestInterruptedLookUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read := 0
	a := openForTest(t)
	a.options.OnRead = func(n int) { read += n }
	for _, name := range []string{samples, filepath.Join(samples, "no such file")} {
		if _, err := a.resolve(ctx, name); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(a.sources)+len(a.closers) > 2 || read > 0 {
		t.Errorf("%d sources are open, %d bytes were read", len(a.sources), read)
	}
}

// Arguments that lie in one source share it: the second reads nothing again that the first has
// read.
func TestArgumentsShareTheirSource(t *testing.T) {
	a := openForTest(t)
	read := 0
	a.options.OnRead = func(n int) { read += n }
	run, err := os.ReadFile(filepath.Join(samples, "hcrp", "run-short.hcrp"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "x.tar.gz")
	var members []member
	for i := range 50 {
		members = append(members, member{name: fmt.Sprintf("%d.hcrp", i), content: string(run)})
	}
	writeNew(t, name, gzipped(tarOf(members)))
	printed := func(i int) int {
		before := read
		entry, err := a.resolve(t.Context(), filepath.Join(name, fmt.Sprintf("%d.hcrp", i), "header.json"))
		if err == nil {
			_, err = copyFile(context.Background(), io.Discard, entry.File)
		}
		if err != nil {
			t.Fatal(err)
		}
		return read - before
	}
	first := printed(0)
	if again := printed(1); first == 0 || again > first/2 {
		t.Errorf("%d bytes are read for the first argument and %d for the second", first, again)
	}
}
