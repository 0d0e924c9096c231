package datafile

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"testing"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// TestSavedIndex reads what was saved, and refuses all that ends before its end.
func TestSavedIndex(t *testing.T) {
	want := &index{
		3,
		[4]string{"Tee", "1.0", "", "CC0"},
		problemList{{Code: "size_wrong", Offset: 8, Message: "m"}, {Code: "truncated", Path: "data/00001", Offset: 1 << 40}},
	}
	b := want.Append(nil)
	read := func(b []byte) (formats.Index, error) { return readIndex(formats.Input{}, &Tables{size: want.size}, b) }
	if got, err := read(b); err != nil || !reflect.DeepEqual(got, formats.Index(want)) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for n := range b {
		if _, err := read(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are an index", n, len(b))
		}
	}
}

// TestDurableIndex finds the problems of a map on disk, unless its bytes have changed.
func TestDurableIndex(t *testing.T) {
	w := &mapWriter{}
	w.content(make([]byte, 1<<16))
	sound := w.bytes()
	damaged := bytes.Clone(sound)
	damaged[len(damaged)-1] ^= 1 // the checksum of the zlib stream
	disk := store{}
	index := func(b []byte, changed int64, disk store) (doc []byte, reads bool) {
		root, r := openKept(t, b, changed, Options{}, disk)
		doc = readFile(t, root, "index.json")
		return doc, r.data(mustRead(t, b)) != nil
	}
	want, _ := index(sound, 1, disk)
	of, _ := index(damaged, 1, store{})
	for i, c := range []struct {
		b       []byte
		changed int64
		want    []byte
		reads   bool
	}{{sound, 1, want, false}, {sound, 2, want, true}, {sound, 2, want, false}, {damaged, 3, of, true}, {sound, 4, want, true}} {
		got, reads := index(c.b, c.changed, disk)
		if !bytes.Equal(got, c.want) {
			t.Errorf("index %d differs", i)
		}
		if reads != c.reads {
			t.Errorf("index %d reads data: %v, want %v", i, reads, c.reads)
		}
	}
	if bytes.Equal(want, of) {
		t.Error("the damage does not show")
	}
}

// TestSavedReadsNothing lists and describes a map whose index is kept.
func TestSavedReadsNothing(t *testing.T) {
	w := smallMap()
	w.content(make([]byte, 1<<16))
	b, disk := w.bytes(), store{}
	describe := func() (text []byte, read bool) {
		root, r := openKept(t, b, 1, Options{}, disk)
		for _, name := range []string{"header.json", "index.json"} {
			text = append(text, readFile(t, root, name)...)
		}
		for _, name := range []string{"items", "data", "layers"} {
			if e, err := nodes.Lookup(t.Context(), root, name); err == nil {
				if _, err := e.Dir.Len(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		return text, slices.Contains(r.touched, true)
	}
	want, read := describe()
	if !read {
		t.Error("an index is made without a read")
	}
	if got, read := describe(); read || !bytes.Equal(got, want) {
		t.Errorf("the second time: read %v, the same text %v", read, bytes.Equal(got, want))
	}
}

func TestSaved(t *testing.T) {
	nodestest.Saved(t, testdata+"/saved.sums", indexfile.Layout, func(b []byte) []byte {
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return nil
		}
		x, err := scan(t.Context(), formatstest.BytesInput("test.map", b, testTime), r.Tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		return x.Append(r.Append(nil))
	}, testdata+"/*.txtar", testdata+"/broken/*.map", samples+"/*.map")
}

type store map[string][]byte

func (s store) Load(_ context.Context, name string) ([]byte, bool) { b, ok := s[name]; return b, ok }
func (s store) Save(name string, b []byte)                         { s[name] = b }
func (s store) Forget(name string)                                 { delete(s, name) }
