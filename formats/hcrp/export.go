package hcrp

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"recfs/formats"
)

// compactedSize returns the size of the recording as one file with the
// stored frames copied.
func (r *Reader) compactedSize() (int64, error) {
	if !r.whole {
		return 0, formats.Errorf(formatName, r.Header.IndexOffset(), errTruncated, "the index is not whole")
	}
	n := r.Header.IndexEnd()
	for i := range r.Chunks() {
		if !r.hasStored(i) {
			return 0, fmt.Errorf("chunk %d: %w", i, r.missing(i))
		}
		n += r.Entry(i).Stored
	}
	return n, nil
}

// compactedPreamble returns what stands before the frames in the recording as
// one file: the preamble with absolute offsets, the frames in the order of the
// index after it.
func (r *Reader) compactedPreamble(ctx context.Context) ([]byte, error) {
	preamble, err := r.bytes(ctx, nil, 0, r.Header.IndexEnd())
	if err != nil {
		return nil, err
	}
	preamble = slices.Clone(preamble)
	offset := r.Header.IndexEnd()
	for i := range r.Chunks() {
		e := r.Entry(i)
		binary.BigEndian.PutUint64(preamble[e.rawAt:], uint64(offset))
		offset += e.Stored
	}
	return preamble, nil
}
