package remote

import (
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

const (
	maxName = 255
	// A size below zero says what has none.
	sizeFolder  = -1
	sizeUnknown = -2 // a listing does not say: the object has to be asked for
)

// An object is a file of a server at one version.
type object struct {
	key      string
	tag      string // ETag as the server writes it, "" if it has none
	size     int64
	modified int64 // milliseconds since 1970, 0: not known
}

// isStrong reports whether the ETag names the bytes.
func (o object) isStrong() bool { return strings.HasPrefix(o.tag, `"`) }

// isSum reports whether an ETag is a sum of the bytes, as S3 makes it: an MD5, and the number of
// parts if there were some. Web servers make theirs of size and time.
func isSum(tag string) bool {
	sum, parts, _ := strings.Cut(strings.Trim(tag, `"`), "-")
	return len(sum) == 32 && strings.Trim(sum, "0123456789abcdef") == "" && strings.Trim(parts, "0123456789") == ""
}

// version returns what tells the states of an object apart: by a strong ETag size and Inode alone.
func (o object) version() source.Version {
	s := formats.Stamp{Size: o.size, Modified: o.modified / 1000, Nanos: o.modified % 1000 * 1e6}
	if s.Inode = xxhash.Sum64String(o.tag); !isSum(o.tag) {
		s.Inode = xxhash.Sum64String(o.tag + "\n" + o.key) // another object may have the same tag
	}
	if o.isStrong() {
		s.Changed = formats.ByContent
	}
	return source.Version{Stamp: s, Links: 1}
}

func (o object) info() source.Info {
	return source.Info{Version: o.version(), Rights: nodes.Rights{Mode: 0o444}}
}

// oddNames are keys that no path can have.
type oddNames struct {
	n     int
	first string
}

func (o *oddNames) add(key string) {
	if o.n++; o.n == 1 {
		o.first = key
	}
}

// isName reports whether a part of a key can be a name in a tree.
func isName(part string) bool {
	return part != "" && part != "." && part != ".." && len(part) <= maxName && !strings.ContainsAny(part, "/\x00")
}

// milliseconds is a time as objects have it.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
