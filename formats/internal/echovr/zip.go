package echovr

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf8"
)

// Zip records and fields, PKWARE APPNOTE 4.3.
const (
	zipLocal      = 0x04034b50
	zipCentral    = 0x02014b50
	zip64End      = 0x06064b50
	zip64Locator  = 0x07064b50
	zipEnd        = 0x06054b50
	zip64Extra    = 1
	zipVersion    = 20
	zip64Version  = 45
	zipUTF8       = 1 << 11
	zipTooBig     = math.MaxUint32
	zip64EndSize  = 56
	zipLocalSize  = 30
	zip64SizesLen = 20
)

// A Zip is an archive with one entry that is stored, not compressed: the Head, the content of the entry, the Tail.
type Zip struct{ Head, Tail []byte }

// NewZip returns the archive around a content of the given size and CRC-32.
func NewZip(name string, modified time.Time, size int64, crc uint32) Zip {
	e := zipEntry{name: name, size: uint64(size), crc: crc, large: size >= zipTooBig}
	e.date, e.clock = dosTime(modified)
	if !ascii(name) && utf8.ValidString(name) {
		e.flags = zipUTF8
	}
	z := Zip{Head: e.local()}
	z.Tail = e.tail(uint64(len(z.Head)) + e.size)
	return z
}

// Size returns the length of the archive.
func (z Zip) Size(content int64) int64 { return int64(len(z.Head)) + content + int64(len(z.Tail)) }

type zipEntry struct {
	name               string
	flags, date, clock uint16
	size               uint64
	crc                uint32
	large              bool // needs Zip64 sizes
}

var le = binary.LittleEndian

// common appends what the local and the central header share, up to the lengths of name and extra field.
func (e *zipEntry) common(b []byte, large bool, extra int) []byte {
	version, size := uint16(zipVersion), uint32(e.size)
	if large {
		version = zip64Version
	}
	if e.large {
		size = zipTooBig
	}
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, e.flags)
	b = le.AppendUint16(b, 0) // stored
	b = le.AppendUint16(b, e.clock)
	b = le.AppendUint16(b, e.date)
	b = le.AppendUint32(b, e.crc)
	b = le.AppendUint32(b, size)
	b = le.AppendUint32(b, size)
	b = le.AppendUint16(b, uint16(len(e.name)))
	return le.AppendUint16(b, uint16(extra))
}

func (e *zipEntry) local() []byte {
	extra := e.extra()
	b := le.AppendUint32(make([]byte, 0, zipLocalSize+len(e.name)+zip64SizesLen), zipLocal)
	b = e.common(b, e.large, len(extra))
	b = append(b, e.name...)
	return append(b, extra...)
}

// extra returns the Zip64 field, empty if the sizes fit without.
func (e *zipEntry) extra() []byte {
	if !e.large {
		return nil
	}
	b := le.AppendUint16(nil, zip64Extra)
	b = le.AppendUint16(b, 16)
	b = le.AppendUint64(b, e.size)
	return le.AppendUint64(b, e.size)
}

// tail returns the central directory, which begins at offset at, and what ends the archive.
func (e *zipEntry) tail(at uint64) []byte {
	extra := e.extra()
	b := le.AppendUint32(nil, zipCentral)
	b = le.AppendUint16(b, zip64Version) // made by
	b = e.common(b, e.large, len(extra))
	b = append(b, make([]byte, 2+2+2+4+4)...) // no comment, disk 0, attributes, the entry at the start
	b = append(b, e.name...)
	b = append(b, extra...)
	length := uint64(len(b))
	if at >= zipTooBig {
		b = appendZip64End(b, length, at)
		at = zipTooBig
	}
	b = le.AppendUint32(b, zipEnd)
	b = le.AppendUint32(b, 0) // this disk, the disk of the directory
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint32(b, uint32(length))
	b = le.AppendUint32(b, uint32(at))
	return le.AppendUint16(b, 0)
}

func appendZip64End(b []byte, length, at uint64) []byte {
	b = le.AppendUint32(b, zip64End)
	b = le.AppendUint64(b, zip64EndSize-12)
	b = le.AppendUint16(b, zip64Version)
	b = le.AppendUint16(b, zip64Version)
	b = le.AppendUint64(b, 0) // disks
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, length)
	b = le.AppendUint64(b, at)
	b = le.AppendUint32(b, zip64Locator)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, at+length)
	return le.AppendUint32(b, 1)
}

// dosTime returns the date and time of a zip entry, the nearest there is.
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

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
