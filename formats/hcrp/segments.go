package hcrp

import (
	"cmp"
	"context"
	"fmt"
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
func findSegments(files formats.Files) (list []segment, finished bool) {
	for _, f := range files {
		finished = finished || f.Name == finishedName
		if n, ok := parseSegmentName(f.Name); ok {
			list = append(list, segment{n, f.Stamp.Size})
		}
	}
	slices.SortFunc(list, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return list, finished
}

// openPreamble opens the preamble, of which at most limit bytes count.
func openPreamble(ctx context.Context, files formats.Files, limit int64) (file formats.ReaderAt, size int64, err error) {
	f, err := files.Open(ctx, preambleName)
	if err != nil {
		return nil, 0, err
	}
	size = min(f.Stamp.Size, limit)
	return f, size, notZero(ctx, f, size)
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
