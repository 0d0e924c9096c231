//go:build linux

package main

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/harness"
	"recfs/bench/internal/packing"
)

// Sizes of the largest samples: of the short set, and of those that are packed in nested
// containers.
const (
	shortest = 40 << 10
	nestable = 12 << 10
)

// beside are the extensions of what lies beside recordings, or in one; every other file is packed
// by itself.
var beside = []string{"", ".md", ".json", ".dat", ".xz"}

// standardSet makes the standard set in temp, and returns where. It is a tree:
//
//	plain/testdata/…            samples of testdata, and links
//	plain/recordings/…          further samples
//	gz/testdata/….gz            each recording in one compression; so with xz, zst and bz2
//	containers/testdata.tar     plain/testdata in each container; recordings.tar … with -all
//	containers/nested.tar       the small ones in containers, four deep
//
// The short set packs testdata/archive alone, and none of its large samples. All of it has one
// time, owner and mode, so that another machine makes the same bytes.
func standardSet(ctx context.Context, temp string) (string, error) {
	root := filepath.Join(temp, "set")
	plain := filepath.Join(root, "plain")
	packed, err := gather(plain)
	if err != nil {
		return "", err
	}
	for _, name := range packed {
		err = cmp.Or(err, packEach(ctx, plain, name, root),
			packAll(ctx, filepath.Join(plain, name), filepath.Join(root, "containers", name)))
	}
	nested := filepath.Join(root, "containers", "nested.tar")
	return root, cmp.Or(err, packNested(ctx, filepath.Join(plain, packed[0]), nested, filepath.Join(temp, "nested")), normalize(root))
}

// gather copies the samples to plain, and returns which of its directories are packed, too.
func gather(plain string) (packed []string, err error) {
	limit := int64(math.MaxInt64)
	if *short {
		limit = shortest
	}
	for _, name := range []string{"archive", "datafile/broken"} { // beside them lie goldens
		err = cmp.Or(err, copyTree(filepath.Join(*testdata, name), filepath.Join(plain, "testdata", name), limit))
	}
	err = cmp.Or(err, addLinks(filepath.Join(plain, "testdata", "archive", "links")))
	if err != nil || *short {
		return []string{"testdata/archive"}, err
	}
	packed = []string{"testdata"}
	err = copyTree(*recordings, filepath.Join(plain, "recordings"), limit)
	if errors.Is(err, iofs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "left out: %v\n", err)
		return packed, nil
	}
	if *all {
		packed = append(packed, "recordings")
	}
	return packed, err
}

// copyTree copies files of up to limit bytes, and the directories that hold them.
func copyTree(source, target string, limit int64) error {
	return filepath.WalkDir(source, func(name string, d iofs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
			return err
		}
		rel, err := filepath.Rel(source, name)
		return cmp.Or(err, packFile(context.Background(), packing.Plain, name, filepath.Join(target, rel)))
	})
}

// addLinks makes links of each kind beside samples for them: to a file, a directory, a recording,
// out and to nothing.
func addLinks(dir string) (err error) {
	for from, to := range map[string]string{"README.md": "real/file", "hcrp/tiny.hcrp": "real/tiny.hcrp"} {
		err = cmp.Or(err, copyTree(filepath.Join(*testdata, "archive", from), filepath.Join(dir, to), shortest))
	}
	for name, target := range map[string]string{
		"file":           "real/file",
		"directory":      "real",
		"recording.hcrp": "real/tiny.hcrp",
		"outside":        "../../../../../outside",
		"absolute":       "/etc/hostname",
		"nothing":        "no-such-file",
	} {
		err = cmp.Or(err, os.Symlink(target, filepath.Join(dir, name)))
	}
	return err
}

// packFile writes source packed to target.
func packFile(ctx context.Context, c packing.Compression, source, target string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	return harness.Create(target, func(w io.Writer) error { return c.Pack(ctx, w, in) })
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

func packTar(ctx context.Context, dir, target string, c packing.Compression) error {
	return harness.Create(target, func(w io.Writer) error { return packing.TarIn(ctx, w, dir, c) })
}

func packZip(dir, target string, method uint16) error {
	return harness.Create(target, func(w io.Writer) error { return packing.Zip(w, dir, method) })
}

// packAll packs the directory into every kind of container, at target and the extension.
func packAll(ctx context.Context, dir, target string) error {
	err := cmp.Or(packZip(dir, target+"-stored.zip", zip.Store), packZip(dir, target+".zip", zip.Deflate))
	for _, c := range append([]packing.Compression{packing.Plain}, packing.Compressions...) {
		err = cmp.Or(err, packTar(ctx, dir, target+".tar"+c.Ext, c))
	}
	return err
}

// packNested packs the small files of dir into a container of each kind, these into a second, a
// third and at last into target.
func packNested(ctx context.Context, dir, target, work string) error {
	in := func(name string) string { return filepath.Join(work, name) }
	return cmp.Or(
		copyTree(dir, in("1"), nestable),
		packAll(ctx, in("1"), in("2/inner")),
		packZip(in("2"), in("3/stored.zip"), zip.Store),
		packTar(ctx, in("3"), in("4/third.tar.zst"), packing.Zstd),
		packTar(ctx, in("4"), target, packing.Plain),
		os.RemoveAll(work),
	)
}

// normalize gives everything below root the standard time and mode, a directory after what it
// holds.
func normalize(root string) error {
	var names []string
	err := filepath.WalkDir(root, func(name string, _ iofs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	at := unix.NsecToTimespec(packing.Time.UnixNano())
	for _, name := range slices.Backward(names) {
		info, statErr := os.Lstat(name)
		if err = cmp.Or(err, statErr); err != nil {
			return err
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			err = os.Chmod(name, 0o755)
		case mode.IsRegular():
			err = os.Chmod(name, 0o644)
		}
		err = cmp.Or(err, unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW))
	}
	return err
}
