package hcrp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strconv"
	"strings"

	"recfs/formats"
)

// The files of a recording in segments (docs/formats/hcrp.md section 10).
const (
	preambleName = "preamble.dat"
	finishedName = "finished"
)

// A segment is a file of chunks.
type segment struct {
	number int64
	size   int64
}

func segmentName(n int64) string { return fmt.Sprintf("segment-%03d.dat", n) }

// parseSegmentName returns the number in the name of a segment file.
func parseSegmentName(name string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, "segment-")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, ".dat"); !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return n, err == nil && n >= 0 && segmentName(n) == name
}

// findSegments lists the segments of a directory by number, and tells whether the marker of a
// finished run is there.
func findSegments(fsys iofs.FS) (list []segment, finished bool, err error) {
	entries, err := iofs.ReadDir(fsys, ".")
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		n, ok := parseSegmentName(e.Name())
		finished = finished || e.Name() == finishedName
		if !ok {
			continue
		}
		info, err := iofs.Stat(fsys, e.Name()) // of what a link points to
		if errors.Is(err, iofs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		list = append(list, segment{n, info.Size()})
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return list, finished, nil
}

// openPreamble opens the preamble, of which at most limit bytes count. It stays open so that one
// version is used throughout, as each commit of the recorder replaces the file by a rename.
func openPreamble(ctx context.Context, fsys iofs.FS, limit int64) (file *formats.OpenedFile, size int64, err error) {
	file, err = formats.OpenFile(ctx, fsys, preambleName)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil {
		size = min(info.Size(), limit)
		err = notZero(ctx, file, size)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, size, nil
}

// notZero returns an error for a preamble that has never been written.
func notZero(ctx context.Context, r formats.ReaderAt, size int64) error {
	b := make([]byte, min(size, firstRead))
	for off := int64(0); off < size; off += int64(len(b)) {
		b = b[:min(int64(len(b)), size-off)]
		if err := readFull(ctx, r, b, off); err != nil || !isZero(b) {
			return err
		}
	}
	if size > 0 {
		return headerError(codeHeaderTruncated, 0, errTruncated, "%s holds nothing but zeroes", preambleName)
	}
	return nil
}

func isZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}
