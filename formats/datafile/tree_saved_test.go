package datafile

import (
	"bytes"
	"reflect"
	"testing"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/nodes/nodestest"
)

// TestSavedFindings reads what was saved, and refuses all that ends before its end.
func TestSavedFindings(t *testing.T) {
	want := findings{
		problemList{{Code: "size_wrong", Offset: 8, Message: "m"}, {Code: "truncated", Path: "data/00001", Offset: 1 << 40}},
		formats.Seal{Length: 3, Sum: 4},
	}
	b := want.encode()
	if got, err := decodeFindings(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for n := range b {
		if _, err := decodeFindings(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are findings", n, len(b))
		}
	}
}

// TestDurableIndex finds the problems of a large map on disk, unless its bytes have changed.
func TestDurableIndex(t *testing.T) {
	w := &mapWriter{}
	w.content(make([]byte, smallIndex))
	sound := w.bytes()
	damaged := bytes.Clone(sound)
	damaged[len(damaged)-1] ^= 1 // the checksum of the zlib stream
	disk := store{}
	index := func(b []byte, changed int64, disk store) (doc []byte, reads bool) {
		r := newCountingReader(b)
		src := formats.BytesInput("test.map", nil, testTime)
		src.ReaderAt, src.Size, src.Stored, src.ID = r, int64(len(b)), int64(len(b)), "archive/test.map"
		src.Stamp = formats.Stamp{Size: src.Size, Changed: changed}
		c := cache.New(1<<20, disk)
		t.Cleanup(c.Close)
		root, err := New(Options{}).Open(t.Context(), src, c)
		if err != nil {
			t.Fatal(err)
		}
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

func TestSaved(t *testing.T) {
	nodestest.Saved(t, testdata+"/saved.sums", indexfile.Layout, func(b []byte) []byte {
		r, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
		if err != nil {
			return nil
		}
		v := newView(formats.BytesInput("test.map", b, testTime), r, newCache(t))
		found, _, err := v.findProblems(t.Context(), struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		return found.encode()
	}, testdata+"/*.txtar", testdata+"/broken/*.map", samples+"/*.map")
}

type store map[string][]byte

func (s store) Load(name string) ([]byte, bool) { b, ok := s[name]; return b, ok }
func (s store) Save(name string, b []byte)      { s[name] = b }
