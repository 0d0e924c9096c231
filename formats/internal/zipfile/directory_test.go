package zipfile_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"recfs/formats"
	"recfs/formats/internal/zipfile"
)

var le = binary.LittleEndian

// A content is a file for a zip.
type content struct {
	zip.FileHeader
	text string
}

// archive returns a zip of files with a comment, as package zip writes it.
func archive(t *testing.T, comment string, files ...content) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		out, err := w.CreateHeader(&f.FileHeader)
		if err == nil {
			_, err = io.WriteString(out, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// listed returns all entries of the directory of a zip.
func listed(b []byte) (list []zipfile.Entry, d zipfile.Directory, err error) {
	d, err = zipfile.FindDirectory(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, d, err
	}
	in := bytes.NewReader(b[d.At:][:d.Size])
	for {
		e, err := zipfile.ReadEntry(in, d.Base)
		if err == io.EOF {
			return list, d, nil
		}
		if err != nil {
			return list, d, err
		}
		list = append(list, e)
	}
}

// The directory is that which package zip reads, with bytes before the zip and behind it, and with
// comments that look like its end. Local headers say the same, or that the sizes come later.
func TestDirectory(t *testing.T) {
	when := time.Date(2022, 8, 13, 20, 15, 4, 0, time.UTC)
	files := []content{
		{zip.FileHeader{Name: "a/b", Method: zip.Deflate, Modified: when}, strings.Repeat("text", 500)},
		{zip.FileHeader{Name: "stored é", Method: zip.Store, Comment: "why", Extra: []byte{7, 0, 2, 0, 1, 2}}, "x"},
		{zip.FileHeader{Name: "dir/"}, ""},
	}
	for name, b := range map[string][]byte{
		"plain":                  archive(t, "", files...),
		"a comment":              archive(t, "hello", files...),
		"the longest comment":    archive(t, strings.Repeat("c", math.MaxUint16), files...),
		"a comment with an end":  archive(t, zipfile.EndMagic+strings.Repeat("\xff", 30), files...),
		"something before":       append([]byte("#!/bin/sh\n"), archive(t, "", files...)...),
		"something behind":       append(archive(t, "", files...), "more"...),
		"a comment that is cut":  bytes.TrimSuffix(archive(t, "comment", files...), []byte("ment")),
		"no files":               archive(t, ""),
		"no files and a comment": archive(t, "nothing"),
	} {
		list, d, err := listed(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := files
		if strings.HasPrefix(name, "no files") {
			want = nil
		}
		if int(d.Count) != len(want) || len(list) != len(want) || d.Base != int64(max(bytes.Index(b, []byte(zipfile.LocalMagic)), 0)) {
			t.Fatalf("%s: %d entries, %+v", name, len(list), d)
		}
		for i, f := range want {
			e := list[i]
			if e.Name != f.Name || e.Method != f.Method || int(e.UncompressedSize64) != len(f.text) || !e.Modified.Equal(f.Modified) || e.Encrypted() {
				t.Errorf("%s: %+v", name, e)
			}
			local, err := zipfile.ReadLocal(bytes.NewReader(b), e.Header)
			if err != nil || local.Name != f.Name || local.Method != f.Method || local.Header != e.Header || local.Streamed() != e.Streamed() {
				t.Errorf("%s: local %+v, %v", name, local, err)
			}
			if !e.Streamed() {
				continue
			}
			rest := b[e.Header+local.Length+int64(e.CompressedSize64):]
			if n := local.ReadDescriptor(rest, int64(e.CompressedSize64)); n != 16 || local.CRC32 != e.CRC32 || local.UncompressedSize64 != e.UncompressedSize64 {
				t.Errorf("%s: a descriptor of %d bytes: %+v", name, n, local)
			}
		}
	}
}

// Wherever a zip is cut it has no directory, and wherever the directory is, the entry is known to
// be damaged.
func TestCutDirectory(t *testing.T) {
	b := archive(t, "", content{zip.FileHeader{Name: "a"}, "text"}, content{zip.FileHeader{Name: "b", Extra: []byte{7, 0, 1, 0, 1}}, "more"})
	for n := range b {
		_, err := zipfile.FindDirectory(bytes.NewReader(b[:n]), int64(n))
		var e *formats.Error
		if !errors.As(err, &e) || e.Offset != int64(n) || !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
	_, d, err := listed(b)
	if err != nil {
		t.Fatal(err)
	}
	dir := b[d.At:][:d.Size]
	for n := 1; n < len(dir); n++ {
		in := bytes.NewReader(dir[:n])
		var err error
		for err == nil {
			_, err = zipfile.ReadEntry(in, 0)
		}
		if whole := err == io.EOF; !whole && !zipfile.IsBadEntry(err) || whole != (n == 46+1) {
			t.Errorf("%d of %d bytes of the directory: %v", n, len(dir), err)
		}
	}
	if _, err := zipfile.ReadEntry(strings.NewReader(strings.Repeat("x", 100)), 0); !zipfile.IsBadEntry(err) {
		t.Errorf("no entry: %v", err)
	}
	// What cannot be read is no damage.
	broken := errors.New("broken")
	for _, n := range []int64{0, 10, 46} {
		if _, err := zipfile.ReadEntry(io.MultiReader(bytes.NewReader(dir[:n]), iotest.ErrReader(broken)), 0); !errors.Is(err, broken) || zipfile.IsBadEntry(err) {
			t.Errorf("an error behind %d bytes: %v", n, err)
		}
	}
}

// A local header that is cut says that the bytes end, one of other bytes that no file is there.
func TestCutLocal(t *testing.T) {
	b := archive(t, "", content{zip.FileHeader{Name: "name", Extra: []byte{7, 0, 1, 0, 1}}, "text"})
	whole := zipfile.LocalSize + 4 + 5
	for n := range whole {
		want := io.ErrUnexpectedEOF
		if n < 4 {
			want = formats.ErrCorrupt
		}
		length := int64(0) // as far as it is known
		if n >= zipfile.LocalSize {
			length = int64(whole)
		}
		if e, err := zipfile.ReadLocal(bytes.NewReader(b[:n]), 0); !errors.Is(err, want) || e.Length != length {
			t.Errorf("%d bytes: %+v of %d bytes, %v", n, e.FileHeader, e.Length, err)
		}
	}
	if _, err := zipfile.ReadLocal(bytes.NewReader(b[:whole]), 0); err != nil {
		t.Error(err)
	}
	for _, at := range []int64{1, int64(len(b)), 1 << 40} {
		if _, err := zipfile.ReadLocal(bytes.NewReader(b), at); !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("at %d: %v", at, err)
		}
	}
}

// central returns an entry of the directory with these extra fields, of which the sizes and the
// header are given.
func central(stored, size, header uint32, extra ...byte) []byte {
	b := append([]byte(zipfile.CentralMagic), make([]byte, 42)...)
	le.PutUint16(b[12:], 20<<11|15<<5|2) // 20:15:04
	le.PutUint16(b[14:], 42<<9|8<<5|13)  // 2022-08-13
	le.PutUint32(b[20:], stored)
	le.PutUint32(b[24:], size)
	le.PutUint16(b[28:], 1)
	le.PutUint16(b[30:], uint16(len(extra)))
	le.PutUint32(b[42:], header)
	return append(append(b, 'n'), extra...)
}

// field returns an extra field.
func field(id uint16, parts ...any) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		binary.Write(&b, le, part) //nolint:errcheck // a buffer takes everything
	}
	head := le.AppendUint16(le.AppendUint16(nil, id), uint16(b.Len()))
	return append(head, b.Bytes()...)
}

// Times come from the extra fields that know them best, in the sheets of PKWARE and Info-ZIP, else
// from the header.
func TestTimesOfEntries(t *testing.T) {
	dos := time.Date(2022, 8, 13, 20, 15, 4, 0, time.UTC)
	unix := time.Unix(1e9, 0)
	for name, c := range map[string]struct {
		extra []byte
		want  time.Time
	}{
		"none":                         {nil, dos},
		"another field":                {field(0x1234, uint64(7)), dos},
		"extended":                     {field(0x5455, uint8(1), int32(1e9)), unix},
		"extended before 1970":         {field(0x5455, uint8(1), int32(-1)), time.Unix(-1, 0)},
		"extended without this time":   {field(0x5455, uint8(2), int32(1e9)), dos},
		"extended that is short":       {field(0x5455, uint8(1), uint16(7)), dos},
		"unix":                         {field(0x000d, int32(5), int32(1e9)), unix},
		"old":                          {field(0x5855, int32(5), int32(1e9), uint32(0)), unix},
		"NTFS":                         {field(0x000a, uint32(0), uint16(1), uint16(24), int64(116444736000000000+7), int64(0), int64(0)), time.Unix(0, 700)},
		"NTFS of another tag":          {field(0x000a, uint32(0), uint16(2), uint16(24), int64(0), int64(0), int64(0)), dos},
		"NTFS that is short":           {field(0x000a, uint32(0), uint16(1), uint16(8), int64(0)), dos},
		"a field behind another":       {append(field(0x1234), field(0x5455, uint8(1), int32(1e9))...), unix},
		"a field longer than there is": {append(field(0x5455, uint8(1), int32(1e9)), 0x55, 0x54, 9, 0, 1), unix},
	} {
		e, err := zipfile.ReadEntry(bytes.NewReader(central(1, 2, 3, c.extra...)), 0)
		if err != nil || !e.Modified.Equal(c.want) {
			t.Errorf("%s: %v, %v, want %v", name, e.Modified, err, c.want)
		}
	}
}

// Sizes and offsets of 64 bits stand in an extra field, each if the header has no room for it, up
// to a bound.
func TestLargeEntries(t *testing.T) {
	const big = math.MaxUint32
	for _, c := range []struct {
		stored, size, header uint32
		extra                []any
		want                 [3]uint64 // stored, size, header behind the base
		bad                  bool
	}{
		{1, 2, 3, nil, [3]uint64{1, 2, 3}, false},
		{big, 2, 3, []any{uint64(1 << 40)}, [3]uint64{1 << 40, 2, 3}, false},
		{1, big, 3, []any{uint64(1 << 40)}, [3]uint64{1, 1 << 40, 3}, false},
		{1, 2, big, []any{uint64(1 << 40)}, [3]uint64{1, 2, 1 << 40}, false},
		{big, big, big, []any{uint64(5), uint64(6), uint64(7)}, [3]uint64{6, 5, 7}, false},
		{big, big, 3, []any{uint64(5)}, [3]uint64{big, 5, 3}, false},
		{1, 2, 3, []any{uint64(5)}, [3]uint64{1, 2, 3}, false},
		{big, 2, 3, []any{uint64(1<<62 + 1)}, [3]uint64{}, true},
		{1, 2, big, []any{uint64(math.MaxUint64)}, [3]uint64{}, true},
	} {
		e, err := zipfile.ReadEntry(bytes.NewReader(central(c.stored, c.size, c.header, field(1, c.extra...)...)), 100)
		if c.bad {
			if !zipfile.IsBadEntry(err) {
				t.Errorf("%v: %v", c, err)
			}
			continue
		}
		if got := [3]uint64{e.CompressedSize64, e.UncompressedSize64, uint64(e.Header) - 100}; got != c.want || err != nil {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
}

// Descriptors have a signature or none, and sizes of 32 or 64 bits; they are told by the size that
// was read.
func TestDescriptors(t *testing.T) {
	numbers := func(list ...any) string { return string(field(0, list...)[4:]) }
	for name, c := range map[string]struct {
		b    string
		want int
	}{
		"with its signature":      {zipfile.DescriptorMagic + numbers(uint32(9), uint32(5), uint32(7)), 16},
		"without":                 {numbers(uint32(9), uint32(5), uint32(7)), 12},
		"of 64 bits":              {zipfile.DescriptorMagic + numbers(uint32(9), uint64(5), uint64(7)), 24},
		"of 64 bits, without":     {numbers(uint32(9), uint64(5), uint64(7)), 20},
		"of another size":         {zipfile.DescriptorMagic + numbers(uint32(9), uint32(6), uint32(7)), 0},
		"cut":                     {zipfile.DescriptorMagic + numbers(uint32(9), uint32(5)), 0},
		"nothing":                 {"", 0},
		"another size in 64 bits": {numbers(uint32(9), uint64(6), uint64(7)), 0},
	} {
		var e zipfile.Entry
		if n := e.ReadDescriptor([]byte(c.b), 5); n != c.want {
			t.Errorf("%s: %d bytes, want %d", name, n, c.want)
		} else if n > 0 && (e.CRC32 != 9 || e.CompressedSize64 != 5 || e.UncompressedSize64 != 7) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	// A file of nothing that is deflated to two bytes, before the next record.
	for _, next := range []string{zipfile.LocalMagic, zipfile.CentralMagic} {
		var e zipfile.Entry
		if n := e.ReadDescriptor([]byte(numbers(uint32(0), uint32(2), uint32(0))+next+numbers(uint32(20))), 2); n != 12 || e.UncompressedSize64 != 0 {
			t.Errorf("an empty file: %d bytes, %d", n, e.UncompressedSize64)
		}
	}
}
