// Package zipfile has the records of zip archives, as PKWARE's APPNOTE.TXT 6.3 describes them: the
// numbers below are of its sections. Numbers in records are little-endian. Unlike package zip it
// reads the directory entry by entry, copes with an archive that is cut, and writes one without its
// content at hand.
package zipfile

import (
	"encoding/binary"
	"time"
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
