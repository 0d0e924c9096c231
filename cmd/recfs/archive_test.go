package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

// Arguments that lie in one source share it: the second reads nothing again that the first has
// read.
func TestArgumentsShareTheirSource(t *testing.T) {
	flags := readFlags(pflag.NewFlagSet("", pflag.ContinueOnError))
	flags.disk.limit = 0
	a, err := flags.open(&env{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	read := 0
	a.onRead = func(n int) { read += n }
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
			err = copyFile(context.Background(), io.Discard, entry.File)
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
