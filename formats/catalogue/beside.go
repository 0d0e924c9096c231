package catalogue

import (
	"context"
	"strconv"
	"strings"

	"recfs/formats/archive"
	"recfs/formats/recordings"
)

// A beside says on which files beside a recording all that is known of it depends.
type beside struct {
	sum   uint64   // of the files, see [archive.Archive.BesideSum]
	names []string // of the files
}

// besideOf returns that of a recording, "" where its format does not tell. The files are looked at
// after the recording was opened: if they change in between, its index is made when it is read.
func besideOf(ctx context.Context, r archive.Recording, o *recordings.Opened) string {
	names, ok := o.BesideFiles()
	if !ok {
		return ""
	}
	sum := strconv.FormatUint(r.Archive().BesideSum(ctx, r.Path(), names), 16)
	return strings.Join(append([]string{sum}, names...), "\x00")
}

// parseBeside parses what besideOf returned.
func parseBeside(s string) (b beside, ok bool) {
	parts := strings.Split(s, "\x00")
	sum, err := strconv.ParseUint(parts[0], 16, 64)
	return beside{sum, parts[1:]}, err == nil
}

// besideChanged reports whether what lies beside the recording called name is not what it was.
func besideChanged(ctx context.Context, v *archive.Archive, name, was string) bool {
	if was == "" {
		return false
	}
	b, ok := parseBeside(was)
	return !ok || v.BesideSum(ctx, name, b.names) != b.sum
}
