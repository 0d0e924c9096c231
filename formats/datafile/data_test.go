package datafile

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"recfs/formats"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// dataFile returns a reader of a file that has nothing but one data item.
func dataReader(t testing.TB, stored []byte, size int32) *Reader {
	t.Helper()
	w := &mapWriter{data: []writtenData{{stored, size}}}
	return mustRead(t, w.bytes())
}

func TestData(t *testing.T) {
	content := []byte(strings.Repeat("tee", 1000))
	sound := deflate(content)
	broken := bytes.Clone(sound)
	broken[len(broken)-1] ^= 1
	for _, c := range []struct {
		name   string
		stored []byte
		size   int
		code   string // "" if it is sound
		say    []string
	}{
		{"sound", sound, len(content), "", nil},
		{"bytes behind", append(bytes.Clone(sound), 1, 2, 3), len(content), "", nil},
		{"too small", sound, len(content) - 1, "data_size_mismatch", []string{"2999", "3000"}},
		{"too big", sound, len(content) + 1, "data_size_mismatch", []string{"3001", "3000"}},
		{"cut", sound[:len(sound)-2], len(content), "data_zlib", []string{"data 0"}},
		{"checksum", broken, len(content), "data_zlib", []string{"checksum"}},
		{"no stream", []byte("tee"), 3, "data_zlib", []string{"header"}},
		{"nothing", nil, 3, "data_zlib", []string{"data 0"}},
		{"empty", nil, 0, "", nil},
		{"empty stream", deflate(nil), 0, "", nil},
		{"not empty", sound, 0, "data_size_mismatch", []string{"0", "3000"}},
		{"over the limit", sound, 1<<30 + 1, "data_too_large", []string{"1073741825"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := dataReader(t, c.stored, int32(c.size))
			b, err := r.ReadData(t.Context(), 0)
			trailing, checked := r.CheckData(t.Context(), 0, io.Discard)
			if c.code == "" {
				if err != nil || checked != nil || !bytes.Equal(b, content[:c.size]) {
					t.Errorf("%d bytes, %v, %v", len(b), err, checked)
				}
				if want := int64(strings.Count(c.name, "behind") * 3); trailing != want {
					t.Errorf("%d bytes behind the stream, want %d", trailing, want)
				}
				return
			}
			if f, ok := formats.Coded(err); !ok || f.Code != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if checked == nil || checked.Error() != err.Error() {
				t.Errorf("CheckData says %v, ReadData %v", checked, err)
			}
			for _, word := range c.say {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

// TestNotEmpty looks at a data item that announces no bytes and holds some.
func TestNotEmpty(t *testing.T) {
	w := &mapWriter{data: []writtenData{{deflate([]byte("tee")), 0}}}
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := nodes.Lookup(t.Context(), root, "data/0")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := e.File.Size(t.Context()); n != 0 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	if _, err := e.File.Open(t.Context()); err == nil {
		t.Error("it opens")
	}
}

// TestEmptyAfterTheEnd cuts a file before a data item that stores nothing: nothing of it is
// missing.
func TestEmptyAfterTheEnd(t *testing.T) {
	w := &mapWriter{data: []writtenData{{deflate([]byte("tee")), 3}, {nil, 0}, {nil, 3}}}
	b := w.bytes()
	root, err := openTree(t, b[:len(b)-1], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b := readFile(t, root, "data/1"); len(b) != 0 {
		t.Errorf("%d bytes", len(b))
	}
	if got, want := problemCodes(t, root), []string{"data_size_zero", "data_zlib", "truncated", "truncated"}; !slices.Equal(got, want) {
		t.Errorf("problems %v, want %v", got, want)
	}
}

// TestLongStringDamaged lets a name refer to a data item that is damaged and too long for a name:
// that is one problem.
func TestLongStringDamaged(t *testing.T) {
	w := &mapWriter{data: []writtenData{{[]byte("tee"), maxName + 1}}}
	w.item(typeVersion, 1)
	w.item(typeSound, 1, 1, 0, -1, 0)
	root, err := openTree(t, w.bytes(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := problemCodes(t, root), []string{"data_zlib"}; !slices.Equal(got, want) {
		t.Errorf("problems %v, want %v", got, want)
	}
}

// TestBombs reads streams that hold far more than they announce, or announce far more than they
// hold, and looks at what is allocated.
func TestBombs(t *testing.T) {
	nodestest.Long(t)
	bomb := zeros(t, 256<<20)
	for _, c := range []struct {
		name   string
		stored []byte
		size   int32
	}{
		{"holds more than it says", bomb, 1024},
		{"says more than it holds", deflate(make([]byte, 1024)), 1 << 30},
		{"says much and is broken", []byte("xxxx"), 1 << 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := dataReader(t, c.stored, c.size)
			if got := allocated(func() {
				if _, err := r.ReadData(t.Context(), 0); !isFault(err) {
					t.Errorf("got %v, want a fault", err)
				}
			}); got > 4<<20 {
				t.Errorf("%d bytes allocated", got)
			}
		})
	}
}

// zeros returns a stream of n zeros.
func zeros(t *testing.T, n int64) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw, err := zlib.NewWriterLevel(&buf, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(zw, zeroReader{}, n); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// allocated returns how many bytes f allocates, what it frees included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestStoredBehind reads a name behind whose stream many more bytes are stored: they are not held
// in memory.
func TestStoredBehind(t *testing.T) {
	w := &mapWriter{}
	w.item(typeVersion, 1)
	w.image("name", 1, 1, make([]byte, 4))
	name := &w.data[w.items[1].ints[4]]
	name.stored = append(name.stored, make([]byte, 64<<20)...)
	b := w.bytes()
	if got := allocated(func() {
		root, err := openTree(t, b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if codes := problemCodes(t, root); !slices.Equal(codes, []string{"data_trailing_bytes"}) {
			t.Errorf("problems %v", codes)
		}
		readFile(t, root, "images/00-name.png")
	}); got > 16<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}
