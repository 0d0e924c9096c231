package remote

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	iofs "io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A listing is the names of a folder, which come page after page. Each takes 40 bytes more, with an
// ETag that is an MD5.
type listing struct {
	dir     string
	turn    int64
	inOrder bool                                               // keys come by their bytes
	goOn    func(ctx context.Context, l *listing, n int) error // asks for more, of which n names are wanted
	busy    chan struct{}                                      // full while somebody does

	mu       sync.RWMutex
	items    []item   // all that came
	text     [][]byte // in pieces of textPiece
	sorted   int      // of the items
	known    int      // of these, before which no other name will come
	before   int      // of these, before the last page
	complete bool
	next     string          // where it goes on if it is not complete
	seen     map[uint64]bool // where it went on
	last     string          // of the keys that came, in their order
	settled  map[string]bool // folders that were asked for before they came
	odd      oddNames

	newest int64  // time of the newest file of the first page, or of all
	sum    uint64 // of their names and versions
	strong bool   // their ETags name the bytes
}

const (
	textPiece = 1 << 16
	pieceCost = 24 // bytes beside those in it
)

type item struct {
	at        uint32 // in text: piece and place
	name, tag uint16 // lengths; packedTag
	size      int64
	modified  int64
}

// packedTag says that text has the bytes of an MD5 in place of the ETag.
const packedTag = math.MaxUint16

// add adds a name. Names may come in any order, and again.
func (l *listing) add(name, tag string, size, modified int64) {
	if !isName(name) || len(tag) >= packedTag || len(l.text) > math.MaxUint16 {
		l.odd.add(name)
		return
	}
	key := name
	if size == sizeFolder {
		if l.settled[name] {
			return
		}
		key += "/"
	}
	l.last = max(l.last, key)
	text := l.room(len(name) + len(tag))
	it := item{uint32((len(l.text)-1)*textPiece + len(*text)), uint16(len(name)), uint16(len(tag)), size, modified}
	*text = append(*text, name...)
	if len(tag) == len(`""`)+hex.EncodedLen(md5.Size) && tag[0] == '"' && tag[len(tag)-1] == '"' && isSum(tag) {
		it.tag = packedTag
		*text, _ = hex.AppendDecode(*text, []byte(tag[1:len(tag)-1])) // it is one
	} else {
		*text = append(*text, tag...)
	}
	l.items = append(l.items, it)
}

// room returns the piece of text that n bytes go to. The first one grows with them.
func (l *listing) room(n int) *[]byte {
	switch last := len(l.text) - 1; {
	case last < 0:
		l.text = append(l.text, nil)
	case len(l.text[last]) > 0 && len(l.text[last])+n > textPiece:
		l.text = append(l.text, make([]byte, 0, textPiece))
	}
	return &l.text[len(l.text)-1]
}

func (l *listing) name(it item) string {
	return string(l.text[it.at/textPiece][it.at%textPiece:][:it.name])
}

func (l *listing) tag(it item) string {
	b := l.text[it.at/textPiece][it.at%textPiece:][it.name:]
	if it.tag == packedTag {
		return fmt.Sprintf("\"%x\"", b[:md5.Size])
	}
	return string(b[:it.tag])
}

// compare puts items in their order, a folder before an object of its name.
func (l *listing) compare(a, b item) int {
	return cmp.Or(strings.Compare(l.name(a), l.name(b)), cmp.Compare(max(a.size, sizeFolder), max(b.size, sizeFolder)))
}

// settle sorts what came, and finds out which names no other will come before. Of a folder and an
// object with one name the folder stays.
func (l *listing) settle() {
	slices.SortFunc(l.items[l.known:], l.compare)
	to := l.known
	for _, it := range l.items[l.known:] {
		if to > 0 && l.name(l.items[to-1]) == l.name(it) {
			if l.items[to-1].size == sizeFolder && it.size != sizeFolder {
				l.odd.add(l.name(it))
			}
			continue
		}
		l.items[to] = it
		to++
	}
	l.items, l.sorted, l.known = l.items[:to], to, to
	if l.complete {
		return
	}
	if doubt, ok := l.doubt(); ok {
		l.known, _ = l.search(doubt)
	}
}

// doubt returns the first name that may come later, as that of a folder. As keys go by their bytes,
// and that of a folder ends with a slash, "a-b" and "a.b" come before the folder "a". Where keys
// come in no order, that is any.
func (l *listing) doubt() (name string, ok bool) {
	if !l.inOrder {
		return "", true
	}
	for i := 1; i <= len(l.last); i++ {
		if name = l.last[:i]; (i == len(l.last) || l.last[i] < '/') && isName(name) && !l.settled[name] {
			return name, true
		}
	}
	return "", false
}

// describe makes what info tells, of all that came, which is sorted.
func (l *listing) describe() {
	sum := xxhash.New()
	l.newest, l.strong = 0, true
	for _, it := range l.items {
		_, _ = sum.WriteString(l.name(it) + l.tag(it) + "\x00")
		if it.size >= 0 {
			l.newest = max(l.newest, it.modified)
			l.strong = l.strong && l.object(it).isStrong()
		}
	}
	l.sum = sum.Sum64()
}

// seal ends the listing.
func (l *listing) seal() {
	l.complete, l.next, l.seen, l.settled = true, "", nil, nil
	l.settle()
	l.describe()
	l.items = fitted(l.items)
	if last := len(l.text) - 1; last >= 0 {
		l.text[last] = fitted(l.text[last])
	}
}

// fitted returns s without the room that it has to grow, if that is much.
func fitted[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/4 { // as large ones grow
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}

// object returns the object that an item is.
func (l *listing) object(it item) object {
	return object{l.dir + l.name(it), l.tag(it), it.size, it.modified}
}

// search returns where a name is among those that are sorted, or would be.
func (l *listing) search(name string) (int, bool) {
	return slices.BinarySearchFunc(l.items[:l.sorted], name, func(it item, name string) int { return strings.Compare(l.name(it), name) })
}

// find returns what has a name. Unless it is sure, behind the names that are known there may be
// something, or a folder that stands in place of an object.
func (l *listing) find(name string) (o object, ok, sure bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, ok := l.search(name)
	if ok {
		o = l.object(l.items[i])
	}
	sure = l.complete || i < l.known || ok && (o.size == sizeFolder || l.last > name+"/")
	return o, ok, sure
}

// isEmpty reports whether nothing is there.
func (l *listing) isEmpty() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.items)+l.odd.n == 0
}

// reaches reports whether n names are known, or all.
func (l *listing) reaches(n int) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.complete || l.known >= n
}

// Reach implements source.Pages.
func (l *listing) Reach(ctx context.Context, n int) error {
	for !l.reaches(n) {
		if err := l.goOn(ctx, l, n); err != nil {
			return err
		}
	}
	return nil
}

// info is that of the folder: its time is that of its newest file.
func (l *listing) info() source.Info {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := formats.Stamp{Modified: l.newest / 1000, Nanos: l.newest % 1000 * 1e6, Inode: l.sum}
	if l.strong {
		s.Changed = formats.ByContent
	}
	return source.Info{Version: source.Version{Stamp: s, Links: 1}, Type: iofs.ModeDir, Rights: nodes.Rights{Mode: 0o555}}
}

// Len implements source.Names.
func (l *listing) Len() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.known
}

// At implements source.Names.
func (l *listing) At(i int) (string, iofs.FileMode) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	it := l.items[i]
	if it.size == sizeFolder {
		return l.name(it), iofs.ModeDir
	}
	return l.name(it), 0
}

// Find implements source.Names.
func (l *listing) Find(name string) (int, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	i, ok := l.search(name)
	return i, ok && i < l.known
}

// Info implements source.Names: of a folder the listing does not know the time.
func (l *listing) Info(i int) (source.Info, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if it := l.items[i]; it.size >= 0 {
		return l.object(it).info(), true
	}
	return source.Info{}, false
}

// Cost implements source.Names.
func (l *listing) Cost() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n := int64(len(l.dir)) + int64(unsafe.Sizeof(*l)) + int64(cap(l.items))*int64(unsafe.Sizeof(item{})) + pieceCost*int64(len(l.text))
	for _, text := range l.text {
		n += int64(cap(text))
	}
	return n
}
