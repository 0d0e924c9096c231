package export

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"recfs/formats/internal/parquet"
)

// hash returns the first 32 bits of the SHA-256 of a path.
func hash(at string) uint32 {
	sum := sha256.Sum256([]byte(at))
	return binary.BigEndian.Uint32(sum[:])
}

// A Shard is one of several parts of equal size, about, of all recordings.
type Shard struct{ I, N int } // 1 to N of N

// Has reports whether the recording at a path is in the shard.
func (s Shard) Has(at string) bool { return int64(hash(at))%int64(s.N) == int64(s.I-1) }

// A Namer names the files of recordings. The zero value is ready to use, by one goroutine.
type Namer struct{ taken map[[8]byte]struct{} }

// maxName is how many bytes of a recording's name its files have: with the hash, the extension and
// what a temporary name adds they stay below 255.
const maxName = 200

// Name returns the name of the files of the recording at a path: its own, escaped, and 8 hex digits
// of the path's hash. Of two that would have one name the later one has the hash of its path and a
// number.
func (n *Namer) Name(format, at string) string {
	for i := 1; ; i++ {
		if name := nameOf(at, i); n.take(format + "/" + name) {
			return name
		}
	}
}

// nameOf returns the name that the files of a recording have if i-1 of its names are taken.
func nameOf(at string, i int) string {
	sum := hash(at)
	if i > 1 {
		sum = hash(fmt.Sprintf("%s/%d", at, i))
	}
	return fmt.Sprintf("%s-%08x", shorten(strings.TrimSuffix(parquet.EscapeName(path.Base(at), false), parquet.Extension)), sum)
}

// manyNames is how many recordings come to one name at most: a hash is of 32 bits.
const manyNames = 8

// isNameOf reports whether a file of the recording at a path may have that name.
func isNameOf(name, at string) bool {
	for i := range manyNames {
		if name == nameOf(at, i+1) {
			return true
		}
	}
	return false
}

// take reports whether nothing else has the name, and takes it.
func (n *Namer) take(name string) bool {
	if n.taken == nil {
		n.taken = map[[8]byte]struct{}{}
	}
	taken := n.has(name)
	n.taken[keyOf(name)] = struct{}{}
	return !taken
}

// has reports whether something has the name.
func (n *Namer) has(name string) bool {
	_, taken := n.taken[keyOf(name)]
	return taken
}

func keyOf(name string) [8]byte {
	sum := sha256.Sum256([]byte(name))
	return [8]byte(sum[:])
}

// shorten cuts an escaped name that is too long, not within a character or what stands for one.
func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	end := maxName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	if i := strings.LastIndexByte(name[:end], '%'); i > end-3 {
		end = i
	}
	return name[:end]
}
