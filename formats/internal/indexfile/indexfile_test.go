package indexfile_test

import (
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var testSeal = formats.Seal{
	Stamp:  formats.Stamp{Size: 1, Modified: 2, Nanos: 3, Changed: 4, Born: 5, Inode: 6},
	Length: 7, Sum: 0x0807060504030201,
}

// golden is an index with every kind of value.
const golden = `
1400             layout
0100000000000000 size
0200000000000000 modified
0300000000000000 nanoseconds
0400000000000000 changed
0500000000000000 born
0600000000000000 inode
0700000000000000 length
0102030405060708 sum
ac02             uint 300
ffffffffffffffff7f size, the greatest
01               int -1
feffffff0f       int32, the greatest
01               bool
ff               u8
0000c03f         f32 1.5
000000000000f8bf f64 -1.5
03 000102        blob
00               empty blob
02 c3a4          text
02 7f 8001       count, and two uints
00               optional: none
01 03            optional: int -2
01 63 01 0a 00 00 12 01 6d a problem
`

// goldenProblem is the last value of golden.
func goldenProblem() formats.Problem {
	chunk := 5
	return formats.Problem{Code: "c", Chunk: &chunk, Offset: 9, Message: "m"}
}

func writeGolden() []byte {
	w := indexfile.NewWriter(testSeal, 0)
	w.Uint(300)
	w.Size(math.MaxInt64)
	w.Int(-1)
	w.Int(math.MaxInt32)
	w.Bool(true)
	w.U8(255)
	w.F32(1.5)
	w.F64(-1.5)
	w.Blob([]byte{0, 1, 2})
	w.Blob(nil)
	w.Text("ä")
	w.Count(2)
	w.Uint(127)
	w.Uint(128)
	codeLast(indexfile.Codec{W: w}, &last{minusTwo: new(int64(-2)), problem: goldenProblem()})
	return w.Bytes()
}

// last is the end of golden.
type last struct {
	none, minusTwo *int64
	problem        formats.Problem
}

func codeLast(c indexfile.Codec, v *last) {
	c.Whole(&v.none)
	c.Whole(&v.minusTwo)
	c.Whole(&v.problem)
}

// TestGolden holds the bytes of the head and of each kind of value.
func TestGolden(t *testing.T) {
	var want []byte
	for line := range strings.Lines(strings.TrimSpace(golden)) {
		for field := range strings.FieldsSeq(line) {
			b, err := hex.DecodeString(field)
			if err != nil {
				break // the first word of the description
			}
			want = append(want, b...)
		}
	}
	got := writeGolden()
	if diff := cmp.Diff(hex.Dump(want), hex.Dump(got)); diff != "" {
		t.Error(diff)
	}

	r, seal := indexfile.Open("test", got)
	if seal != testSeal {
		t.Errorf("seal %+v, want %+v", seal, testSeal)
	}
	values := []any{
		r.Uint(300), r.Size(), r.Int(), r.Int32(), r.Bool(), r.U8(), r.F32(), r.F64(), r.Blob(), r.Blob(), r.Text(),
		r.Count(1), r.Uint(127), r.Uint(128),
	}
	var end last
	codeLast(indexfile.Codec{R: r}, &end)
	values = append(values, end.none, end.minusTwo, end.problem)
	wantValues := []any{
		uint64(300), int64(math.MaxInt64), int64(-1), int32(math.MaxInt32), true, uint8(255), float32(1.5), -1.5,
		[]byte{0, 1, 2},
		[]byte(nil), "ä", 2, uint64(127), uint64(128), (*int64)(nil), new(int64(-2)),
		goldenProblem(),
	}
	if diff := cmp.Diff(wantValues, values); diff != "" {
		t.Error(diff)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestCut holds that an index which ends anywhere before its end is a failure, as is one that goes
// on.
func TestCut(t *testing.T) {
	whole := writeGolden()
	for n := range whole {
		r, _ := indexfile.Open("test", whole[:n])
		readGolden(r)
		if err := r.Close(); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	r, _ := indexfile.Open("test", append(whole, 0))
	readGolden(r)
	if err := r.Close(); !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("a byte more: %v", err)
	}
}

func readGolden(r *indexfile.Reader) {
	r.Uint(math.MaxUint64)
	r.Size()
	r.Int()
	r.Int32()
	r.Bool()
	r.U8()
	r.F32()
	r.F64()
	r.Blob()
	r.Blob()
	r.Text()
	for range r.Count(1) {
		r.Uint(math.MaxUint64)
	}
	codeLast(indexfile.Codec{R: r}, &last{})
}

// TestOtherLayout holds that an index of another layout gives nothing.
func TestOtherLayout(t *testing.T) {
	for _, at := range []int{0, 1} {
		b := writeGolden()
		b[at]++
		r, seal := indexfile.Open("test", b)
		if r.Err() == nil || seal != (formats.Seal{}) || r.Uint(math.MaxUint64) != 0 || r.Len() != 0 {
			t.Errorf("byte %d: seal %+v, %d bytes left, %v", at, seal, r.Len(), r.Err())
		}
	}
}

// TestBounds holds that values beyond what is possible fail, and that nothing is read after a
// failure.
func TestBounds(t *testing.T) {
	part := func(write func(w *indexfile.Writer)) []byte {
		var w indexfile.Writer
		write(&w)
		return w.Bytes()
	}
	for name, c := range map[string]struct {
		b    []byte
		read func(r *indexfile.Reader) any
		zero any
	}{
		"uint beyond its limit": {
			part(func(w *indexfile.Writer) { w.Uint(8) }), func(r *indexfile.Reader) any { return r.Uint(7) }, uint64(0),
		},
		"size of 64 bits": {
			part(func(w *indexfile.Writer) { w.Uint(1 << 63) }), func(r *indexfile.Reader) any { return r.Size() }, int64(0),
		},
		"int32 of 33 bits": {
			part(func(w *indexfile.Writer) { w.Int(1 << 31) }), func(r *indexfile.Reader) any { return r.Int32() }, int32(0),
		},
		"bool of 2": {[]byte{2}, func(r *indexfile.Reader) any { return r.Bool() }, false},
		"varint of 11 bytes": {
			[]byte(strings.Repeat("\xff", 11)), func(r *indexfile.Reader) any { return r.Uint(math.MaxUint64) }, uint64(0),
		},
		"more elements than bytes": {
			part(func(w *indexfile.Writer) { w.Count(3); w.U8(0); w.U8(0) }),
			func(r *indexfile.Reader) any { return r.Count(1) }, 0,
		},
		"more large elements than bytes": {
			part(func(w *indexfile.Writer) { w.Count(2); w.Size(0); w.F64(0) }),
			func(r *indexfile.Reader) any { return r.Count(5) }, 0,
		},
		"blob of 2^62 bytes": {
			part(func(w *indexfile.Writer) { w.Uint(1 << 62) }), func(r *indexfile.Reader) any { return r.Blob() }, []byte(nil),
		},
		"text of 4 bytes": {[]byte("\x04abc"), func(r *indexfile.Reader) any { return r.Text() }, ""},
		"seal of 63 bytes": {
			make([]byte, formats.SealSize-1), func(r *indexfile.Reader) any { return r.Seal() }, formats.Seal{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := indexfile.NewReader("test", append(c.b, 1, 1, 1)[:len(c.b)])
			if diff := cmp.Diff(c.zero, c.read(r)); diff != "" {
				t.Error(diff)
			}
			var e *formats.Error
			if !errors.As(r.Close(), &e) || e.Format != "test" || r.Uint(9) != 0 || r.Count(1) != 0 || r.Text() != "" {
				t.Errorf("goes on after %v", r.Err())
			}
		})
	}
}

// TestBlobCopies holds that a value does not keep the index in memory, nor change with it.
func TestBlobCopies(t *testing.T) {
	var w indexfile.Writer
	w.Blob([]byte("abc"))
	b := w.Bytes()
	got := indexfile.NewReader("test", b).Blob()
	clear(b)
	if string(got) != "abc" || cap(got) > 8 {
		t.Errorf("%q of %d bytes", got, cap(got))
	}
}

// A step is one value of an index.
type step struct {
	write func(w *indexfile.Writer)
	read  func(r *indexfile.Reader) any
	want  any
}

func steps() *rapid.Generator[step] {
	type writer = indexfile.Writer
	type reader = indexfile.Reader
	return rapid.OneOf(
		rapid.Map(rapid.Uint64(), func(v uint64) step {
			return step{func(w *writer) { w.Uint(v) }, func(r *reader) any { return r.Uint(v) }, v}
		}),
		rapid.Map(rapid.Int64Min(0), func(v int64) step {
			return step{func(w *writer) { w.Size(v) }, func(r *reader) any { return r.Size() }, v}
		}),
		rapid.Map(rapid.Int64(), func(v int64) step {
			return step{func(w *writer) { w.Int(v) }, func(r *reader) any { return r.Int() }, v}
		}),
		rapid.Map(rapid.Int32(), func(v int32) step {
			return step{func(w *writer) { w.Int(int64(v)) }, func(r *reader) any { return r.Int32() }, v}
		}),
		rapid.Map(rapid.Bool(), func(v bool) step {
			return step{func(w *writer) { w.Bool(v) }, func(r *reader) any { return r.Bool() }, v}
		}),
		rapid.Map(rapid.Uint64(), func(v uint64) step {
			bits := math.Float64bits
			return step{
				func(w *writer) { w.F64(math.Float64frombits(v)) }, func(r *reader) any { return bits(r.F64()) }, v,
			}
		}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(v []byte) step {
			return step{func(w *writer) { w.Blob(v) }, func(r *reader) any { return string(r.Blob()) }, string(v)}
		}),
		rapid.Map(rapid.String(), func(v string) step {
			return step{func(w *writer) { w.Text(v) }, func(r *reader) any { return r.Text() }, v}
		}),
		rapid.Map(rapid.Ptr(rapid.String(), true), func(v *string) step {
			return step{
				func(w *writer) { codeText(indexfile.Codec{W: w}, &v) },
				func(r *reader) any { return readText(r) }, v,
			}
		}),
	)
}

func codeText(c indexfile.Codec, s **string) {
	c.Whole(s)
}

func readText(r *indexfile.Reader) (s *string) {
	codeText(indexfile.Codec{R: r}, &s)
	return s
}

// TestRoundTrip writes any values in any order and reads them again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := rapid.SliceOf(steps()).Draw(rt, "values")
		seal := formats.Seal{
			Stamp:  formats.Stamp{Size: rapid.Int64().Draw(rt, "size"), Inode: rapid.Uint64().Draw(rt, "inode")},
			Length: rapid.Int64().Draw(rt, "length"), Sum: rapid.Uint64().Draw(rt, "sum"),
		}
		w := indexfile.NewWriter(seal, rapid.IntRange(0, 100).Draw(rt, "hint"))
		w.Count(len(list))
		for _, s := range list {
			s.write(w)
		}
		w.Seal(seal)

		r, got := indexfile.Open("test", w.Bytes())
		if got != seal {
			rt.Fatalf("seal %+v, want %+v", got, seal)
		}
		if n := r.Count(1); n != len(list) {
			rt.Fatalf("%d values, want %d", n, len(list))
		}
		for i, s := range list {
			if diff := cmp.Diff(s.want, s.read(r)); diff != "" {
				rt.Fatalf("value %d: %s", i, diff)
			}
		}
		if got := r.Seal(); got != seal || r.Close() != nil {
			rt.Fatalf("seal %+v, %v", got, r.Err())
		}
	})
}

// FuzzReader reads any bytes as any values. It must not panic, and what it gets must have been
// there.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, writeGolden())
	f.Fuzz(func(t *testing.T, program, saved []byte) {
		r, _ := indexfile.Open("fuzz", saved)
		if r.Err() != nil {
			r = indexfile.NewReader("fuzz", saved)
		}
		for _, op := range program {
			left := r.Len()
			got, ahead := readAny(r, op)
			if used := left - r.Len(); r.Err() == nil && (got > used || ahead > r.Len()) {
				t.Fatalf("%d bytes of %d, elements of %d bytes of %d", got, used, ahead, r.Len())
			}
			if r.Err() != nil && (got != 0 || ahead != 0 || r.Len() != 0) {
				t.Fatalf("%d bytes, elements of %d after %v", got, ahead, r.Err())
			}
		}
	})
}

// readAny reads a value. It returns how many bytes it has, and how many the elements
// that it announces take at least.
func readAny(r *indexfile.Reader, op byte) (got, ahead int) {
	switch op % 11 {
	case 0:
		r.Uint(uint64(op))
	case 1:
		r.Int32()
	case 2:
		got = len(r.Blob())
	case 3:
		size := 1 + int(op/11)
		ahead = size * r.Count(size)
	case 4:
		got = len(r.Text())
	case 5:
		if s := readText(r); s != nil {
			got = len(*s)
		}
	case 6:
		r.Seal()
	case 7:
		r.F32()
	case 8:
		r.Size()
	case 9:
		r.Bool()
	case 10:
		var p formats.Problem
		indexfile.Codec{R: r}.Whole(&p)
		got = len(p.Code) + len(p.Path) + len(p.Message)
	}
	return got, ahead
}
