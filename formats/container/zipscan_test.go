package container_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/container"
)

var zipFiles = []packed{
	{"a", "one"}, {"dir/b", strings.Repeat("Bb", 5000)}, {"c", random(3000)}, {"d", "four"},
}

// random returns bytes that do not compress.
func random(n int) string {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return string(b)
}

// zipped packs files; without streams the sizes are in the headers, as most programs write them.
func zipped(t *testing.T, method uint16, streams bool, files ...packed) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: method}
		var err error
		if streams {
			var out io.Writer
			if out, err = w.CreateHeader(h); err == nil {
				_, err = io.WriteString(out, f.content)
			}
		} else {
			err = rawFile(w, h, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// rawFile writes a file whose sizes are known before it.
func rawFile(w *zip.Writer, h *zip.FileHeader, content string) error {
	var one bytes.Buffer
	z := zip.NewWriter(&one)
	out, err := z.CreateHeader(&zip.FileHeader{Name: h.Name, Method: h.Method})
	if err == nil {
		_, err = io.WriteString(out, content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return err
	}
	r, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
	if err != nil {
		return err
	}
	f := r.File[0]
	h.CRC32, h.CompressedSize64, h.UncompressedSize64 = f.CRC32, f.CompressedSize64, f.UncompressedSize64
	raw, err := f.OpenRaw()
	if err == nil {
		out, err = w.CreateRaw(h)
	}
	if err == nil {
		_, err = io.Copy(out, raw)
	}
	return err
}

// A damaged directory hides no file whose header and content are whole.
func TestZipDamagedDirectory(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		for _, streams := range []bool{false, true} {
			whole := zipped(t, method, streams, zipFiles...)
			directory := bytes.Index(whole, []byte(zipEntry))
			second := directory + 1 + bytes.Index(whole[directory+1:], []byte(zipEntry))
			for name, test := range map[string]struct {
				damage func([]byte) []byte
				fewer  int // files at the end that are not whole
			}{
				"cut in its end":       {func(b []byte) []byte { return b[:len(b)-10] }, 0},
				"cut in the directory": {func(b []byte) []byte { return b[:second+10] }, 0},
				"cut before it":        {func(b []byte) []byte { return b[:directory] }, 0},
				"cut in the last file": {func(b []byte) []byte { return b[:directory-18] }, 1},
				"the first entry":      {func(b []byte) []byte { b[directory] ^= 1; return b }, 0},
				"the second entry":     {func(b []byte) []byte { b[second+1] ^= 1; return b }, 0},
				"the length of a name": {func(b []byte) []byte { b[directory+28] ^= 4; return b }, 0},
				"zeros":                {func(b []byte) []byte { clear(b[directory:]); return b }, 0},
				"the number of files":  {func(b []byte) []byte { b[len(b)-12]--; return b }, 0},
			} {
				t.Run(fmt.Sprintf("%s/%d/%v", name, method, streams), func(t *testing.T) {
					found, problems, err := list(t, container.Zip, test.damage(bytes.Clone(whole)))
					if err != nil || len(problems) == 0 || problems[0].Code != container.BadDirectory {
						t.Fatalf("%+v, %v", problems, err)
					}
					for i, f := range zipFiles {
						whole := i < len(zipFiles)-test.fewer
						if got, ok := found[f.name]; whole && got != f.content || !whole && ok && !strings.Contains(got, "error: ") {
							t.Errorf("%s: %.60q; %+v", f.name, got, problems)
						}
					}
				})
			}
		}
	}
}

// A zip that is cut anywhere shows each file that is whole, and no other as if it were.
func TestZipCut(t *testing.T) {
	whole := zipped(t, zip.Deflate, true, zipFiles...)
	for n := 0; n < len(whole); n += 7 {
		found, problems, err := list(t, container.Zip, whole[:n])
		if err == nil && len(problems) == 0 {
			t.Fatalf("cut at %d: no problem", n)
		}
		for name, got := range found {
			i := slices.IndexFunc(zipFiles, func(f packed) bool { return f.name == name })
			if i < 0 || got != zipFiles[i].content && !strings.Contains(got, "error: ") {
				t.Errorf("cut at %d: %q: %.60q", n, name, got)
			}
		}
	}
}

// Files that cannot be unpacked are named.
func TestZipUnsupported(t *testing.T) {
	whole := zipped(t, zip.Deflate, false, zipFiles...)
	directory := bytes.Index(whole, []byte(zipEntry))
	for field, reason := range map[int]string{8: "it is encrypted", 10: "it is packed by the unknown method 9"} {
		b := bytes.Clone(whole)
		b[directory+field] |= 1
		found, problems, err := list(t, container.Zip, b)
		if err != nil || len(problems) != 1 || problems[0].Path != "a" || problems[0].Message != reason || problems[0].Code != container.Unsupported {
			t.Errorf("%+v, %v", problems, err)
		}
		if want := "0 bytes, error: " + reason; found["a"] != want || found["d"] != "four" {
			t.Errorf("%q, want %q", found["a"], want)
		}
	}
}

// A file whose end is missing and whose method nobody knows has no known size: it is not shown, but
// named.
func TestCutOfUnknownMethod(t *testing.T) {
	const unknown, streamed = 99, 8
	local := func(flags, method uint16, name string) []byte {
		b := make([]byte, zipLocalSize)
		copy(b, zipLocal)
		le.PutUint16(b[4:], 20)
		le.PutUint16(b[6:], flags)
		le.PutUint16(b[8:], method)
		le.PutUint16(b[26:], uint16(len(name)))
		return append(b, name...)
	}
	b := slices.Concat(local(0, zip.Store, "empty"), local(streamed, unknown, "cut"), []byte("content without an end"))
	found, problems, err := list(t, container.Zip, b)
	if _, ok := found["empty"]; !ok || len(found) != 1 || err != nil {
		t.Errorf("%q, %v", found, err)
	}
	if !slices.ContainsFunc(problems, func(p formats.Problem) bool { return p.Code == container.Truncated && p.Path == "cut" }) {
		t.Errorf("the problems are %v", problems)
	}
}
