package views_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/views"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// An index is a number of documents.
type index struct{ n int }

func (x *index) Append(b []byte) []byte { return b }
func (x *index) Memory() int64          { return 64 }
func (x *index) Reach(string) int64     { return 0 }

// newTree returns the tree of a recording whose index has n documents.
func newTree(t testing.TB, n int) *views.Tree[index] { return keptTree(t, n, nil) }

// keptTree is newTree for a recording of which something is kept in a store, which may be nil.
func keptTree(t testing.TB, n int, store cache.Store) *views.Tree[index] {
	c := cache.New(8<<20, store)
	t.Cleanup(c.Close)
	x := &index{n}
	in := formatstest.BytesInput("x", nil, time.Unix(1, 0))
	formatstest.Keep(&in, store)
	return views.New[index]("test", formats.Recording{
		Input:  in,
		Index:  func(context.Context) (formats.Index, error) { return x, nil },
		Damage: func(context.Context) (*formats.Problem, error) { return nil, nil },
		Seal:   func(context.Context) (formats.Seal, error) { return formats.Seal{Stamp: in.Stamp}, nil },
	}, c)
}

// A list made part by part is the document that encoding/json makes, laid out, however it is cut.
func TestList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		elements := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 9).Draw(rt, "elements")
		flat, together := rapid.Bool().Draw(rt, "flat"), rapid.IntRange(1, 4).Draw(rt, "together")
		type document struct {
			Before []int `json:"before"`
			List   any   `json:"list"`
			Behind struct {
				More any `json:"more"` // the same list again
			} `json:"behind"`
			End []int `json:"end"`
		}
		whole, empty := document{Before: []int{}, End: []int{}}, document{Before: []int{}, List: []int{}, End: []int{}}
		empty.Behind.More = []int{}
		if flat {
			whole.List = elements
		} else {
			objects := []map[string]int{}
			for _, n := range elements {
				objects = append(objects, map[string]int{"n": n})
			}
			whole.List = objects
		}
		list := &views.List{
			Document: func(context.Context) (any, error) { return empty, nil },
			Key:      "list", Flat: flat, N: (len(elements)+together-1)/together + 1, // the last one is empty
			Append: func(_ context.Context, b []byte, part int) ([]byte, error) {
				for _, n := range elements[min(part*together, len(elements)):min((part+1)*together, len(elements))] {
					if flat {
						b = fmt.Appendf(b, "%s%d", views.NextValue, n)
					} else {
						b = fmt.Appendf(b, `%s{"n":%d}`, views.NextElement, n)
					}
				}
				return b, nil
			},
		}
		if flat && len(elements) == 0 {
			whole.List = []int{}
		}
		if flat {
			whole.Behind.More = whole.List
			list.More = []views.List{{Key: "more", Flat: true, N: list.N, Append: list.Append}}
		} else {
			whole.Behind.More = []int{}
		}
		want, err := jsonenc.MarshalIndented(whole)
		if err != nil {
			rt.Fatal(err)
		}
		file := newTree(t, 0).Text("x", 0, func(context.Context, *index) (*views.Text, error) { return list.Text(), nil })
		got, err := nodes.ReadAll(t.Context(), file)
		size, sizeErr := file.Size(t.Context())
		if err != nil || sizeErr != nil || !bytes.Equal(got, want) || size != int64(len(want)) {
			rt.Fatalf("%s of %d bytes, want %s; %v %v", got, size, want, err, sizeErr)
		}
	})
}

// A part begins where the one before it says, also when it is made again out of order, and nothing
// follows the last one.
func TestText(t *testing.T) {
	made := 0
	tree := newTree(t, 0)
	file := tree.Text("x", 3, func(context.Context, *index) (*views.Text, error) {
		return &views.Text{N: 100, Make: func(_ context.Context, i int, at any) (views.Part, error) {
			made++
			from, _ := at.(int)
			if from != i*(i+1)/2 {
				t.Errorf("part %d begins at %d", i, from)
			}
			return views.Part{Bytes: bytes.Repeat([]byte{byte('a' + i%26)}, i+1), Next: from + i + 1, Last: i == 60}, nil
		}}, nil
	})
	size, err := file.Size(t.Context())
	if want := int64(61 * 62 / 2); err != nil || size != want || made != 61 {
		t.Fatalf("%d bytes of %d parts, %v, want %d", size, made, err, want)
	}
	content, err := file.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := 60; i >= 0; i-- {
		b := make([]byte, i+1)
		if _, err := content.ReadAt(t.Context(), b, int64(i*(i+1)/2)); err != nil && i < 60 || b[0] != byte('a'+i%26) || b[i] != b[0] {
			t.Errorf("part %d is %s, %v", i, b, err)
		}
	}
}

// Texts whose parts are made apart share them, and a read near the beginning of a listed one makes
// no more than it shows.
func TestListed(t *testing.T) {
	const n, size = 100, 10
	var made atomic.Int64
	tree := newTree(t, 0)
	open := func(first int) func(context.Context) (*views.Text, error) {
		return func(context.Context) (*views.Text, error) {
			return &views.Text{
				N: n, Apart: true, Share: func(i int) any { return first + i },
				Make: func(_ context.Context, i int, at any) (views.Part, error) {
					if at != nil && at != i-1 {
						t.Errorf("part %d comes after %v", i, at)
					}
					made.Add(1)
					return views.Part{Bytes: bytes.Repeat([]byte{byte(first + i)}, size), Next: i}, nil
				},
			}, nil
		}
	}
	read := func(f nodes.File, off, part int) {
		t.Helper()
		c, err := f.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, size)
		if k, err := c.ReadAt(t.Context(), b, int64(off)); c.Size() != n*size || k != size || b[0] != byte(part) || err != nil {
			t.Errorf("%d bytes %x of %d at %d, %v, want part %d", k, b, c.Size(), off, err, part)
		}
	}
	first := tree.TextOf("x", 0, 2, open(0)).(nodes.Measured)
	if first.IsMeasured(t.Context()) {
		t.Error("the size is known before")
	}
	read(first, 50*size, 50)
	read(first, 2*size, 2)
	if got := made.Load(); got != n || !first.IsMeasured(t.Context()) {
		t.Errorf("%d parts were made", got)
	}
	second := tree.TextOf("x", 1, 2, open(n))
	if got, err := second.Size(t.Context()); got != n*size || err != nil || !second.(nodes.Measured).IsMeasured(t.Context()) {
		t.Errorf("%d bytes, %v", got, err)
	}
	made.Store(0)
	read(tree.HeadText("x", "over both", open(n/2)), 0, n/2)
	if got := made.Load(); got != n {
		t.Errorf("%d parts were made to learn sizes, want %d", got, n)
	}
	read(tree.TextOf("x", 0, 2, open(0)), 3*size, 3)
	if got := made.Load(); got != n {
		t.Errorf("%d parts were made again", got-n)
	}
	third := tree.TextOf("x", 2, 3, open(2*n)) // the list that is known is one of two
	if got, err := third.Size(t.Context()); got != n*size || err != nil || !third.(nodes.Measured).IsMeasured(t.Context()) {
		t.Errorf("%d bytes, %v", got, err)
	}
}

// A lateStore keeps what is saved. It calls late before it keeps something a second time.
type lateStore struct {
	cache.Store
	saved map[string][]byte
	late  func()
}

func (s *lateStore) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s.saved[name]
	return b, ok
}

func (s *lateStore) Save(name string, data []byte) {
	if late := s.late; late != nil && s.saved[name] != nil {
		s.late = nil
		late()
	}
	s.saved[name] = data
}

// A size that becomes known while others are saved is saved, too.
func TestListedSaves(t *testing.T) {
	text := func(context.Context) (*views.Text, error) {
		return &views.Text{N: 1, Make: func(context.Context, int, any) (views.Part, error) { return views.Part{Bytes: []byte("x")}, nil }}, nil
	}
	store := &lateStore{saved: map[string][]byte{}}
	tree := keptTree(t, 0, store)
	store.late = func() { tree.TextOf("x", 1, 2, text).Size(t.Context()) }
	tree.TextOf("x", 0, 2, text).Size(t.Context())
	tree = keptTree(t, 0, store)
	for i := range 2 {
		if !tree.TextOf("x", i, 2, text).(nodes.Measured).IsMeasured(t.Context()) {
			t.Errorf("the size of text %d is not kept", i)
		}
	}
}

// Two processes that learn sizes of the same view keep those of both.
func TestListedOfTwo(t *testing.T) {
	text := func(context.Context) (*views.Text, error) {
		return &views.Text{N: 1, Make: func(context.Context, int, any) (views.Part, error) { return views.Part{Bytes: []byte("x")}, nil }}, nil
	}
	store := &lateStore{saved: map[string][]byte{}}
	first, second := keptTree(t, 0, store), keptTree(t, 0, store)
	first.TextOf("x", 2, 3, text).(nodes.Measured).IsMeasured(t.Context())
	second.TextOf("x", 2, 3, text).(nodes.Measured).IsMeasured(t.Context()) // both know none by now
	first.TextOf("x", 0, 3, text).Size(t.Context())
	second.TextOf("x", 1, 3, text).Size(t.Context())
	third := keptTree(t, 0, store)
	for i := range 2 {
		if !third.TextOf("x", i, 3, text).(nodes.Measured).IsMeasured(t.Context()) {
			t.Errorf("the size of text %d is not kept", i)
		}
	}
}

var errLost = errors.New("lost")

// The sizes that a run tells are those of the documents, and a document that cannot be made has an
// error.
func TestDocuments(t *testing.T) {
	const n, together, lost = 1000, 64, 77
	runs := 0
	document := func(i int) []byte { return []byte(strings.Repeat("x", i%200+1)) }
	tree := newTree(t, n)
	dir, _ := tree.Dir(views.Game[index]{
		Header:   func(context.Context) (any, error) { return json.RawMessage("{}"), nil },
		Document: func(context.Context, *index) (views.Document, error) { return &formats.IndexDocument[int, int]{}, nil },
		Ticks: &views.Documents[index]{
			Numbers: func(x *index) views.Numbers {
				return views.Numbers{N: x.n, Number: func(i int) int64 { return int64(3 * i) }}
			},
			Make: func(_ context.Context, n int64) ([]byte, error) {
				if n == 3*lost {
					return nil, errLost
				}
				return document(int(n / 3)), nil
			},
			Stretch: func(x *index, i int) (first, end int) {
				first = i / together * together
				return first, min(first+together, x.n)
			},
			Each: func(_ context.Context, _ *index, first, end int, fn func(int, []byte) error) error {
				runs++
				for i := first; i < end; i++ {
					if i == lost {
						continue
					}
					if err := fn(i, document(i)); err != nil {
						return err
					}
				}
				return nil
			},
		},
	})
	for i := range n {
		e, err := nodes.Lookup(t.Context(), dir, fmt.Sprintf("ticks/%08d.json", 3*i))
		if err != nil {
			t.Fatal(err)
		}
		size, err := e.File.Size(nodes.Listing(t.Context()))
		switch {
		case i == lost && !errors.Is(err, errLost):
			t.Errorf("the lost document has %d bytes, %v", size, err)
		case i != lost && (err != nil || size != int64(len(document(i)))):
			t.Errorf("document %d has %d bytes, %v", i, size, err)
		}
	}
	if want := (n + together - 1) / together; runs != want {
		t.Errorf("%d runs were made, want %d", runs, want)
	}
	nodestest.Check(t, dir)
	if _, err := nodes.Lookup(t.Context(), dir, "ticks/1.json"); err == nil {
		t.Error("a number that is not listed opens")
	}
}
