//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"

	"recfs/bench/internal/harness"
)

// makeOptions are the flags of make.
type makeOptions struct {
	binary string
	most   int
	set    setOptions
}

// make prints the manifest of what a mount of the source shows, or of the standard set if there is
// none.
func (opt makeOptions) make(ctx context.Context, temp, source string, flags []string) (err error) {
	if source == "" {
		if source, err = standardSet(ctx, temp, opt.set); err != nil {
			return err
		}
	}
	binary, err := harness.Recfs(ctx, opt.binary, temp)
	if err != nil {
		return err
	}
	s := sampler{most: opt.most}
	program := harness.Program{Binary: binary, Cache: filepath.Join(temp, "cache"), Flags: flags}
	records, err := throughMount(ctx, program, source, filepath.Join(temp, "mnt"), s)
	if err != nil {
		return err
	}
	made := &manifest{rule: s.rule(), records: records}
	made.sort()
	return made.write(os.Stdout)
}
