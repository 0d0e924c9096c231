package hcrp

import (
	"encoding/binary"
	"fmt"
	"io"
	"sort"

	"recfs/formats"
)

// A sequence is bytes that lie in several places, one after the other.
type sequence struct {
	parts []io.ReaderAt
	ends  []int64 // offset behind each part
}

func (s *sequence) add(r io.ReaderAt, size int64) {
	s.parts = append(s.parts, r)
	s.ends = append(s.ends, s.size()+size)
}

func (s *sequence) size() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// ReadAt implements io.ReaderAt.
func (s *sequence) ReadAt(b []byte, off int64) (n int, err error) {
	i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > off })
	for ; n < len(b) && i < len(s.parts); i++ {
		start := int64(0)
		if i > 0 {
			start = s.ends[i-1]
		}
		at := off + int64(n)
		want := b[n:min(int64(len(b)), int64(n)+s.ends[i]-at)]
		if err := readFull(s.parts[i], want, at-start); err != nil {
			return n, err
		}
		n += len(want)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// compactedSize returns the size of the recording as one file with the
// stored frames copied.
func (r *Reader) compactedSize() (int64, error) {
	if !r.whole {
		return 0, formats.Errorf(formatName, r.Header.IndexOffset(), errTruncated, "the index is not whole")
	}
	n := r.Header.IndexEnd()
	for i := range r.Entries {
		if !r.hasStored(i) {
			return 0, fmt.Errorf("chunk %d: %w", i, r.missing(i))
		}
		n += r.Entries[i].Stored
	}
	return n, nil
}

// compacted returns the recording as one file: the preamble with absolute
// offsets, then the stored frames in the order of the index.
func (r *Reader) compacted() (io.ReaderAt, error) {
	preamble, err := r.part(nil, 0, r.Header.IndexEnd())
	if err != nil {
		return nil, err
	}
	offset := r.Header.IndexEnd()
	s := &sequence{}
	s.add(bytesReader(preamble), offset)
	for i := range r.Entries {
		e, p := &r.Entries[i], r.place(i)
		binary.BigEndian.PutUint64(preamble[e.rawAt:], uint64(offset))
		s.add(io.NewSectionReader(r.at(p), p.offset, e.Stored), e.Stored)
		offset += e.Stored
	}
	return s, nil
}
