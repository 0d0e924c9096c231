package container_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"recfs/formats/container"
	"recfs/nodes/nodestest"
)

var tarFiles = []packed{
	{"a", "one"}, {"b", strings.Repeat("b", 5000)}, {"c", "three"}, {strings.Repeat("long/", 30) + "d", "four"}, {"e", "five"},
}

// A damaged header hides no member but its own.
func TestTarDamagedHeader(t *testing.T) {
	whole := tarOf(t, tarFiles...)
	sound, problems, err := list(t, container.Tar, whole)
	if err != nil || len(sound) != len(tarFiles) || len(problems) > 0 {
		t.Fatalf("%d files, %+v, %v", len(sound), problems, err)
	}
	headers := map[string]int{}
	for at := 0; at < len(whole); at += 512 {
		if string(whole[at+257:at+262]) == "ustar" {
			headers[string(bytes.TrimRight(whole[at:at+100], "\x00"))] = at
		}
	}
	b, c := headers["b"], headers["c"]
	for name, test := range map[string]struct {
		damage func([]byte) []byte
		lost   []string
	}{
		"the first":       {func(x []byte) []byte { x[0] ^= 1; return x }, []string{"a"}},
		"a name":          {func(x []byte) []byte { x[b] ^= 1; return x }, []string{"b"}},
		"a size":          {func(x []byte) []byte { x[b+130] ^= 7; return x }, []string{"b"}},
		"a size of -1":    {func(x []byte) []byte { copy(x[b+124:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"); return x }, []string{"b"}},
		"a checksum":      {func(x []byte) []byte { copy(x[b+148:], "xxxxxxxx"); return x }, []string{"b"}},
		"zeros":           {func(x []byte) []byte { clear(x[b : b+512]); return x }, []string{"b"}},
		"zeros for two":   {func(x []byte) []byte { clear(x[b : c+1024]); return x }, []string{"b", "c"}},
		"bytes cut out":   {func(x []byte) []byte { return slices.Delete(x, b+100, b+300) }, []string{"b"}},
		"garbage before":  {func(x []byte) []byte { return append([]byte(strings.Repeat("garbage", 100)), x...) }, nil},
		"a byte before":   {func(x []byte) []byte { return append([]byte("x"), x...) }, nil},
		"two in sequence": {func(x []byte) []byte { x[b], x[c] = 0xff, 0xff; return x }, []string{"b", "c"}},
		"the last":        {func(x []byte) []byte { x[headers["e"]+110] ^= 1; return x }, []string{"e"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, problems, err := list(t, container.Tar, test.damage(bytes.Clone(whole)))
			if err != nil || len(problems) == 0 {
				t.Fatalf("%+v, %v", problems, err)
			}
			for _, f := range tarFiles {
				content, ok := found[f.name]
				if lost := slices.Contains(test.lost, f.name); lost == ok || ok && content != f.content {
					t.Errorf("%.20s: %.40q, lost is %v; %+v", f.name, content, lost, problems)
				}
			}
			for _, p := range problems {
				if p.Code != container.BadHeader || p.Offset < 0 || p.Offset > int64(len(whole)) {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// A tar that ends in what belongs to the header of a member, as its long name, has a problem.
func TestTarCutInHeader(t *testing.T) {
	whole := tarOf(t, packed{"a", "one"}, packed{"файл", "two"}) // the second has two headers
	for n := 1025; n < 2560+3; n++ {
		found, problems, err := list(t, container.Tar, whole[:n])
		if err != nil || len(problems) == 0 || found["a"] != "one" {
			t.Fatalf("cut at %d: %q, %+v, %v", n, found, problems, err)
		}
	}
}

// A tar that ends too early has a problem, one that lacks only zeros at its end has none.
func TestTarCut(t *testing.T) {
	whole := tarOf(t, tarFiles[:3]...)
	for n := range nodestest.Places(len(whole), 13) {
		found, problems, err := list(t, container.Tar, whole[:n])
		between := n >= 512+3 && n <= 1024 || n >= 1536+5000 && n <= 1536+5120 || n >= 6656+512+5 // two members
		if (err == nil && len(problems) == 0) != between {
			t.Fatalf("cut at %d: %+v, %v", n, problems, err)
		}
		if n >= 1024 && found["a"] != "one" {
			t.Errorf("cut at %d: a is %q", n, found["a"])
		}
	}
}

// TestTarEndsAfterExtendedHeader cuts a tar after the header that only says more of the next one,
// or inside what that says: where the next one should be is behind the end.
func TestTarEndsAfterExtendedHeader(t *testing.T) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range []string{"a", strings.Repeat("long", 100)} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: 1, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte{'x'}); err != nil {
			t.Fatal(err)
		}
	}
	const extended = 1024
	for _, n := range []int{extended + 512, extended + 512 + 100, extended + 1024} {
		found, problems, err := list(t, container.Tar, buf.Bytes()[:n])
		if err != nil || len(found) != 1 || len(problems) != 1 || problems[0].Code != container.Truncated || problems[0].Offset != int64(n) {
			t.Errorf("cut at %d: %d files, %+v, %v", n, len(found), problems, err)
		}
	}
}

// The rest of a file that began in another volume is no file, and is named.
func TestTarOfSeveralVolumes(t *testing.T) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range []*tar.Header{{Name: "rest", Typeflag: 'M', Size: 4}, {Name: "a", Typeflag: tar.TypeReg, Size: 4}} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found, problems, err := list(t, container.Tar, buf.Bytes())
	if err != nil || len(found) != 1 || len(problems) != 1 || problems[0].Path != "rest" || problems[0].Code != container.Unsupported {
		t.Errorf("%q, %v, %v", found, problems, err)
	}
}

// A type that POSIX.1-2017 reserves or does not know is a file. What programs have letters of their
// own for is none.
func TestTarTypes(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, typ := range []byte{tar.TypeReg, tar.TypeCont, '8', 'z', 'V', 'D', tar.TypeFifo} {
		content := []byte("content")
		if typ == tar.TypeFifo {
			content = nil
		}
		if err := w.WriteHeader(&tar.Header{Name: string(typ), Typeflag: typ, Size: int64(len(content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found, problems, err := list(t, container.Tar, b.Bytes())
	want := map[string]string{"0": "content", "7": "content", "8": "content", "z": "content"}
	if err != nil || len(problems) > 0 || !maps.Equal(found, want) {
		t.Errorf("%q, %v, %v", found, problems, err)
	}
}

// A sparse file that is said to be empty and has stored bytes is told.
func TestTarSparseHidden(t *testing.T) {
	b := tarOf(t, packed{"a", strings.Repeat("x", 512)}, packed{"z", "last"})
	b[156] = tar.TypeGNUSparse
	copy(b[257:], "ustar  \x00")
	clear(b[386:512]) // no pieces, and a size of 0
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b[:512] {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	found, problems, err := list(t, container.Tar, b)
	if err != nil || found["z"] != "last" || len(problems) != 1 || problems[0].Path != "a" || problems[0].Code != container.BadHeader {
		t.Errorf("%q, %+v, %v", found, problems, err)
	}
}
