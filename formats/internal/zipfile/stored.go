package zipfile

import (
	"archive/zip"
	"bytes"
	"math"
	"strings"
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
