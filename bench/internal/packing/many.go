package packing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
)

// A sample is a recording by its name.
type sample struct {
	name    string
	content []byte
}

// samples returns the recordings below dir of up to largest bytes, in the order of a walk.
func samples(dir string, largest int64) (all []sample, err error) {
	err = filepath.WalkDir(dir, func(file string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(file) {
		case ".hcrp", ".nhgame", ".teehistorian", ".map", ".butter":
		default:
			return nil
		}
		content, err := os.ReadFile(file)
		if err == nil && int64(len(content)) <= largest {
			all = append(all, sample{filepath.Base(file), content})
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no samples")
	}
	return all, err
}

// Many makes dir, which then holds count recordings: those below source of up to largest bytes,
// again and again. Each is compressed by c, or as it is if c is nil.
func Many(ctx context.Context, dir, source string, count int, largest int64, c *Compression) error {
	all, err := samples(source, largest)
	if err != nil {
		return err
	}
	if err := compress(ctx, all, c); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	for i := range count {
		s := all[i%len(all)]
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d-%s", i+1, s.name)), s.content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// compress compresses the samples by c, unless that is nil.
func compress(ctx context.Context, all []sample, c *Compression) error {
	if c == nil {
		return nil
	}
	for i, s := range all {
		var packed bytes.Buffer
		if err := c.Pack(ctx, &packed, bytes.NewReader(s.content)); err != nil {
			return err
		}
		all[i] = sample{s.name + c.Ext, packed.Bytes()}
	}
	return nil
}
