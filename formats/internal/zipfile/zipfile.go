// Package zipfile has the records of zip archives, as PKWARE's APPNOTE.TXT 6.3 describes them: the
// numbers below are of its sections. Numbers in records are little-endian. Unlike package zip it
// reads the directory entry by entry, copes with an archive that is cut, and writes one without its
// content at hand.
package zipfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// What records begin with.
const (
	LocalMagic        = "PK\x03\x04" // 4.3.7
	DescriptorMagic   = "PK\x07\x08" // 4.3.9
	CentralMagic      = "PK\x01\x02" // 4.3.12
	zip64EndMagic     = "PK\x06\x06" // 4.3.14
	zip64LocatorMagic = "PK\x06\x07" // 4.3.15
	EndMagic          = "PK\x05\x06" // 4.3.16
)

// LocalSize is how many bytes a local header has before the name.
const LocalSize = 30

// Bytes of the other records before what has no fixed size.
const (
	centralSize      = 46
	zip64EndSize     = 56
	zip64LocatorSize = 20
	endSize          = 22
)

var le = binary.LittleEndian

// A Local is what a header before the content of a file says that is needed to find the content.
type Local struct {
	Method    uint16 // 0: stored, 8: deflated
	NameSize  int
	ExtraSize int
}

// ParseLocal reads the first LocalSize bytes of a local header, and reports whether it is one.
//
//	 0      4       6     8      10   12   14    18     22   26       28        30     30+n
//	+------+-------+-----+------+----+----+-----+------+----+--------+---------+------+-------+
//	| PK34 |version|flags|method|time|date|crc32|stored|size|name n  |extra m  | name | extra |
//	+------+-------+-----+------+----+----+-----+------+----+--------+---------+------+-------+
func ParseLocal(b []byte) (l Local, ok bool) {
	if len(b) < LocalSize || string(b[:4]) != LocalMagic {
		return Local{}, false
	}
	return Local{le.Uint16(b[8:]), int(le.Uint16(b[26:])), int(le.Uint16(b[28:]))}, true
}

// NameEnd returns how many bytes of the header reach to the end of the name.
func (l Local) NameEnd() int { return LocalSize + l.NameSize }

// Size returns how many bytes the header has: after it comes the content.
func (l Local) Size() int { return l.NameEnd() + l.ExtraSize }

// dosTime returns the date and time of a file (4.4.6), the nearest there is: two seconds'
// precision, no zone, the years from 1980 to 2107.
//
//	bit 15      11        5         0
//	date | year-1980 | month | day  |
//	time | hour   | minute | second/2 |
func dosTime(t time.Time) (date, clock uint16) {
	t = t.UTC()
	switch year := t.Year(); {
	case year < 1980:
		return 1<<5 | 1, 0
	case year > 2107:
		return 127<<9 | 12<<5 | 31, 23<<11 | 59<<5 | 29
	}
	date = uint16(t.Year()-1980)<<9 | uint16(t.Month())<<5 | uint16(t.Day())
	return date, uint16(t.Hour())<<11 | uint16(t.Minute())<<5 | uint16(t.Second()/2)
}

// Fields of headers.
const (
	version20 = 20      // 4.4.3: what is needed to read a plain file
	version45 = 45      // and one with sizes of 64 bits
	flagUTF8  = 1 << 11 // 4.4.4

	flagEncrypted = 1 << 0
	flagStreamed  = 1 << 3
	tooBig        = math.MaxUint32
	zip64Extra    = 1 // 4.5.3
)

// A Single is an archive with one file: the Head, its content, the Tail.
type Single struct{ Head, Tail []byte }

// NewSingle returns the archive around a content of the given size and CRC-32 that is stored in so
// many bytes by a method. The Head of one that is deflated does not depend on the numbers, as they
// come after the content.
func NewSingle(name string, modified time.Time, method uint16, stored, size int64, crc uint32) Single {
	f := &zip.FileHeader{Method: method, CRC32: crc, CompressedSize64: uint64(stored), UncompressedSize64: uint64(size)}
	streamed := method == zip.Deflate
	if streamed {
		f.Flags = flagStreamed
	}
	f.Name, f.CreatorVersion, f.ReaderVersion = name, version45, version20
	//lint:ignore SA1019 CreateRaw writes no Modified
	f.ModifiedDate, f.ModifiedTime = dosTime(modified)
	if utf8.ValidString(name) && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		f.Flags |= flagUTF8
	}
	if stored >= tooBig && !streamed { // package zip leaves the sizes in 64 bits (4.5.3) to a caller that writes the content itself
		f.ReaderVersion = version45
		f.Extra = le.AppendUint16(le.AppendUint16(nil, zip64Extra), 16)
		f.Extra = le.AppendUint64(le.AppendUint64(f.Extra, uint64(size)), uint64(stored))
	}
	out := &frame{}
	w := zip.NewWriter(out)
	content, _ := w.CreateRaw(f) // none of what fails here can: the name is not longer than that of a file
	_ = w.Flush()
	z := Single{Head: bytes.Clone(out.Bytes())}
	out.Reset()
	out.content = true
	zeros := make([]byte, min(stored, 64<<10))
	for rest := stored; rest > 0; rest -= int64(len(zeros)) {
		_, _ = content.Write(zeros[:min(rest, int64(len(zeros)))])
	}
	_ = w.Flush()
	out.content = false
	if !streamed {
		f.CompressedSize64, f.UncompressedSize64 = 0, 0 // Extra has them
	}
	_ = w.Close()
	z.Tail = out.Bytes()
	return z
}

// A frame keeps what is written but for the content.
type frame struct {
	bytes.Buffer
	content bool
}

func (f *frame) Write(b []byte) (int, error) {
	if f.content {
		return len(b), nil
	}
	return f.Buffer.Write(b)
}
