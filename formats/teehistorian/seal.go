package teehistorian

import (
	"hash/crc32"
	"io"
	"time"

	"recfs/formats"
)

// sealSize is how many bytes before the end of the index are remembered by their checksum.
const sealSize = 4 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A seal tells whether an index fits a source: it is of the very version that was read, or of one that has grown.
type seal struct {
	stored   int64 // size and time of the file
	modified time.Time
	header   uint32 // checksum of the header
	tail     uint32 // checksum of the last bytes before the end of the index
}

// makeSeal computes the seal of an index that ends at end.
func makeSeal(src formats.Source, h *header, end int64) (seal, error) {
	tail := make([]byte, min(sealSize, end-h.start))
	if n, err := src.ReadAt(tail, end-int64(len(tail))); n < len(tail) {
		return seal{}, err
	}
	return seal{
		stored: src.Stored, modified: src.ModTime,
		header: crc32.Checksum(h.json, castagnoli), tail: crc32.Checksum(tail, castagnoli),
	}, nil
}

// sameVersion tells whether both are of one version of the source.
func (s seal) sameVersion(src formats.Source) bool {
	return s.stored == src.Stored && s.modified.Equal(src.ModTime)
}

// fits checks that an index with the seal s describes the beginning of src.
func (x *index) fits(s seal, src formats.Source, h *header) error {
	if h.start != x.start || s.header != crc32.Checksum(h.json, castagnoli) {
		return formats.Corrupt(name, int64(len(magic)), "the header is another than in the index")
	}
	if s.sameVersion(src) {
		return nil
	}
	if src.Size != formats.UnknownSize && src.Size < x.bytes {
		return formats.Errorf(name, src.Size, io.ErrUnexpectedEOF, "the recording is shorter than its index")
	}
	now, err := makeSeal(src, h, x.bytes)
	if err == nil && now.tail != s.tail {
		err = formats.Corrupt(name, x.bytes, "the recording is another than in the index")
	}
	return err
}
