package container_test

import (
	"bytes"
	"hash/crc32"
	"io"
	iofs "io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/container"
	"recfs/formats/internal/testing/formatstest"
	"recfs/formats/internal/zipfile"
	"recfs/formats/unpack"
)

// zipOfOne returns a zip with what a header says of content, and a file behind it.
func zipOfOne(t *testing.T, h zip.FileHeader, content string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	raw, err := w.CreateRaw(&h)
	if err == nil {
		_, err = raw.Write([]byte(content))
	}
	if err == nil {
		err = rawFile(w, &zip.FileHeader{Name: "z", Method: zip.Store}, "last")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// onlyOf returns the only problem, which is of a file, and fails if z, which is whole, is not
// shown.
func onlyOf(t *testing.T, b []byte, name string) formats.Problem {
	t.Helper()
	found, problems, err := list(t, container.Zip, b)
	if err != nil || found["z"] != "last" || len(problems) != 1 || problems[0].Path != name {
		t.Fatalf("%q, %+v, %v", found, problems, err)
	}
	return problems[0]
}

// A symbolic link whose target is damaged is named, like a file.
func TestZipLinksDamaged(t *testing.T) {
	const target = "some/file"
	link := func(h zip.FileHeader) zip.FileHeader {
		h.Name = "link"
		h.SetMode(iofs.ModeSymlink | 0o777)
		return h
	}
	crc, n := crc32.ChecksumIEEE([]byte(target)), uint64(len(target))
	_, problems, err := list(t, container.Zip, zipOfOne(t, link(zip.FileHeader{CRC32: crc, CompressedSize64: n, UncompressedSize64: n}), target))
	if err != nil || len(problems) > 0 {
		t.Fatalf("a sound one: %v, %v", problems, err)
	}
	for name, h := range map[string]zip.FileHeader{
		"checksum":          {CRC32: crc ^ 1, CompressedSize64: n, UncompressedSize64: n},
		"deflated, no such": {Method: zip.Deflate, CRC32: crc, CompressedSize64: n, UncompressedSize64: n},
	} {
		for _, content := range []string{target, strings.Repeat("\xff", len(target))} {
			if p := onlyOf(t, zipOfOne(t, link(h), content), "link"); p.Code != unpack.BadCompression || strings.Contains(p.Message, "offset") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	if p := onlyOf(t, zipOfOne(t, link(zip.FileHeader{Flags: 1, CRC32: crc, CompressedSize64: n, UncompressedSize64: n}), target), "link"); p.Code != container.Unsupported {
		t.Errorf("encrypted: %+v", p)
	}
}

// What an entry says of a file must fit together. Of an empty file nobody reads what would tell.
func TestZipContradictions(t *testing.T) {
	const content = "content"
	crc, n := crc32.ChecksumIEEE([]byte(content)), uint64(len(content))
	for name, h := range map[string]zip.FileHeader{
		"stored, of more":       {CRC32: crc, CompressedSize64: n, UncompressedSize64: n + 1},
		"stored, of fewer":      {CRC32: crc, CompressedSize64: n, UncompressedSize64: n - 1},
		"empty with a checksum": {Method: zip.Deflate, CRC32: crc, CompressedSize64: n},
	} {
		h.Name = "a"
		if p := onlyOf(t, zipOfOne(t, h, content), "a"); p.Code != container.BadHeader {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// A file that is said to be empty and is not is told in the list, and does not open as an empty
// one.
func TestZipHidden(t *testing.T) {
	const content = "some content"
	var deflated bytes.Buffer
	w, err := flate.NewWriter(&deflated, 9)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	packed, n, crc := deflated.String(), uint64(deflated.Len()), crc32.ChecksumIEEE([]byte(content))
	entry := func(b []byte, at int) []byte { // clears checksum and sizes in the directory
		clear(b[bytes.Index(b, []byte(zipEntry))+at:][:12])
		return b
	}
	local := zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CRC32: crc, CompressedSize64: n, UncompressedSize64: uint64(len(content))}, packed)
	streamed := zip.FileHeader{Name: "a", Method: zip.Deflate, Flags: 8, CRC32: crc, CompressedSize64: n, UncompressedSize64: uint64(len(content))}
	noDirectory := zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CompressedSize64: n}, packed)
	for name, b := range map[string][]byte{
		"deflated":                  zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CompressedSize64: n}, packed),
		"deflated, streamed":        zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate, Flags: 8, CompressedSize64: n}, packed),
		"stored":                    zipOfOne(t, zip.FileHeader{Name: "a", CompressedSize64: 12}, content),
		"no stored bytes":           zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate}, packed),
		"only in the entry":         entry(local, 16),
		"stored, only in the entry": entry(zipOfOne(t, zip.FileHeader{Name: "a", CRC32: crc, CompressedSize64: 12, UncompressedSize64: 12}, content), 16),
		"beside a descriptor":       entry(zipOfOne(t, streamed, packed), 16),
		"without a directory":       noDirectory[:bytes.Index(noDirectory, []byte(zipEntry))],
		"damaged, with a size":      zipOfOne(t, zip.FileHeader{Name: "a", Method: zip.Deflate, CompressedSize64: n}, strings.Repeat("\xff", int(n))),
	} {
		found, problems, err := list(t, container.Zip, b)
		if err != nil || found["z"] != "last" || !slices.ContainsFunc(problems, func(p formats.Problem) bool { return p.Path == "a" && p.Code == container.BadHeader }) {
			t.Errorf("%s: %q, %+v, %v", name, found, problems, err)
		}
		if told := strings.Contains(found["a"], "error: "); told == (name == "stored, only in the entry") { // as the directory has it
			t.Errorf("%s: a is %q", name, found["a"])
		}
	}
	for name, h := range map[string]zip.FileHeader{
		"deflated": {Method: zip.Deflate, CompressedSize64: 2}, "streamed": {Method: zip.Deflate, Flags: 8, CompressedSize64: 2},
		"nothing stored": {Method: zip.Deflate}, "stored": {},
	} {
		h.Name = "a"
		found, problems, err := list(t, container.Zip, zipOfOne(t, h, "\x03\x00"[:h.CompressedSize64]))
		if err != nil || len(problems) > 0 || found["a"] != "" {
			t.Errorf("empty, %s: %q, %+v, %v", name, found, problems, err)
		}
	}
}

// Of several zips in one file none hides the others, and of one whose directory is said to begin
// elsewhere all is shown.
func TestZipNeighbours(t *testing.T) {
	one, two := zipped(t, zip.Deflate, false, zipFiles...), zipped(t, zip.Deflate, true, packed{"other", "another"})
	end := string(zipOf(zipEnding{})[zipLocalSize:])
	elsewhere := bytes.Clone(one)
	elsewhere[len(elsewhere)-6] ^= 4
	commented := append(bytes.Clone(one), end...)
	le.PutUint16(commented[len(one)-2:], uint16(len(end)))
	program := []byte(strings.Repeat("#!/bin/sh\n", 50))
	directory := bytes.Index(one, []byte(zipEntry))
	for name, test := range map[string]struct {
		b    []byte
		more string
	}{
		"a byte too many":    {slices.Concat(program, one[:directory], []byte("x"), one[directory:]), ""},
		"before":             {append(bytes.Clone(one), two...), "another"},
		"behind":             {append(bytes.Clone(one), two[:len(two)-30]...), "another"},
		"both behind":        {slices.Concat(program, one, two), "another"},
		"text between":       {slices.Concat(program, one, program, two), "another"},
		"nothing between":    {slices.Concat(program, one, []byte(end), two), "another"},
		"an end alone":       {slices.Concat(program, one[:directory], []byte(end)), ""},
		"an end as comment":  {commented, ""},
		"directory mistaken": {elsewhere, ""},
	} {
		found, problems, err := list(t, container.Zip, test.b)
		if err != nil || len(problems) != 1 || problems[0].Code != container.BadDirectory || found["other"] != test.more {
			t.Errorf("%s: %q, %+v, %v", name, found, problems, err)
		}
		for _, f := range zipFiles {
			if found[f.name] != f.content {
				t.Errorf("%s: %s: %.60q", name, f.name, found[f.name])
			}
		}
	}
	for name, test := range map[string]struct {
		b     []byte
		files int
	}{
		"a program before":          {slices.Concat(program, one), len(zipFiles)},
		"text behind":               {append(bytes.Clone(one), "text"...), len(zipFiles)},
		"no files behind a program": {slices.Concat(program, []byte(zipfile.LocalMagic), program, []byte(end)), 0},
	} {
		if found, problems, err := list(t, container.Zip, test.b); err != nil || len(problems) > 0 || len(found) != test.files {
			t.Errorf("%s: %d files, %+v, %v", name, len(found), problems, err)
		}
	}
}

// A file whose place in the directory is wrong is found by its own header.
func TestZipPlaceWrong(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		whole := zipped(t, zip.Deflate, streamed, zipFiles...)
		at := bytes.Index(whole, []byte(zipEntry))
		for i := range zipFiles {
			for bit := range 32 {
				b := bytes.Clone(whole)
				b[at+42+bit/8] ^= 1 << (bit % 8)
				found, problems, err := list(t, container.Zip, b)
				if err != nil || len(problems) == 0 {
					t.Errorf("file %d, bit %d: %+v, %v", i, bit, problems, err)
				}
				for _, f := range zipFiles {
					if found[f.name] != f.content {
						t.Errorf("streamed %t, file %d, bit %d: %s: %.60q", streamed, i, bit, f.name, found[f.name])
					}
				}
			}
			at += 1 + bytes.Index(whole[at+1:], []byte(zipEntry))
		}
	}
}

// A file whose checksum in the directory, or in the header before it, is wrong is whole where the
// other one fits.
func TestZipSumWrong(t *testing.T) {
	const header, entry = 14, 16
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		whole := zipped(t, method, false, packed{"a", strings.Repeat("text ", 2000)})
		directory := bytes.Index(whole, []byte(zipEntry))
		for _, at := range []int{header, directory + entry} {
			b := bytes.Clone(whole)
			b[at] ^= 1
			if found, _, err := list(t, container.Zip, b); err != nil || !strings.Contains(found["a"], "10000 bytes, error: its checksum is ") ||
				!strings.Contains(found["a"], "the header before it says") {
				t.Errorf("method %d, a wrong byte at %d: %.60q, %v", method, at, found["a"], err)
			}
			b[directory-9] ^= 1
			if found, _, err := list(t, container.Zip, b); err != nil || strings.Contains(found["a"], "the header before it says") {
				t.Errorf("method %d, a wrong byte besides: %.60q, %v", method, found["a"], err)
			}
		}
	}
}

// Bytes that are missing from a stored file, so that the header behind it lies where it should go
// on, hide no other file; but what is in a stored zip is not taken for files beside it.
func TestZipBytesMissing(t *testing.T) {
	inner := zipped(t, zip.Store, false, packed{"inside", "hidden"})
	whole := zipped(t, zip.Store, false, packed{"a", random(3000)}, packed{"b", "two"}, packed{"in.zip", string(inner)})
	directory := bytes.LastIndex(whole, []byte(zipEntry)) // its last entry, so that the end of the inner one is the last
	b := append(bytes.Clone(whole[:1000]), whole[1500:directory]...)
	found, problems, err := list(t, container.Zip, b)
	if err != nil || found["b"] != "two" || found["in.zip"] != string(inner) || len(problems) == 0 {
		t.Errorf("%.100q, %+v, %v", found, problems, err)
	}
	if _, ok := found["inside"]; ok {
		t.Errorf("what is in a stored zip is shown beside it")
	}
	if !strings.Contains(found["a"], "error: ") {
		t.Errorf("a is %.60q", found["a"])
	}
}

// Who reads a large stored file in order learns that a byte of it is wrong, or else gets all of it,
// though the kernel asks for several pieces at once, which arrive in any order.
func TestZipReadAhead(t *testing.T) {
	const step, pieces = 128 << 10, 80
	content := random(step * pieces)
	whole := zipped(t, zip.Store, false, packed{"a", content})
	at := bytes.Index(whole, []byte(content[:32]))
	for _, wrong := range []int{-1, 0, step * pieces / 2} {
		b := bytes.Clone(whole)
		if wrong >= 0 {
			b[at+wrong] ^= 1
		}
		m, err := listOf(t, container.Zip, b)
		if err != nil {
			t.Fatal(err)
		}
		in := formatstest.BytesInput("x", b, time.Unix(1e9, 0))
		tree := &container.Tree{Kind: container.Zip, At: "x", Unpack: newUnpacker(t), Load: loaded(m, in)}
		f, err := tree.Open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(content))
		for i := range pieces {
			i ^= 1
			f.ReadAt(t.Context(), got[i*step:][:step], int64(i*step))
		}
		_, err = f.ReadAt(t.Context(), make([]byte, step), int64(len(content)-step))
		if wrong < 0 && (err != nil && err != io.EOF || string(got) != content) || wrong >= 0 && (err == nil || err == io.EOF) {
			t.Errorf("byte %d is wrong: %v", wrong, err)
		}
	}
}
