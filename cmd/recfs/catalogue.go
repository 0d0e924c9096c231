package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"recfs/formats/catalogue"
	"recfs/fs"
)

// summaries yields what is known of the recordings below name, a directory, a recording or a mount.
func (a *archive) summaries(ctx context.Context, name string) iter.Seq2[catalogue.Summary, error] {
	return func(yield func(catalogue.Summary, error) bool) {
		if fs.Mounted(name) {
			mountSummaries(ctx, name, yield)
			return
		}
		e, err := a.resolve(walking(ctx), sourceOf(name))
		if err != nil || e.Dir == nil {
			if err == nil {
				err = errors.New("not a directory or a recording")
			}
			yield(catalogue.Summary{}, err)
			return
		}
		a.catalogue.Summaries(ctx, e.Dir)(yield)
	}
}

// mountSummaries reads the catalogue of a mount.
func mountSummaries(ctx context.Context, dir string, yield func(catalogue.Summary, error) bool) {
	f, err := os.Open(filepath.Join(dir, catalogue.Name))
	if err != nil {
		yield(catalogue.Summary{}, err)
		return
	}
	defer f.Close()
	for lines := json.NewDecoder(f); ; {
		var s catalogue.Summary
		err := lines.Decode(&s)
		if err == nil {
			err = ctx.Err()
		}
		if err == io.EOF || !yield(s, err) || err != nil {
			return
		}
	}
}
