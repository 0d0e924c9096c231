package wire

import (
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

// A ZlibReader inflates one zlib stream and compares its checksum, with that of this package. It
// reads no byte after the stream.
type ZlibReader struct {
	in      flate.Reader
	inflate io.Reader
	sum     uint32
	err     error
}

var zlibReaders = sync.Pool{New: func() any { return &ZlibReader{inflate: flate.NewReader(nil)} }}

// NewZlibReader returns a reader of the stream that in begins with. Its errors are those of the
// packages flate and zlib.
func NewZlibReader(in flate.Reader) (*ZlibReader, error) {
	z := zlibReaders.Get().(*ZlibReader)
	err := z.reset(in)
	if err != nil {
		z.Free()
		return nil, err
	}
	return z, nil
}

// Free lets the next reader have the memory of z, which must not be used any more.
func (z *ZlibReader) Free() {
	z.in = nil
	zlibReaders.Put(z)
}

// reset begins with the stream that in begins with.
func (z *ZlibReader) reset(in flate.Reader) error {
	var head [zlibHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return cut(err)
	}
	method, flags := head[0], head[1]
	if method&15 != zlibDeflate || method>>4 > zlibMaxWindow || binary.BigEndian.Uint16(head[:])%31 != 0 {
		return zlib.ErrHeader
	}
	if flags&zlibDict != 0 {
		return zlib.ErrDictionary
	}
	z.in, z.sum, z.err = in, 1, nil
	return z.inflate.(flate.Resetter).Reset(in, nil)
}

// cut is the error of a stream whose bytes end before it does.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read implements io.Reader.
func (z *ZlibReader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.inflate.Read(p)
	z.sum = Adler32(z.sum, p[:n])
	if err == io.EOF {
		err = z.end()
	}
	z.err = err
	return n, err
}

// end reads the checksum.
func (z *ZlibReader) end() error {
	var sum [zlibSum]byte
	if _, err := io.ReadFull(z.in, sum[:]); err != nil {
		return cut(err)
	}
	if binary.BigEndian.Uint32(sum[:]) != z.sum {
		return zlib.ErrChecksum
	}
	return io.EOF
}
