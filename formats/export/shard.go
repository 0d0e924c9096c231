package export

import (
	"crypto/sha256"
	"encoding/binary"

	"recfs/formats/internal/parquet"
)

// A Shard is one of several parts of equal size, about, of all recordings.
type Shard struct{ I, N int } // 1 to N of N

// Has reports whether the recording at a path is in the shard: by the first 32 bits of the SHA-256
// of that.
func (s Shard) Has(at string) bool {
	sum := sha256.Sum256([]byte(at))
	return int64(binary.BigEndian.Uint32(sum[:]))%int64(s.N) == int64(s.I-1)
}

// Places are those that files of recordings have, by their hashes.
type Places map[[8]byte]struct{}

// Add adds the place of a recording of a format.
func (s Places) Add(format, at string) { s[placeKey(format, parquet.EscapePath(at))] = struct{}{} }

// has reports whether a file is that of a recording of a format.
func (s Places) has(format, place string) bool {
	_, ok := s[placeKey(format, place)]
	return ok
}

func placeKey(format, place string) [8]byte {
	sum := sha256.Sum256([]byte(format + "/" + place))
	return [8]byte(sum[:])
}
