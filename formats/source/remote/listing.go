package remote

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"math"
	"slices"
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

// A listing is the names of a folder at one moment: all of them, or those up to one. Each takes 40
// bytes more, with an ETag that is an MD5.
type listing struct {
	text     []byte
	list     []item
	complete bool
	next     string // where it goes on if it is not complete
	newest   int64  // time of its newest file
	sum      uint64 // of names and versions
	strong   bool   // the ETags name the bytes
	odd      oddNames
}

type item struct {
	at        uint32 // in text
	name, tag uint16 // lengths; packedTag
	size      int64
	modified  int64
}

// packedTag says that text has the bytes of an MD5 in place of the ETag.
const packedTag = math.MaxUint16

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

// add adds a name. Names may come in any order, and again.
func (l *listing) add(name, tag string, size, modified int64) {
	if !isName(name) || len(tag) >= packedTag || uint64(len(l.text)) > math.MaxUint32-maxName-uint64(len(tag)) {
		l.odd.add(name)
		return
	}
	it := item{uint32(len(l.text)), uint16(len(name)), uint16(len(tag)), size, modified}
	l.text = append(l.text, name...)
	if len(tag) == len(`""`)+hex.EncodedLen(md5.Size) && tag[0] == '"' && tag[len(tag)-1] == '"' && isSum(tag) {
		it.tag = packedTag
		l.text, _ = hex.AppendDecode(l.text, []byte(tag[1:len(tag)-1])) // it is one
	} else {
		l.text = append(l.text, tag...)
	}
	l.list = append(l.list, it)
}

// seal ends the listing: it is sorted, and of a folder and an object with one name the folder
// stays.
func (l *listing) seal() {
	byName := func(a, b item) int {
		return cmp.Or(strings.Compare(l.name(a), l.name(b)), cmp.Compare(max(a.size, sizeFolder), max(b.size, sizeFolder)))
	}
	if !slices.IsSortedFunc(l.list, byName) {
		slices.SortFunc(l.list, byName)
	}
	l.list = slices.CompactFunc(l.list, func(a, b item) bool {
		if l.name(a) != l.name(b) {
			return false
		}
		if a.size == sizeFolder && b.size != sizeFolder {
			l.odd.add(l.name(b))
		}
		return true
	})
	l.list, l.text = fitted(l.list), fitted(l.text)
	sum := xxhash.New()
	l.strong = true
	for _, it := range l.list {
		_, _ = sum.WriteString(l.name(it) + l.tag(it) + "\x00")
		if it.size >= 0 {
			l.newest = max(l.newest, it.modified)
			l.strong = l.strong && l.object("", it).isStrong()
		}
	}
	l.sum = sum.Sum64()
}

// fitted returns s without the room that it has to grow, if that is much.
func fitted[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/4 { // as large ones grow
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}

func (l *listing) name(it item) string { return string(l.text[it.at : it.at+uint32(it.name)]) }

func (l *listing) tag(it item) string {
	at := it.at + uint32(it.name)
	if it.tag == packedTag {
		return fmt.Sprintf("\"%x\"", l.text[at:at+md5.Size])
	}
	return string(l.text[at : at+uint32(it.tag)])
}

// object returns the object that an item of the folder dir, "" or with a slash at its end, is.
func (l *listing) object(dir string, it item) object {
	return object{dir + l.name(it), l.tag(it), it.size, it.modified}
}

// search returns where a name is in the list, or would be.
func (l *listing) search(name string) (int, bool) {
	return slices.BinarySearchFunc(l.list, name, func(it item, name string) int { return strings.Compare(l.name(it), name) })
}

// find returns the item of a name. Unless it is sure, behind the names that are known there may be
// one, or a folder that stands in place of an object.
func (l *listing) find(name string) (it item, ok, sure bool) {
	if i, ok := l.search(name); ok {
		it = l.list[i]
		return it, true, l.complete || it.size == sizeFolder || l.name(l.list[len(l.list)-1]) > name+"/"
	}
	return item{}, false, l.complete
}

// info is that of the folder: its time is that of its newest file.
func (l *listing) info() source.Info {
	s := formats.Stamp{Modified: l.newest / 1000, Nanos: l.newest % 1000 * 1e6, Inode: l.sum}
	if l.strong {
		s.Changed = formats.ByContent
	}
	return source.Info{Version: source.Version{Stamp: s, Links: 1}, Type: iofs.ModeDir, Rights: nodes.Rights{Mode: 0o555}}
}

func (l *listing) cost() int64 { return int64(cap(l.text)) + 24*int64(cap(l.list)) + 160 }

// names are the listing of the folder dir as source.Names.
type names struct {
	*listing
	dir string
}

func (n names) Len() int { return len(n.list) }

func (n names) At(i int) (string, iofs.FileMode) {
	it := n.list[i]
	if it.size == sizeFolder {
		return n.name(it), iofs.ModeDir
	}
	return n.name(it), 0
}

func (n names) Find(name string) (int, bool) { return n.search(name) }

// Info implements source.Names: of a folder the listing does not know the time.
func (n names) Info(i int) (source.Info, bool) {
	if n.list[i].size < 0 {
		return source.Info{}, false
	}
	return n.object(n.dir, n.list[i]).info(), true
}

func (n names) Cost() int64 { return n.cost() }

// milliseconds is a time as objects have it.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
