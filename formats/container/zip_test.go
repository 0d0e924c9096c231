package container_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"recfs/formats/container"
	"recfs/nodes/nodestest"
)

// Records of a zip and their sizes (PKWARE's APPNOTE.TXT 6.3, 4.3).
const (
	zipLocal     = "PK\x03\x04"
	zipEntry     = "PK\x01\x02"
	zip64End     = "PK\x06\x06"
	zip64Locator = "PK\x06\x07"
	zipEnd       = "PK\x05\x06"

	zipLocalSize  = 30
	zipEntrySize  = 46
	zip64EndSize  = 56
	zip64LocSize  = 20
	zipEndSize    = 22
	zipMaxComment = 1<<16 - 1
	zipIn64       = 1<<32 - 1
)

var le = binary.LittleEndian

// A zipEnding is how a zip made by hand ends.
type zipEnding struct {
	entries  int    // in the directory
	count    uint16 // of them, as its end says
	count64  uint64 // as the zip64 record says; 0: there is none
	size     int    // of the directory, as its end says; 0: as it is
	prefix   string // before the zip
	comment  string
	trailing string // after the zip
}

// zipOf returns a zip of empty files.
func zipOf(e zipEnding) []byte {
	var b []byte
	for i := range max(e.entries, 1) {
		name := strconv.Itoa(i)
		if e.entries == 0 {
			name = ""
		}
		local := make([]byte, zipLocalSize)
		copy(local, zipLocal)
		le.PutUint16(local[26:], uint16(len(name)))
		b = append(append(b, local...), name...)
	}
	start, at := len(b), 0
	for i := range e.entries {
		name := strconv.Itoa(i)
		entry := make([]byte, zipEntrySize)
		copy(entry, zipEntry)
		le.PutUint16(entry[28:], uint16(len(name)))
		le.PutUint32(entry[42:], uint32(at))
		b = append(append(b, entry...), name...)
		at += zipLocalSize + len(name)
	}
	size := len(b) - start
	if e.size > 0 {
		size = e.size
	}
	end64 := len(b)
	end := make([]byte, zipEndSize)
	copy(end, zipEnd)
	le.PutUint16(end[10:], e.count)
	le.PutUint32(end[12:], uint32(size))
	le.PutUint32(end[16:], uint32(start))
	le.PutUint16(end[20:], uint16(len(e.comment)))
	if e.count64 > 0 {
		record := make([]byte, zip64EndSize+zip64LocSize)
		copy(record, zip64End)
		le.PutUint64(record[4:], zip64EndSize-12)
		le.PutUint64(record[32:], e.count64)
		le.PutUint64(record[40:], uint64(size))
		le.PutUint64(record[48:], uint64(start))
		copy(record[zip64EndSize:], zip64Locator)
		le.PutUint64(record[zip64EndSize+8:], uint64(end64))
		b = append(b, record...)
		le.PutUint32(end[12:], zipIn64)
		le.PutUint32(end[16:], zipIn64)
	}
	b = append(append(b, end...), e.comment...)
	return append(append([]byte(e.prefix), b...), e.trailing...)
}

// A zip is whole only if its directory has as many entries as its end says, in all bits of the
// number.
func TestZipCount(t *testing.T) {
	const many = 1<<16 + 1
	signature := strings.Repeat(zipEnd, 10)
	for name, test := range map[string]struct {
		zipEnding
		whole bool
	}{
		"empty":                        {zipEnding{}, true},
		"as counted":                   {zipEnding{entries: 3, count: 3}, true},
		"one less":                     {zipEnding{entries: 3, count: 4}, false},
		"one more":                     {zipEnding{entries: 3, count: 2}, false},
		"more, none counted":           {zipEnding{entries: 3}, false},
		"all that 16 bits count":       {zipEnding{entries: 1<<16 - 1, count: 1<<16 - 1}, true},
		"low bits of none":             {zipEnding{entries: 1 << 16}, false},
		"low bits of one":              {zipEnding{entries: many, count: 1}, false},
		"zip64":                        {zipEnding{entries: many, count: 1<<16 - 1, count64: many}, true},
		"zip64 of few":                 {zipEnding{entries: 2, count: 2, count64: 2}, true},
		"zip64, low bits of one":       {zipEnding{entries: many, count: 1<<16 - 1, count64: 1}, false},
		"zip64, high bits":             {zipEnding{entries: 1, count: 1, count64: many}, false},
		"zip64, 32 bits more":          {zipEnding{entries: 1, count: 1, count64: 1<<32 + 1}, false},
		"prefix":                       {zipEnding{entries: 3, count: 3, prefix: "#!/bin/sh\n"}, true},
		"prefix and zip64":             {zipEnding{entries: many, count: 1<<16 - 1, count64: many, prefix: "#!/bin/sh\n"}, true},
		"comment":                      {zipEnding{entries: 3, count: 3, comment: "text"}, true},
		"comment with the signature":   {zipEnding{entries: 3, count: 3, comment: signature}, true},
		"comment with it and too few":  {zipEnding{entries: 3, count: 4, comment: signature}, false},
		"comment with an end":          {zipEnding{entries: 3, count: 3, comment: string(zipOf(zipEnding{entries: 1, count: 1})) + "."}, true},
		"trailing":                     {zipEnding{entries: 3, count: 3, trailing: "garbage"}, true},
		"directory cut in an entry":    {zipEnding{entries: 3, count: 3, size: zipEntrySize + 1 + zipEntrySize}, false},
		"prefix, low bits of none":     {zipEnding{entries: 1 << 16, prefix: "x"}, false},
		"comment and the low bits":     {zipEnding{entries: many, count: 1, comment: "text"}, false},
		"as counted and longest names": {zipEnding{entries: 3, count: 3, comment: strings.Repeat("x", zipMaxComment)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.entries > 1000 {
				nodestest.Long(t)
			}
			b := zipOf(test.zipEnding)
			m, err := listOf(t, container.Zip, b)
			if whole := err == nil && len(m.Problems) == 0; whole != test.whole {
				t.Fatalf("whole is %v, want %v: %v", whole, test.whole, err)
			}
			if test.size > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Len() != 1+test.entries {
				t.Errorf("%d members are listed, %v", m.Len()-1, err)
			}
		})
	}
}

// What package zip writes is whole, with zip64 and without.
func TestZipOfManyIsWhole(t *testing.T) {
	for _, n := range []int{1, 1<<16 + 1, 1<<16 - 1}[:nodestest.Times(3, 2)] {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		for i := range n {
			if _, err := w.CreateHeader(&zip.FileHeader{Name: strconv.Itoa(i), Method: zip.Store}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b := buf.Bytes()
		m, err := listOf(t, container.Zip, b)
		if err != nil || len(m.Problems) > 0 || m.Len() != 1+n {
			t.Errorf("%d files: %v, %v", n, m, err)
		}
	}
}

// Of two members at one path the later file counts. A file where a directory is already, and the
// other way round, is named beside what is shown, like one whose name no file can have.
func TestZipConflicts(t *testing.T) {
	long := strings.Repeat("n", 300)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range [][2]string{
		{"a", "file"},
		{"a/below/x", "hidden"},
		{"b/", ""},
		{"b/x", "shown"},
		{"./b", "hidden"},
		{"c", "old"},
		{"./c", "new"},
		{long, "hidden"},
	} {
		h := &zip.FileHeader{Name: f[0], UncompressedSize64: uint64(len(f[1]))}
		h.CompressedSize64 = h.UncompressedSize64
		h.CRC32 = crc32.ChecksumIEEE([]byte(f[1]))
		raw, err := w.CreateRaw(h)
		if err == nil {
			_, err = raw.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	for name, b := range map[string][]byte{"whole": whole, "without its directory": whole[:bytes.Index(whole, []byte(zipEntry))]} {
		got, problems, err := list(t, container.Zip, b)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"a": "file", "b/x": "shown", "c": "new"}; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		told := map[string]string{}
		for _, p := range problems {
			told[p.Path] = p.Code
		}
		bad := told["a"] != container.NameConflict || told["b"] != container.NameConflict
		if bad || name == "whole" && (told[""] != container.BadName || len(problems) != 3) {
			t.Errorf("%s: the problems are %v", name, problems)
		}
	}
}

// TestZipOfSpecialFiles shows what was read from a fifo as a file, and nothing for a special file
// without content.
func TestZipOfSpecialFiles(t *testing.T) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, mode := range map[string]fs.FileMode{
		"-": fs.ModeNamedPipe, "device": fs.ModeDevice, "socket": fs.ModeSocket, "empty": fs.ModeNamedPipe, "plain": 0,
	} {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(mode | 0o600)
		f, err := w.CreateHeader(h)
		if err == nil && name != "empty" {
			_, err = f.Write([]byte("of " + name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, problems, err := list(t, container.Zip, buf.Bytes())
	want := map[string]string{"-": "of -", "device": "of device", "socket": "of socket", "plain": "of plain"}
	if err != nil || !maps.Equal(got, want) || len(problems) > 0 {
		t.Errorf("%v, %v, %v, want %v", got, problems, err, want)
	}
}

// oneFile returns a zip of a file with its size and checksum in the header before it, which change
// may overwrite.
func oneFile(t *testing.T, h *zip.FileHeader, content string, change func(local []byte)) []byte {
	t.Helper()
	var stored, buf bytes.Buffer
	stored.WriteString(content)
	if h.Method == zip.Deflate {
		stored.Reset()
		f, err := flate.NewWriter(&stored, 9)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	w := zip.NewWriter(&buf)
	h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE([]byte(content)), uint64(stored.Len()), uint64(len(content))
	f, err := w.CreateRaw(h)
	if err == nil {
		_, err = stored.WriteTo(f)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	b := buf.Bytes()
	change(b[bytes.Index(b, []byte(zipLocal)):])
	return b
}

// A name in the header is that in the directory also with other slashes, or in another code page.
func TestZipNamesDiffer(t *testing.T) {
	const content = "some content"
	for name, test := range map[string]struct {
		header, directory string
		flags             uint16
		same              bool
	}{
		"slashes":              {`a\b`, "a/b", 0, true},
		"code pages":           {"\xe4.txt", "\x84.txt", 0, true},
		"a letter as well":     {"\xe4.txt", "\x84.bin", 0, false},
		"ASCII for none":       {"a.txt", "\x84.txt", 0, false},
		"UTF-8":                {"\u00e4.txt", "\u00f6.txt", 1 << 11, false},
		"a letter for a slash": {"a_b", "a/b", 0, false},
	} {
		b := oneFile(t, &zip.FileHeader{Name: test.directory, Flags: test.flags}, content, func(local []byte) { copy(local[30:], test.header) })
		got, problems, err := list(t, container.Zip, b)
		if err != nil || len(problems) > 0 || (got[test.directory] == content) != test.same {
			t.Errorf("%s: %q, %v, %v", name, got, problems, err)
		}
	}
}

// A file whose header says otherwise than the directory is read whole, and who reads it to its end
// is told.
func TestZipHeadersDiffer(t *testing.T) {
	const content = "some content"
	for name, test := range map[string]struct {
		change func(local []byte)
		want   string // of the error behind the bytes; "": there is none
	}{
		"same":      {func([]byte) {}, ""},
		"name":      {func(b []byte) { b[30] = 'g' }, `the header before it is that of "game"`},
		"method":    {func(b []byte) { b[8] = 12 }, ", the header before it says 12"},
		"encrypted": {func(b []byte) { b[6] = 1 }, "the header before it says that it is encrypted"},
		"UTF-8":     {func(b []byte) { b[7] = 8 }, ""},
		"streamed":  {func(b []byte) { b[6] = 8; clear(b[14:26]) }, ""},
		"size":      {func(b []byte) { b[22]++ }, ", the header before it says 13 in "},
		"stored":    {func(b []byte) { b[18]++ }, ", the header before it says 12 in "},
		"checksum":  {func(b []byte) { clear(b[14:18]) }, ", the header before it says 00000000"},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			got, problems, err := list(t, container.Zip, oneFile(t, &zip.FileHeader{Name: "name", Method: method}, content, test.change))
			if err != nil || len(problems) > 0 {
				t.Fatalf("%s: %v, %v", name, problems, err)
			}
			text, told, bad := strings.Cut(got["name"], " bytes, error: ")
			if bad != (test.want != "") || !bad && text != content || bad && (text != strconv.Itoa(len(content)) || !strings.Contains(told, test.want)) {
				t.Errorf("%s, method %d: %q, want all and %q", name, method, got["name"], test.want)
			}
		}
	}
}
