package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
)

// Parts of a zlib stream (RFC 1950, section 2.2).
const (
	zlibHead      = 2
	zlibDeflate   = 8 // the method, in the low half of the first byte
	zlibMaxWindow = 7 // the window, in the high half
	zlibDict      = 0x20
	zlibSum       = 4
)

// A zlibReader inflates one zlib stream and compares its checksum, with that of this package.
type zlibReader struct {
	in      *bytes.Reader
	inflate io.Reader
	sum     uint32
}

var zlibReaders = sync.Pool{New: func() any {
	in := bytes.NewReader(nil)
	return &zlibReader{in: in, inflate: flate.NewReader(in)}
}}

// reset begins with the stream at the beginning of src.
func (z *zlibReader) reset(src []byte) error {
	if len(src) < zlibHead {
		return io.ErrUnexpectedEOF
	}
	method, flags := src[0], src[1]
	if method&15 != zlibDeflate || method>>4 > zlibMaxWindow || binary.BigEndian.Uint16(src)%31 != 0 {
		return zlib.ErrHeader
	}
	if flags&zlibDict != 0 {
		return zlib.ErrDictionary
	}
	z.in.Reset(src[zlibHead:])
	z.sum = 1
	return z.inflate.(flate.Resetter).Reset(z.in, nil)
}

// Read implements io.Reader.
func (z *zlibReader) Read(p []byte) (int, error) {
	n, err := z.inflate.Read(p)
	z.sum = Adler32(z.sum, p[:n])
	if err != io.EOF {
		return n, err
	}
	var sum [zlibSum]byte
	if _, err := io.ReadFull(z.in, sum[:]); err != nil {
		return n, io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(sum[:]) != z.sum {
		return n, zlib.ErrChecksum
	}
	return n, io.EOF
}
