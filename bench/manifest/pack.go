//go:build unix

package main

import (
	"archive/zip"
	"cmp"
	"context"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"

	"recfs/bench/internal/packing"
)

// nestable is the size of the largest samples that are packed in nested containers.
const nestable = 12 << 10

// beside are the extensions of what lies beside recordings, or in one; every other file is packed
// by itself.
var beside = []string{"", ".md", ".json", ".dat", ".xz"}

// packFile writes source packed to target.
func packFile(ctx context.Context, c packing.Compression, source, target string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return create(target, func(w io.Writer) error { return c.Pack(ctx, w, in) })
}

// packEach packs every file that is a recording below plain/name by itself, in each compression, to
// root/EXT/name.
func packEach(ctx context.Context, plain, name, root string) error {
	return filepath.WalkDir(filepath.Join(plain, name), func(file string, d iofs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(beside, filepath.Ext(file)) {
			return err
		}
		rel, err := filepath.Rel(plain, file)
		for _, c := range packing.Compressions {
			err = cmp.Or(err, packFile(ctx, c, file, filepath.Join(root, c.Ext[1:], rel)+c.Ext))
		}
		return err
	})
}

// packAll packs the directory into every kind of container, at target and the extension.
func packAll(ctx context.Context, dir, target string) error {
	err := cmp.Or(
		create(target+".tar", func(w io.Writer) error { return packing.Tar(w, dir) }),
		create(target+"-stored.zip", func(w io.Writer) error { return packing.Zip(w, dir, zip.Store) }),
		create(target+".zip", func(w io.Writer) error { return packing.Zip(w, dir, zip.Deflate) }),
	)
	for _, c := range packing.Compressions {
		err = cmp.Or(err, packFile(ctx, c, target+".tar", target+".tar"+c.Ext))
	}
	return err
}

// packNested packs the small files of dir into a container of each kind, these into a second, a
// third and at last into target.
func packNested(ctx context.Context, dir, target, work string) error {
	inner := filepath.Join(work, "1")
	if err := copyTree(dir, inner, nestable); err != nil {
		return err
	}
	third := filepath.Join(work, "3")
	return cmp.Or(
		packAll(ctx, inner, filepath.Join(work, "2", "inner")),
		create(filepath.Join(third, "stored.zip"), func(w io.Writer) error { return packing.Zip(w, filepath.Join(work, "2"), zip.Store) }),
		packNestedOnce(ctx, third, filepath.Join(work, "4")),
		create(target, func(w io.Writer) error { return packing.Tar(w, filepath.Join(work, "4")) }),
		os.RemoveAll(work),
	)
}

// packNestedOnce packs dir as a compressed tar into the directory target.
func packNestedOnce(ctx context.Context, dir, target string) error {
	plain := filepath.Join(target, "third.tar")
	return cmp.Or(
		create(plain, func(w io.Writer) error { return packing.Tar(w, dir) }),
		packFile(ctx, packing.Zstd, plain, plain+".zst"),
		os.Remove(plain),
	)
}
