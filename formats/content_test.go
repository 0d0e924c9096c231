package formats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"

	"recfs/cache"
)

// A shelf in memory, of which all marks are exact.
type shelf struct {
	kept  map[string][]byte
	marks map[uint64]bool
}

func newShelf() *shelf { return &shelf{map[string][]byte{}, map[uint64]bool{}} }

func (s *shelf) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s.kept[name]
	return b, ok
}
func (s *shelf) Save(name string, b []byte) { s.kept[name] = bytes.Clone(b) }
func (s *shelf) Forget(name string)         { delete(s.kept, name) }
func (s *shelf) Mark(n uint64)              { s.marks[n] = true }
func (s *shelf) Marked(n uint64) bool       { return s.marks[n] }
func (s *shelf) Elsewhere(string) bool      { return false }

// at returns the content of b at a place, after so many changes, and counts the looks at its bytes.
func at(s *shelf, place string, b []byte, changed int64, looks *int) *Content {
	return NewContents(s).Of(place, Stamp{Size: int64(len(b)), Changed: changed}, func(ctx context.Context) (string, error) {
		*looks++
		return ContentKey(ctx, BytesReader(b), int64(len(b)))
	})
}

// find returns the names under which something may lie.
func find(t *testing.T, c *Content) []string { return c.At("index").Find(t.Context()).Names }

// The key is what docs/tree/remote.md section 4 says.
func TestContentKey(t *testing.T) {
	for _, n := range []int{0, 1, 2 * ends, 2*ends + 1, 5 * ends} {
		b := bytes.Repeat([]byte("recording "), n/10+1)[:n]
		parts := [][]byte{[]byte("recfs content 1"), fmt.Append(nil, n)}
		if n <= 2*ends {
			parts = append(parts, b)
		} else {
			parts = append(parts, b[:ends], b[n-ends:])
		}
		want := sha256.Sum256(bytes.Join(parts, []byte{0}))
		if got, err := ContentKey(t.Context(), BytesReader(b), int64(n)); got != hex.EncodeToString(want[:]) || err != nil {
			t.Errorf("%d bytes: %s, %v", n, got, err)
		}
	}
	if _, err := ContentKey(t.Context(), BytesReader(nil), 1); err == nil {
		t.Error("a file that is shorter than it was has a key")
	}
}

// No byte is read of what nobody knows, nor of what has the stamp of its note; a copy and a link
// cost one look.
func TestContentLooks(t *testing.T) {
	s, looks, b := newShelf(), 0, []byte("a recording")
	if f := at(s, "/a", b, 1, &looks).At("index").Find(t.Context()); len(f.Names) > 0 || f.Await != "note of /a" || looks > 0 {
		t.Errorf("of nothing: %+v, %d looks", f, looks)
	}
	name := at(s, "/a", b, 1, &looks).At("index").Name(t.Context())
	looks = 0
	for _, c := range []struct {
		place   string
		changed int64
		looks   int
	}{{"/a", 1, 0}, {"/a", 2, 1}, {"/a", 2, 0}, {"/copy", 3, 1}, {"/copy", 3, 0}} {
		looks = 0
		if got := find(t, at(s, c.place, b, c.changed, &looks)); !slices.Equal(got, []string{name}) || looks != c.looks {
			t.Errorf("%+v: %q, %d looks", c, got, looks)
		}
	}
	if got := find(t, at(s, "/other", []byte("of another size"), 4, &looks)); got != nil || looks > 0 {
		t.Errorf("of another size: %q, %d looks", got, looks)
	}
	if got := find(t, at(s, "/same size", []byte("a recordinG"), 5, &looks)); len(got) != 1 || got[0] == name {
		t.Errorf("other bytes: %q", got)
	}
}

// What grew is found under the key that it had, until something is kept under the one that it has.
func TestContentGrew(t *testing.T) {
	s, looks := newShelf(), 0
	was := at(s, "/a", []byte("begun"), 1, &looks).At("index").Name(t.Context())
	for range 2 { // the note stays what it was
		c := at(s, "/a", []byte("begun, ended"), 2, &looks)
		names := find(t, c)
		if len(names) != 2 || names[0] == was || names[1] != was {
			t.Fatalf("%q", names)
		}
	}
	c := at(s, "/a", []byte("begun, ended"), 2, &looks)
	now := c.At("index").Name(t.Context())
	if got := find(t, c); !slices.Equal(got, []string{now}) {
		t.Errorf("after it was kept: %q", got)
	}
	if got := find(t, at(s, "/a", []byte("begun, ended"), 2, &looks)); !slices.Equal(got, []string{now}) {
		t.Errorf("in the next process: %q", got)
	}
}

// That bytes were compared is noted for a place and a stamp, and for no other.
func TestProven(t *testing.T) {
	s, looks, b := newShelf(), 0, []byte("a recording")
	seal := Seal{Stamp: Stamp{Size: 11, Changed: 9}, Length: 11, Sum: 5}
	c := at(s, "/a", b, 1, &looks)
	if _, err := c.Key(t.Context()); err != nil || c.Holds(t.Context(), seal) {
		t.Error(err)
	}
	for i := range maxProven + 1 {
		seal.Sum = uint64(i)
		c.Prove(t.Context(), seal)
		if !at(s, "/a", b, 1, &looks).Holds(t.Context(), seal) {
			t.Errorf("%d is not noted", i)
		}
	}
	for what, other := range map[string]*Content{"stamp": at(s, "/a", b, 2, &looks), "place": at(s, "/b", b, 1, &looks), "part": c.Part("x"), "none": nil} {
		if other.Holds(t.Context(), seal) {
			t.Errorf("another %s holds it, too", what)
		}
	}
}

// What a container holds has keys of its own, for which no byte is read.
func TestParts(t *testing.T) {
	s, looks, b := newShelf(), 0, []byte("a container")
	if f := find(t, at(s, "/a.tar", b, 1, &looks).Part("x")); f != nil || looks > 0 {
		t.Errorf("of nothing: %q, %d looks", f, looks)
	}
	x := at(s, "/a.tar", b, 1, &looks).Part("x").At("index").Name(t.Context())
	if got := find(t, at(s, "/copy.tar", b, 2, &looks).Part("x")); !slices.Equal(got, []string{x}) {
		t.Errorf("in a copy: %q, want %q", got, x)
	}
	if got := find(t, at(s, "/a.tar", b, 1, &looks).Part("y")); len(got) != 1 || got[0] == x {
		t.Errorf("of another member: %q", got)
	}
	if b, ok := s.Load(t.Context(), "note of /copy.tar/x"); !ok {
		t.Error("no note of the member")
	} else if key, place, ok := NotedPlace(b); !ok || place != "/copy.tar/x" || x != key+"/index" {
		t.Errorf("%s at %q, %t", key, place, ok)
	}
}

// Without a key nothing is kept, and nothing is found.
func TestContentUnread(t *testing.T) {
	s := newShelf()
	s.Mark(sizeMark(0))
	c := NewContents(s).Of("/a", Stamp{}, func(context.Context) (string, error) { return "", errors.New("unread") })
	if got := find(t, c); got != nil || c.At("index").Name(t.Context()) != "" || len(s.kept) > 0 {
		t.Errorf("%q", got)
	}
	if (*Content)(nil).At("index") != cache.Place(nil) || (*Content)(nil).Part("x") != nil {
		t.Error("nothing has a place")
	}
}

// A place tells apart what is kept of a recording.
func TestPlace(t *testing.T) {
	s, looks := newShelf(), 0
	in := Input{Content: at(s, "/a", nil, 1, &looks)}
	key, err := in.Content.Key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, variant string
		raw           ReaderAt
		want          string
	}{{"nethack", "", nil, "nethack"}, {"hcrp", "0f", nil, "hcrp-0f"}, {"hcrp", "0f", BytesReader(nil), "hcrp-0f unpacked"}} {
		in.Raw = c.raw
		if got := in.Place(c.kind, c.variant).Name(t.Context()); got != key+"/"+c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func FuzzNote(f *testing.F) {
	n := note{Stamp: Stamp{Size: 1, Changed: 2}, Key: hex.EncodeToString(make([]byte, noteKeys)), Proven: []Seal{{Length: 3}, {Sum: 4}}, Place: "/a\xff"}
	f.Add(n.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, ok := decodeNote(b)
		if got := n.encode(); ok && !bytes.Equal(got, b) {
			t.Errorf("%q was read as %q", b, got)
		}
	})
}
