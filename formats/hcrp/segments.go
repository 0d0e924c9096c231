package hcrp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// readPreambleFile reads the preamble whole, so that one version of it is used throughout: it is
// replaced by rename at every commit.
func readPreambleFile(ctx context.Context, fsys iofs.FS, limit int64) ([]byte, error) {
	file, err := formats.InContext(ctx, fsys).Open(preambleName)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	const grown = 3 // times its size, of a buffer that doubles and is copied to do so
	if _, err := chargeLarge(ctx, grown*min(info.Size(), limit)); err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if _, err := io.Copy(&buf, io.LimitReader(file, limit)); err != nil {
		return nil, err
	}
	return buf.Bytes(), ctx.Err()
}

func isZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}
