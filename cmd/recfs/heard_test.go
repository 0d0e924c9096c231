package main

import (
	"context"
	"errors"
	iofs "io/fs"
	"testing"

	"github.com/spf13/pflag"

	"recfs/cache"
	archives "recfs/formats/archive"
	"recfs/formats/source"
	"recfs/nodes"
)

// TestIndexIsHeard asks for the size of each index.json of the samples: who made the archive hears
// of it, whatever the format.
func TestIndexIsHeard(t *testing.T) {
	var opt formatOptions
	opt.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	list, err := opt.list()
	if err != nil {
		t.Fatal(err)
	}
	local, err := source.OpenLocal("../../testdata/archive")
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	c := cache.New(64<<20, nil)
	defer c.Close()
	heard, formats := map[string]bool{}, map[string]bool{}
	root := archives.New(local, list, c, archives.Options{
		Sniff: true, Indexed: func(_ context.Context, r archives.Recording) { heard[r.Path()] = true },
	})
	err = nodes.Walk(t.Context(), root, func(name string, e nodes.Entry, err error) error {
		r, ok := archives.RecordingOf(e.Dir)
		if err != nil || !ok {
			return err
		}
		index, err := nodes.Child(t.Context(), e.Dir, "index.json")
		switch {
		case errors.Is(err, iofs.ErrNotExist): // one that does not open
			return iofs.SkipDir
		case err != nil:
			return err
		}
		if _, err := index.File.Size(t.Context()); err != nil || !heard[name] {
			t.Errorf("%s/index.json: %v, heard of: %v", name, err, heard[name])
		}
		formats[r.Format().Name] = true
		return iofs.SkipDir
	})
	if err != nil || len(formats) != len(list)-1 { // .milk opens nothing
		t.Errorf("%v; recordings of %v", err, formats)
	}
}
