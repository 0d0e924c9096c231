package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
)

// The directory of a zip is read entry by entry: package zip would make an
// object of 400 bytes and more of each. Numbers of sections are those of
// PKWARE's APPNOTE.TXT 6.3.

const (
	zipEnd       = "PK\x05\x06" // 4.3.16
	zip64Locator = "PK\x06\x07" // 4.3.15
	zip64End     = "PK\x06\x06" // 4.3.14
	zipEntry     = "PK\x01\x02" // 4.3.12
	zipLocal     = "PK\x03\x04" // 4.3.7

	zipEndSize    = 22
	zip64LocSize  = 20
	zip64EndSize  = 56
	zipEntrySize  = 46
	zipLocalSize  = 30
	zipMaxComment = 1<<16 - 1
	zipMax        = 1 << 62   // what an offset or a size may be
	zipIn64       = 1<<32 - 1 // instead of a number that stands in the zip64 field
)

// Extra fields of an entry.
const (
	zipField64   = 0x0001 // 4.5.3
	zipFieldNTFS = 0x000a // 4.5.5
	zipFieldUnix = 0x000d // 4.5.7
	zipFieldTime = 0x5455 // the others are of Info-ZIP
	zipFieldOld  = 0x5855
)

var (
	le = binary.LittleEndian

	errZipEntry = errors.New("damaged entry of the directory")
)

// A zipDirectory is where the entries of a zip stand.
type zipDirectory struct {
	at, size int64
	base     int64  // where the zip begins in the file
	count    uint64 // of entries
}

// findZipDirectory reads the end of a zip.
func findZipDirectory(r io.ReaderAt, size int64) (d zipDirectory, err error) {
	tail := make([]byte, min(size, zipEndSize+zipMaxComment))
	end := size - int64(len(tail))
	if _, err := r.ReadAt(tail, end); err != nil && err != io.EOF {
		return d, err
	}
	i := findZipEnd(tail)
	if i < 0 {
		return d, formats.Corrupt("zip", size, "no directory at the end of the file")
	}
	b := tail[i:]
	end += int64(i)
	d.count = uint64(le.Uint16(b[10:]))
	length, offset := uint64(le.Uint32(b[12:])), uint64(le.Uint32(b[16:]))
	if b, at := findZip64End(r, end); b != nil {
		end, d.count, length, offset = at, le.Uint64(b[32:]), le.Uint64(b[40:]), le.Uint64(b[48:])
	}
	if length > uint64(end) || offset > uint64(end)-length {
		return d, formats.Corrupt("zip", end, "the directory is not in the file")
	}
	d.at, d.size = end-int64(length), int64(length)
	d.base = d.at - int64(offset)
	return d, nil
}

// findZipEnd returns where in the last bytes of a file the record is that ends
// a zip, -1 if there is none: the last one whose comment reaches to the end of
// the file, as a comment may hold the signature, too; where none does, as
// something follows the zip or its comment is cut, the last one.
func findZipEnd(tail []byte) int {
	last := -1
	for n := len(tail); n > 0; {
		i := bytes.LastIndex(tail[:n], []byte(zipEnd))
		if i < 0 {
			break
		}
		n = i
		if rest := len(tail) - i - zipEndSize; rest >= 0 {
			if int(le.Uint16(tail[i+20:])) == rest {
				return i
			}
			last = max(last, i)
		}
	}
	return last
}

// findZip64End returns the record in front of the end that has its numbers in
// 64 bits; nil if there is none.
func findZip64End(r io.ReaderAt, end int64) (b []byte, at int64) {
	if end < zip64LocSize+zip64EndSize {
		return nil, 0
	}
	loc := make([]byte, zip64LocSize)
	if _, err := r.ReadAt(loc, end-zip64LocSize); err != nil || string(loc[:4]) != zip64Locator {
		return nil, 0
	}
	b = make([]byte, zip64EndSize)
	for _, at := range []int64{int64(le.Uint64(loc[8:])), end - zip64LocSize - zip64EndSize} { // if something precedes the zip, the first is wrong
		if at < 0 || at > end-zip64EndSize {
			continue
		}
		if _, err := r.ReadAt(b, at); err == nil && string(b[:4]) == zip64End {
			return b, at
		}
	}
	return nil, 0
}

// A zipFile is an entry of the directory.
type zipFile struct {
	zip.FileHeader
	header int64 // where it begins
	length int64 // of the entry
}

// readZipEntry reads an entry of a zip that begins at base; io.EOF if there
// is none.
func readZipEntry(r io.Reader, base int64) (f zipFile, err error) {
	b := make([]byte, zipEntrySize)
	if _, err := io.ReadFull(r, b); err != nil {
		return f, err
	}
	if string(b[:4]) != zipEntry {
		return f, errZipEntry
	}
	f.CreatorVersion, f.Flags, f.Method = le.Uint16(b[4:]), le.Uint16(b[8:]), le.Uint16(b[10:])
	f.CRC32, f.Modified = le.Uint32(b[16:]), dosTime(le.Uint16(b[14:]), le.Uint16(b[12:]))
	f.CompressedSize64, f.UncompressedSize64 = uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[24:]))
	f.ExternalAttrs, f.header = le.Uint32(b[38:]), int64(le.Uint32(b[42:]))
	name, extra, comment := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
	f.length = int64(zipEntrySize + name + extra + comment)
	rest := make([]byte, name+extra+comment)
	if _, err := io.ReadFull(r, rest); err != nil {
		return f, io.ErrUnexpectedEOF
	}
	f.Name = string(rest[:name])
	for id, field := range zipFields(rest[name:][:extra]) {
		f.fill(id, field)
	}
	if f.CompressedSize64 > zipMax || f.UncompressedSize64 > zipMax || f.header < 0 || f.header > zipMax {
		return f, errZipEntry
	}
	f.header += base
	return f, nil
}

// zipFields gives the extra fields of an entry.
func zipFields(b []byte) iter.Seq2[uint16, []byte] {
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
func (f *zipFile) fill(id uint16, b []byte) {
	switch {
	case id == zipField64:
		header := uint64(f.header)
		for _, n := range []*uint64{&f.UncompressedSize64, &f.CompressedSize64, &header} {
			if *n == zipIn64 && len(b) >= 8 {
				*n, b = le.Uint64(b), b[8:]
			}
		}
		f.header = int64(header)
	case id == zipFieldTime && len(b) >= 5 && b[0]&1 != 0:
		f.Modified = time.Unix(int64(int32(le.Uint32(b[1:]))), 0)
	case (id == zipFieldUnix || id == zipFieldOld) && len(b) >= 8:
		f.Modified = time.Unix(int64(int32(le.Uint32(b[4:]))), 0)
	case id == zipFieldNTFS && len(b) >= 4:
		for tag, times := range zipFields(b[4:]) {
			if tag == 1 && len(times) == 24 {
				f.Modified = ntfsTime(int64(le.Uint64(times)))
			}
		}
	}
}

// dosTime returns a time of two seconds' precision and no zone (4.4.6).
func dosTime(date, clock uint16) time.Time {
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

// zipData returns where the content of the file at header begins.
func zipData(r io.ReaderAt, header int64) (int64, error) {
	b := make([]byte, zipLocalSize)
	if _, err := r.ReadAt(b, header); err != nil && err != io.EOF {
		return 0, err
	}
	if string(b[:4]) != zipLocal {
		return 0, fmt.Errorf("%w: no file at %d", formats.ErrCorrupt, header)
	}
	return header + zipLocalSize + int64(le.Uint16(b[26:])) + int64(le.Uint16(b[28:])), nil
}
