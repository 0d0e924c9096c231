//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"recfs/bench/internal/packing"
)

// samplesOfTestdata are what recfs reads; beside them lie goldens.
var samplesOfTestdata = []string{"archive", "datafile/broken"}

// shortest is the size of the largest samples of the short set.
const shortest = 40 << 10

// setOptions say what the standard set holds.
type setOptions struct {
	short, all bool
	testdata   string
	recordings string
}

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
func standardSet(ctx context.Context, temp string, opt setOptions) (string, error) {
	root := filepath.Join(temp, "set")
	plain := filepath.Join(root, "plain")
	packed, err := gather(plain, opt)
	if err != nil {
		return "", err
	}
	for _, name := range packed {
		if err := packEach(ctx, plain, name, root); err != nil {
			return "", err
		}
		containers := filepath.Join(root, "containers", name)
		if err := packAll(ctx, filepath.Join(plain, name), containers); err != nil {
			return "", err
		}
	}
	nested := filepath.Join(root, "containers", "nested.tar")
	if err := packNested(ctx, filepath.Join(plain, packed[0]), nested, filepath.Join(temp, "nested")); err != nil {
		return "", err
	}
	return root, normalize(root)
}

// gather copies the samples to plain, and returns which of its directories are packed, too.
func gather(plain string, opt setOptions) (packed []string, err error) {
	limit := int64(1 << 62)
	if opt.short {
		limit = shortest
	}
	for _, name := range samplesOfTestdata {
		if err := copyTree(filepath.Join(opt.testdata, name), filepath.Join(plain, "testdata", name), limit); err != nil {
			return nil, err
		}
	}
	if err := addLinks(filepath.Join(plain, "testdata", "archive", "links"), opt.testdata); err != nil || opt.short {
		return []string{"testdata/archive"}, err
	}
	packed = []string{"testdata"}
	err = copyTree(opt.recordings, filepath.Join(plain, "recordings"), limit)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		fmt.Fprintf(os.Stderr, "left out: %v\n", err)
		return packed, nil
	case opt.all:
		packed = append(packed, "recordings")
	}
	return packed, err
}

// addLinks makes links of each kind beside samples for them: to a file, a directory, a recording,
// out and to nothing.
func addLinks(dir, samples string) error {
	for from, to := range map[string]string{"README.md": "real/file", "hcrp/tiny.hcrp": "real/tiny.hcrp"} {
		if err := copyTree(filepath.Join(samples, "archive", from), filepath.Join(dir, to), shortest); err != nil {
			return err
		}
	}
	for name, target := range map[string]string{
		"file":           "real/file",
		"directory":      "real",
		"recording.hcrp": "real/tiny.hcrp",
		"outside":        "../../../../../outside",
		"absolute":       "/etc/hostname",
		"nothing":        "no-such-file",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// normalize gives everything below root the standard time and mode, a directory after what it
// holds.
func normalize(root string) error {
	var names []string
	err := filepath.WalkDir(root, func(name string, _ iofs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	for _, name := range slices.Backward(names) {
		err = cmp.Or(err, normalizeOne(name))
	}
	return err
}

func normalizeOne(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		err = os.Chmod(name, 0o755)
	case mode.IsRegular():
		err = os.Chmod(name, 0o644)
	}
	at := unix.NsecToTimespec(packing.Time.UnixNano())
	return cmp.Or(err, unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW))
}
