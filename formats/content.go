package formats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
)

// What is kept of a recording on disk goes by its content (docs/tree/remote.md section 4): its
// names begin with a key, which takes two reads. So that those are made once, a note says for a
// place what stamp the file there had, and what key. A key alone is never believed, see [Seal].

// ends is how many bytes of each end of a file are in its key.
const ends = 64 << 10

// A Shelf is where things are kept, and notes of what they are of.
type Shelf interface {
	cache.Store
	Mark(n uint64)
	Marked(n uint64) bool
	// Elsewhere reports whether others may keep something under a name, of which nothing is marked;
	// "": under any.
	Elsewhere(name string) bool
}

// Contents find what is kept of recordings.
type Contents struct {
	shelf Shelf
	seen  *cache.Recent[contentKey, note]
}

// contentKey is a version of what lies at a place.
type contentKey struct {
	place string
	stamp Stamp
}

// maxSeen is of how many recordings the notes stay in memory.
const maxSeen = 1 << 12

// NewContents returns what finds things on a shelf.
func NewContents(shelf Shelf) *Contents {
	return &Contents{shelf, cache.NewRecent[contentKey, note](maxSeen)}
}

// A Content is the bytes of one version of a recording, as names on disk have it. Nothing is kept
// for nil.
type Content struct {
	in *Contents
	contentKey
	sum  func(context.Context) (string, error) // the key, by reading
	base *Content                              // of which this is a part; nil: of none
}

// Of returns the content of what lies at a place and has a stamp. sum returns its key.
func (c *Contents) Of(place string, stamp Stamp, sum func(context.Context) (string, error)) *Content {
	return &Content{in: c, contentKey: contentKey{place, stamp}, sum: sum}
}

// Part returns the content of what a container holds under a name.
func (c *Content) Part(name string) *Content {
	if c == nil {
		return nil
	}
	p := c.in.Of(c.place+"/"+name, c.stamp, func(ctx context.Context) (string, error) {
		key, err := c.Key(ctx)
		return keyOf("recfs member 1", key, name), err
	})
	p.base = c
	return p
}

// keyOf returns the key that is made of texts.
func keyOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// ContentKey returns the key of the size bytes of r.
func ContentKey(ctx context.Context, r ReaderAt, size int64) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "recfs content 1\x00%d\x00", size)
	first := min(ends, size)
	if size <= 2*ends {
		first = size
	}
	b := make([]byte, first)
	if err := readFull(ctx, r, b, 0); err != nil {
		return "", err
	}
	if size <= 2*ends { // the ends meet
		h.Write(b)
		return hex.EncodeToString(h.Sum(nil)), nil
	}
	h.Write(append(b, 0))
	if err := readFull(ctx, r, b, size-ends); err != nil {
		return "", err
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readFull fills b with the bytes at off.
func readFull(ctx context.Context, r ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(ctx, b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// A SegmentKey is a file of a recording that is a directory. Only the first and the last have a
// key.
type SegmentKey struct {
	Name string
	Size int64
	Key  string
}

// SegmentsKey returns the key of a recording of these files.
func SegmentsKey(files []SegmentKey) string {
	texts := []string{"recfs segments 1"}
	for _, f := range files {
		texts = append(texts, f.Name, strconv.FormatInt(f.Size, 10), f.Key)
	}
	return keyOf(texts...)
}

// find returns what is known of the content. found is false if nothing is kept of it: where no file
// of its size was ever noted, and nothing at its place, that takes no look at its bytes.
func (c *Content) find(ctx context.Context) (n note, found bool) {
	if n, ok := c.in.seen.Get(c.contentKey); ok {
		return n, true
	}
	was, noted := c.load(ctx)
	if noted && was.Stamp.Same(c.stamp) {
		c.in.seen.Swap(c.contentKey, was)
		return was, true
	}
	if !noted && !c.sizeNoted(ctx) {
		return n, false
	}
	key, err := c.sum(ctx)
	if err != nil {
		return n, false
	}
	n = note{Stamp: c.stamp, Key: key}
	switch {
	case noted && was.Key != key: // it may have grown: what is kept of it is noted once that is kept under the new key
		n.earlier = was.Key
	case noted && was.Stamp == c.stamp: // without a change time nothing is sure, and the note as it was
	default:
		c.keep(n)
		return n, true
	}
	c.in.seen.Swap(c.contentKey, n)
	return n, true
}

// sizeNoted reports whether something may be kept of a file of this size.
func (c *Content) sizeNoted(ctx context.Context) bool {
	if c.base != nil {
		_, found := c.base.find(ctx)
		return found
	}
	return c.in.shelf.Marked(sizeMark(c.stamp.Size)) || c.stamp.Changed != ByContent && c.in.shelf.Elsewhere("")
}

// Awaits reports whether what awaits something of a name, the note of a file of that size, may find
// it under the key of another file.
func Awaits(s Shelf, name string, size int64) bool {
	return IsNote(name) && s.Marked(sizeMark(size))
}

func sizeMark(size int64) uint64 { return uint64(size) + 1<<63 }

// Key returns the key, and notes it: something is kept under it.
func (c *Content) Key(ctx context.Context) (string, error) {
	if n, ok := c.in.seen.Get(c.contentKey); ok && n.earlier == "" {
		return n.Key, nil
	}
	n, found := c.find(ctx)
	if !found {
		key, err := c.sum(ctx)
		if err != nil {
			return "", err
		}
		n = note{Stamp: c.stamp, Key: key}
	}
	if !found || n.earlier != "" {
		n.earlier = ""
		c.keep(n)
	}
	return n.Key, nil
}

// Holds reports whether bytes with that seal are known to be of this content.
func (c *Content) Holds(ctx context.Context, s Seal) bool {
	if c == nil {
		return false
	}
	n, found := c.find(ctx)
	return found && slices.Contains(n.Proven, s)
}

// Prove notes that all bytes of a seal were compared with those of this content.
func (c *Content) Prove(ctx context.Context, s Seal) {
	if c == nil || c.stamp.Changed == 0 {
		return
	}
	if n, found := c.find(ctx); found && n.earlier == "" && !slices.Contains(n.Proven, s) {
		n.Proven = append(slices.Clip(n.Proven[max(0, len(n.Proven)+1-maxProven):]), s)
		c.keep(n)
	}
}

// name is that of the note on disk.
func (c *Content) name() string {
	if c.stamp.Changed == ByContent && c.base == nil {
		return fmt.Sprintf(objectPrefix+"%d bytes, %x", c.stamp.Size, c.stamp.Inode)
	}
	return notePrefix + c.place
}

const (
	notePrefix   = "note of "
	objectPrefix = notePrefix + "an object of "
)

// IsObjectNote reports whether what is kept under a name is the note of an object, which holds on
// any machine.
func IsObjectNote(name string) bool { return strings.HasPrefix(name, objectPrefix) }

// CutKey takes a name under which something is kept of a content apart; ok is false if it is none.
func CutKey(name string) (key, kind string, ok bool) {
	key, kind, ok = strings.Cut(name, "/")
	sum, err := hex.DecodeString(key)
	return key, kind, ok && err == nil && len(sum) == sha256.Size
}

// ObjectNote returns the note of an object, or of the one that it is a part of, as others may have
// it; "": it is none.
func (c *Content) ObjectNote(ctx context.Context) (name string, note []byte, err error) {
	for c.base != nil {
		c = c.base
	}
	if c.stamp.Changed != ByContent {
		return "", nil, nil
	}
	if _, err = c.Key(ctx); err != nil {
		return "", nil, err
	}
	n, _ := c.find(ctx)
	n.Place = ""
	return c.name(), n.encode(), nil
}

// load returns the note on disk.
func (c *Content) load(ctx context.Context) (note, bool) {
	name := c.name()
	if !c.in.shelf.Marked(xxhash.Sum64String(name)) && !c.in.shelf.Elsewhere(name) {
		return note{}, false
	}
	b, ok := c.in.shelf.Load(ctx, name)
	if !ok {
		return note{}, false
	}
	return decodeNote(b)
}

// keep keeps a note, in memory and on disk.
func (c *Content) keep(n note) {
	c.in.seen.Swap(c.contentKey, n)
	n.Place = c.place
	if c.base == nil {
		c.in.shelf.Mark(sizeMark(c.stamp.Size))
	}
	name := c.name()
	c.in.shelf.Mark(xxhash.Sum64String(name))
	c.in.shelf.Save(name, n.encode())
}

// At returns where something that a kind names is kept, nil if it is not.
func (c *Content) At(kind string) cache.Place {
	if c == nil {
		return nil
	}
	return contentPlace{c, kind}
}

// A contentPlace is where something is kept of a content.
type contentPlace struct {
	c    *Content
	kind string
}

// Find implements cache.Place.
func (p contentPlace) Find(ctx context.Context) cache.Found {
	n, found := p.c.find(ctx)
	if !found {
		return cache.Found{Await: p.c.name()}
	}
	names := []string{p.of(n.Key)}
	if n.earlier != "" {
		names = append(names, p.of(n.earlier))
	}
	return cache.Found{Names: names, Await: names[0]}
}

// Name implements cache.Place.
func (p contentPlace) Name(ctx context.Context) string {
	key, err := p.c.Key(ctx)
	if err != nil {
		return ""
	}
	return p.of(key)
}

func (p contentPlace) of(key string) string { return key + "/" + p.kind }

// A note says what lies at a place.
type note struct {
	Stamp  Stamp
	Key    string
	Proven []Seal // of other versions, whose bytes are known to be those of this one
	Place  string

	earlier string // key of what lay there before, of which this may be more
}

const (
	noteKeys  = sha256.Size // bytes
	maxProven = 4           // an index, a copy, and those that were made anew
)

// encode returns the note as it is kept: stamp, key, the number of seals as a byte, seals, place.
func (n note) encode() []byte {
	key, err := hex.DecodeString(n.Key)
	if err != nil {
		return nil
	}
	b := append(append(n.Stamp.Append(nil), key...), byte(len(n.Proven)))
	for _, s := range n.Proven {
		b = s.Append(b)
	}
	return append(b, n.Place...)
}

// decodeNote returns the note that encode made.
func decodeNote(b []byte) (n note, ok bool) {
	const head = StampSize + noteKeys + 1
	if len(b) < head {
		return n, false
	}
	n = note{Stamp: ReadStamp(b), Key: hex.EncodeToString(b[StampSize : head-1])}
	count := int(b[head-1])
	b = b[head:]
	if count > maxProven || len(b) < count*SealSize {
		return note{}, false
	}
	for range count {
		var s Seal
		s, b, _ = CutSeal(b)
		n.Proven = append(n.Proven, s)
	}
	n.Place = string(b)
	return n, true
}

// IsNote reports whether a file of the disk cache that is called so is a note.
func IsNote(name string) bool { return strings.HasPrefix(name, notePrefix) }

// NotedPlace returns what a note says: the key with which the names of all that is kept of a
// content begin, and where that was used last.
func NotedPlace(data []byte) (key, place string, ok bool) {
	n, ok := decodeNote(data)
	return n.Key, n.Place, ok
}
