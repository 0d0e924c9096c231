package zipfile

import (
	"io"

	"recfs/formats"
)

// ReadLocal reads the local header at at. One that does not know the sizes of its file yet has the
// bit for that among the Flags ([Entry.Streamed]). Where an error concerns only what comes after
// the first LocalSize bytes, the Length is known.
func ReadLocal(r io.ReaderAt, at int64) (f Entry, err error) {
	b := make([]byte, LocalSize)
	n, err := r.ReadAt(b, at)
	if err != nil && err != io.EOF {
		return f, err
	}
	l, ok := ParseLocal(b)
	if !ok {
		return f, formats.Reasonf(formats.ErrCorrupt, "there is no file at %d", at)
	}
	if n < len(b) {
		return f, io.ErrUnexpectedEOF
	}
	f.Flags, f.Method = le.Uint16(b[6:]), l.Method
	f.CRC32, f.Modified = le.Uint32(b[14:]), fromDOS(le.Uint16(b[12:]), le.Uint16(b[10:]))
	f.CompressedSize64, f.UncompressedSize64 = uint64(le.Uint32(b[18:])), uint64(le.Uint32(b[22:]))
	f.Length = int64(l.Size())
	rest := make([]byte, l.NameSize+l.ExtraSize)
	if n, err := r.ReadAt(rest, at+LocalSize); n < len(rest) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return f, err
	}
	f.Name = string(rest[:l.NameSize])
	for id, field := range extraFields(rest[l.NameSize:]) {
		f.fill(id, field)
	}
	if f.CompressedSize64 > maxNumber || f.UncompressedSize64 > maxNumber {
		return f, formats.Reasonf(formats.ErrCorrupt, "the header at %d has a size that no file has", at)
	}
	f.Header = at
	return f, nil
}

// Encrypted reports whether the content is encrypted (4.4.4).
func (f *Entry) Encrypted() bool { return f.Flags&flagEncrypted != 0 }

// UTF8 reports whether the name says of itself that it is UTF-8 (4.4.4).
func (f *Entry) UTF8() bool { return f.Flags&flagUTF8 != 0 }

// Streamed reports whether the checksum and the sizes of a file come after its content (4.3.9).
func (f *Entry) Streamed() bool { return f.Flags&flagStreamed != 0 }

// MaxDescriptor is how many bytes a descriptor has at most.
const MaxDescriptor = 24

// ReadDescriptor looks for the descriptor of a file of n stored bytes in b, which begins after
// them, and takes what it says. It returns how many bytes it has, 0 if there is none.
//
//	 0      4     8      12     16
//	+------+-----+------+------+
//	| PK78 |crc32|stored| size |    PK78 may be missing; sizes of 8 bytes in zip64
//	+------+-----+------+------+
func (f *Entry) ReadDescriptor(b []byte, n int64) int {
	start := 0
	if len(b) >= 4 && string(b[:4]) == DescriptorMagic {
		start = 4
	}
	b = b[start:]
	switch {
	case len(b) >= 20 && le.Uint64(b[4:]) == uint64(n) && le.Uint64(b[12:]) < maxNumber && !startsRecord(b[12:]):
		f.UncompressedSize64 = le.Uint64(b[12:])
		start += 20
	case len(b) >= 12 && int64(le.Uint32(b[4:])) == n:
		f.UncompressedSize64 = uint64(le.Uint32(b[8:]))
		start += 12
	default:
		return 0
	}
	f.CRC32, f.CompressedSize64 = le.Uint32(b), uint64(n)
	return start
}

// startsRecord reports whether b begins with what follows a descriptor: one of 32 bits that tells
// an empty file reads like the first half of one of 64 bits.
func startsRecord(b []byte) bool {
	return string(b[:4]) == LocalMagic || string(b[:4]) == CentralMagic
}
