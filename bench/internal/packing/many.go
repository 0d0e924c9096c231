package packing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Many makes dir, which then holds count recordings: those below source of up to largest bytes, in
// the order of a walk, again and again. Each is compressed by c.
func Many(ctx context.Context, dir, source string, count int, largest int64, c Compression) error {
	var names []string
	var contents [][]byte
	kinds := []string{".hcrp", ".nhgame", ".teehistorian", ".map", ".butter"}
	err := filepath.WalkDir(source, func(file string, d iofs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains(kinds, filepath.Ext(file)) {
			return err
		}
		b, err := os.ReadFile(file)
		if err != nil || int64(len(b)) > largest {
			return err
		}
		var packed bytes.Buffer
		names = append(names, filepath.Base(file)+c.Ext)
		err = c.Pack(ctx, &packed, bytes.NewReader(b))
		contents = append(contents, packed.Bytes())
		return err
	})
	if err == nil && len(names) == 0 {
		err = errors.New("no samples")
	}
	if err = errors.Join(err, os.Mkdir(dir, 0o777)); err != nil {
		return err
	}
	for i := range count {
		n := i % len(names)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d-%s", i+1, names[n])), contents[n], 0o666); err != nil {
			return err
		}
	}
	return nil
}
