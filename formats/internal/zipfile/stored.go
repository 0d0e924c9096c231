package zipfile

import (
	"math"
	"time"
	"unicode/utf8"
)

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

// A Stored is an archive with one file that is not compressed: the Head, the content, the Tail.
type Stored struct{ Head, Tail []byte }

// NewStored returns the archive around a content of the given size and CRC-32.
func NewStored(name string, modified time.Time, size int64, crc uint32) Stored {
	f := file{name: name, size: uint64(size), crc: crc, large: size >= tooBig}
	f.date, f.clock = dosTime(modified)
	if !ascii(name) && utf8.ValidString(name) {
		f.flags = flagUTF8
	}
	z := Stored{Head: f.local()}
	z.Tail = f.tail(uint64(len(z.Head)) + f.size)
	return z
}

// A file is what headers say of a file.
type file struct {
	name               string
	flags, date, clock uint16
	size               uint64
	crc                uint32
	large              bool // needs sizes of 64 bits
}

// local returns the header before the content; ParseLocal draws it.
func (f *file) local() []byte {
	extra := f.extra()
	b := append(make([]byte, 0, LocalSize+len(f.name)+len(extra)), LocalMagic...)
	b = f.common(b, len(extra))
	b = append(b, f.name...)
	return append(b, extra...)
}

// common appends what the local and the central header share:
//
//	 0       2     4      6    8    10    14     18   22       24        26
//	+-------+-----+------+----+----+-----+------+----+--------+---------+
//	|version|flags|method|time|date|crc32|stored|size|name n  |extra m  |
//	+-------+-----+------+----+----+-----+------+----+--------+---------+
func (f *file) common(b []byte, extra int) []byte {
	version, size := uint16(version20), uint32(f.size)
	if f.large {
		version, size = version45, tooBig
	}
	b = le.AppendUint16(b, version)
	b = le.AppendUint16(b, f.flags)
	b = le.AppendUint16(b, 0) // stored
	b = le.AppendUint16(b, f.clock)
	b = le.AppendUint16(b, f.date)
	b = le.AppendUint32(b, f.crc)
	b = le.AppendUint32(b, size)
	b = le.AppendUint32(b, size)
	b = le.AppendUint16(b, uint16(len(f.name)))
	return le.AppendUint16(b, uint16(extra))
}

// extra returns the sizes in 64 bits (4.5.3), nothing if they fit without.
//
//	 0   2       4    12     20
//	+---+-------+----+------+
//	| 1 |16     |size|stored|
//	+---+-------+----+------+
func (f *file) extra() []byte {
	if !f.large {
		return nil
	}
	b := le.AppendUint16(nil, zip64Extra)
	b = le.AppendUint16(b, 16)
	b = le.AppendUint64(b, f.size)
	return le.AppendUint64(b, f.size)
}

// tail returns what ends the archive: the directory, which begins at offset at, and its end.
//
//	 0    4       6        32        34   36       38       42     46     46+n
//	+----+-------+--------+---------+----+--------+--------+------+------+-------+
//	|PK12|made by| common |comment 0|disk|internal|external|offset| name | extra | directory
//	+----+-------+--------+---------+----+--------+--------+------+------+-------+
//	 0    4    6        8     10    12     16     20        22
//	+----+----+--------+-----+-----+------+------+---------+
//	|PK56|disk|dir disk|files|files|length|offset|comment 0| end
//	+----+----+--------+-----+-----+------+------+---------+
func (f *file) tail(at uint64) []byte {
	extra := f.extra()
	b := make([]byte, 0, centralSize+len(f.name)+len(extra)+zip64EndSize+zip64LocatorSize+endSize)
	b = append(b, CentralMagic...)
	b = le.AppendUint16(b, version45)
	b = f.common(b, len(extra))
	b = append(b, make([]byte, 2+2+2+4+4)...) // no comment, disk 0, attributes, the file at the start
	b = append(b, f.name...)
	b = append(b, extra...)
	length := uint64(len(b))
	if at >= tooBig {
		b = appendZip64End(b, length, at)
		at = tooBig
	}
	b = append(b, EndMagic...)
	b = le.AppendUint32(b, 0) // this disk, the disk of the directory
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint32(b, uint32(length))
	b = le.AppendUint32(b, uint32(at))
	return le.AppendUint16(b, 0)
}

// appendZip64End appends the end with numbers of 64 bits, and what locates it.
//
//	 0    4    12      14      16   20       24    32    40     48     56
//	+----+----+-------+-------+----+--------+-----+-----+------+------+
//	|PK66|44  |made by|version|disk|dir disk|files|files|length|offset|
//	+----+----+-------+-------+----+--------+-----+-----+------+------+
//	 0    4    8             16    20
//	+----+----+-------------+-----+
//	|PK67|disk|offset of end|disks|
//	+----+----+-------------+-----+
func appendZip64End(b []byte, length, at uint64) []byte {
	b = append(b, zip64EndMagic...)
	b = le.AppendUint64(b, zip64EndSize-12) // after this number
	b = le.AppendUint16(b, version45)
	b = le.AppendUint16(b, version45)
	b = le.AppendUint64(b, 0) // disks
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, 1)
	b = le.AppendUint64(b, length)
	b = le.AppendUint64(b, at)
	b = append(b, zip64LocatorMagic...)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint64(b, at+length)
	return le.AppendUint32(b, 1)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
