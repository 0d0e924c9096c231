package unpack

import (
	"bufio"
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

var gzipReaders sync.Pool // of *gzip.Reader

// A gzipReader decompresses the members of a gzip file. Zeros behind the last one are no part of
// it: what fills blocks of tapes and disks adds them, and gzip(1) leaves them out, too.
type gzipReader struct {
	*gzip.Reader
	in *bufio.Reader
}

func openGzip(r *bufio.Reader, _ int64) (io.Reader, func(bool), error) {
	g, ok := gzipReaders.Get().(*gzip.Reader)
	if !ok {
		g = new(gzip.Reader)
	}
	z := gzipReader{g, r}
	return z, func(sound bool) {
		if sound {
			gzipReaders.Put(g)
		}
	}, z.member()
}

func (z gzipReader) Read(p []byte) (int, error) {
	n, err := z.Reader.Read(p)
	if err == io.EOF {
		err = z.next()
	}
	return n, err
}

// maxPadding is how many zeros may stand behind a file, as much as the largest blocks of tapes
// have: a hole at the end of a file can have any number, and all of them are read.
const maxPadding = 1 << 20

// next begins the member after one that has ended; io.EOF: there is none.
func (z gzipReader) next() error {
	for padded := 0; padded <= maxPadding; {
		if _, err := z.in.Peek(1); err != nil {
			return err
		}
		b, _ := z.in.Peek(z.in.Buffered())
		zeros := len(b) - len(bytes.TrimLeft(b, "\x00"))
		if zeros == 0 && padded == 0 {
			return z.member()
		}
		if zeros == 0 {
			break
		}
		z.in.Discard(zeros)
		padded += zeros
	}
	return gzip.ErrHeader
}

// member reads the header of a member.
func (z gzipReader) member() error {
	err := z.Reset(z.in)
	z.Multistream(false)
	return err
}
