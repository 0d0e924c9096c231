package indexfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recfs/formats/internal/indexfile"
)

// coded has a value of each kind that a Codec takes.
type coded struct {
	N     int
	Size  int64
	Diff  int32
	Byte  uint8
	On    bool
	Text  string
	Blob  []byte
	Small uint8
	List  []int32
	Some  *int32
	None  *int32
}

func (v *coded) code(c indexfile.Codec) {
	number := func(n *int32) { c.Values(n) }
	c.Values(&v.N, &v.Size, &v.Diff, &v.Byte, &v.On, &v.Text, &v.Blob)
	indexfile.Uint(c, &v.Small, 9)
	indexfile.List(c, &v.List, 1, number)
	c.Whole(&v.Some)
	c.Whole(&v.None)
}

// What a Codec has written it reads, and it fails at whatever is cut.
func TestCodec(t *testing.T) {
	want := coded{N: 1, Size: 1 << 40, Diff: -3, Byte: 200, On: true, Text: "text", Blob: []byte{1, 2}, Small: 9, List: []int32{-1, 70}, Some: new(int32(5))}
	w := new(indexfile.Writer)
	want.code(indexfile.Codec{W: w})
	for n := range len(w.Bytes()) + 1 {
		r := indexfile.NewReader("test", w.Bytes()[:n])
		var got coded
		got.code(indexfile.Codec{R: r})
		if err := r.Close(); (err == nil) != (n == len(w.Bytes())) {
			t.Errorf("%d of %d bytes: %v", n, len(w.Bytes()), err)
		} else if err == nil && !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
	}
}
