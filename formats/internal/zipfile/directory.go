package zipfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"iter"
	"time"

	"recfs/formats"
)

// The directory of a zip is read entry by entry: package zip would make an
// object of 400 bytes and more of each.

const (
	maxComment = 1<<16 - 1
	maxNumber  = 1 << 62 // what an offset or a size may be
)

// Extra fields of an entry, besides the sizes in 64 bits.
const (
	extraNTFS = 0x000a // 4.5.5
	extraUnix = 0x000d // 4.5.7
	extraTime = 0x5455 // the others are of Info-ZIP
	extraOld  = 0x5855
)

var (
	errEntry = formats.Reasonf(formats.ErrCorrupt, "an entry of the directory is damaged")
	errShort = formats.Reasonf(io.ErrUnexpectedEOF, "the directory ends inside an entry")
)

// IsBadEntry reports whether an error of ReadEntry says that the bytes are no entry.
func IsBadEntry(err error) bool {
	return errors.Is(err, errEntry) || errors.Is(err, errShort)
}

// A Directory is where the entries of a zip stand.
type Directory struct {
	At, Size int64
	Base     int64  // where the zip begins in the file
	End      int64  // where it ends there
	Count    uint64 // of entries, as the end of the zip says
}

// FindDirectory reads the end of a zip.
func FindDirectory(r io.ReaderAt, size int64) (d Directory, err error) {
	tail := make([]byte, min(size, endSize+maxComment))
	end := size - int64(len(tail))
	if _, err := r.ReadAt(tail, end); err != nil && err != io.EOF {
		return d, err
	}
	i := findEnd(tail)
	if i < 0 {
		return d, formats.Corrupt("zip", size, "no directory at the end of the file")
	}
	b := tail[i:]
	end += int64(i)
	d.End = end + endSize + int64(le.Uint16(b[20:]))
	d.Count = uint64(le.Uint16(b[10:]))
	length, offset := uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))
	if b, at := findZip64End(r, end); b != nil {
		end, d.Count, length, offset = at, le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])
	}
	if length > uint64(end) || offset > uint64(end)-length {
		return d, formats.Corrupt("zip", end, "the directory is not in the file")
	}
	d.At, d.Size = end-int64(length), int64(length)
	d.Base = d.At - int64(offset)
	return d, nil
}

// findEnd returns where in the last bytes of a file the record is that ends
// a zip, -1 if there is none: the last one whose comment reaches to the end of
// the file, as a comment may hold the signature, too; where none does, as
// something follows the zip or its comment is cut, the last one.
func findEnd(tail []byte) int {
	last := -1
	for n := len(tail); n > 0; {
		i := bytes.LastIndex(tail[:n], []byte(EndMagic))
		if i < 0 {
			break
		}
		n = i
		if rest := len(tail) - i - endSize; rest >= 0 {
			if int(le.Uint16(tail[i+20:])) == rest {
				return i
			}
			last = max(last, i)
		}
	}
	return last
}

// findZip64End returns the record before the end that has its numbers in
// 64 bits; nil if there is none.
func findZip64End(r io.ReaderAt, end int64) (b []byte, at int64) {
	if end < zip64LocatorSize+zip64EndSize {
		return nil, 0
	}
	loc := make([]byte, zip64LocatorSize)
	if _, err := r.ReadAt(loc, end-zip64LocatorSize); err != nil || string(loc[:4]) != zip64LocatorMagic {
		return nil, 0
	}
	b = make([]byte, zip64EndSize)
	for _, at := range []int64{int64(le.Uint64(loc[8:])), end - zip64LocatorSize - zip64EndSize} { // if something precedes the zip, the first is wrong
		if at < 0 || at > end-zip64EndSize {
			continue
		}
		if _, err := r.ReadAt(b, at); err == nil && string(b[:4]) == zip64EndMagic {
			return b, at
		}
	}
	return nil, 0
}

// An Entry is what an entry of the directory, or a local header, says of a file.
type Entry struct {
	zip.FileHeader
	Header int64 // where the local header begins
	Length int64 // of the entry or the header
}

// ReadEntry reads an entry of a zip that begins at base; io.EOF if there
// is none.
func ReadEntry(r io.Reader, base int64) (f Entry, err error) {
	b := make([]byte, centralSize)
	if _, err := io.ReadFull(r, b); err == io.ErrUnexpectedEOF {
		return f, errShort
	} else if err != nil {
		return f, err
	}
	if string(b[:4]) != CentralMagic {
		return f, errEntry
	}
	f.CreatorVersion, f.Flags, f.Method = le.Uint16(b[4:]), le.Uint16(b[8:]), le.Uint16(b[10:])
	f.CRC32, f.Modified = le.Uint32(b[16:]), fromDOS(le.Uint16(b[14:]), le.Uint16(b[12:]))
	f.CompressedSize64, f.UncompressedSize64 = uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[24:]))
	f.ExternalAttrs, f.Header = le.Uint32(b[38:]), int64(le.Uint32(b[42:]))
	name, extra, comment := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
	f.Length = int64(centralSize + name + extra + comment)
	rest := make([]byte, name+extra+comment)
	if _, err := io.ReadFull(r, rest); err == io.EOF || err == io.ErrUnexpectedEOF {
		return f, errShort
	} else if err != nil {
		return f, err
	}
	f.Name = string(rest[:name])
	for id, field := range extraFields(rest[name:][:extra]) {
		f.fill(id, field)
	}
	if f.CompressedSize64 > maxNumber || f.UncompressedSize64 > maxNumber || f.Header < 0 || f.Header > maxNumber {
		return f, errEntry
	}
	f.Header += base
	return f, nil
}

// extraFields gives the extra fields of an entry.
func extraFields(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= 4 {
			id, n := le.Uint16(b), int(le.Uint16(b[2:]))
			if b = b[4:]; n > len(b) || !yield(id, b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// fill takes what an extra field says.
func (f *Entry) fill(id uint16, b []byte) {
	switch {
	case id == zip64Extra:
		header := uint64(f.Header)
		for _, n := range []*uint64{&f.UncompressedSize64, &f.CompressedSize64, &header} {
			if *n == tooBig && len(b) >= 8 {
				*n, b = le.Uint64(b), b[8:]
			}
		}
		f.Header = int64(header)
	case id == extraTime && len(b) >= 5 && b[0]&1 != 0:
		f.Modified = time.Unix(int64(int32(le.Uint32(b[1:]))), 0)
	case (id == extraUnix || id == extraOld) && len(b) >= 8:
		f.Modified = time.Unix(int64(int32(le.Uint32(b[4:]))), 0)
	case id == extraNTFS && len(b) >= 4:
		for tag, times := range extraFields(b[4:]) {
			if tag == 1 && len(times) == 24 {
				f.Modified = ntfsTime(int64(le.Uint64(times)))
			}
		}
	}
}

// fromDOS returns a time of two seconds' precision and no zone (4.4.6).
func fromDOS(date, clock uint16) time.Time {
	if date == 0 {
		return time.Time{}
	}
	return time.Date(int(date>>9)+1980, time.Month(date>>5&0xf), int(date&0x1f), int(clock>>11), int(clock>>5&0x3f), int(clock&0x1f)*2, 0, time.UTC)
}

// ntfsTime returns the time n steps of 100 ns after the beginning of 1601.
func ntfsTime(n int64) time.Time {
	const second = 1e7
	return time.Unix(time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).Unix()+n/second, n%second*100)
}
