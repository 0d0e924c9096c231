package unpack

import (
	"bufio"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

var gzipReaders sync.Pool // of *gzip.Reader

// A gzipReader decompresses the members of a gzip file. Zeros behind the last one are no part of it: what fills
// blocks of tapes and disks adds them, and gzip(1) leaves them out, too.
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

// next begins the member after one that has ended; io.EOF: there is none.
func (z gzipReader) next() error {
	for padded := false; ; padded = true {
		b, err := z.in.Peek(1)
		switch {
		case err != nil:
			return err
		case b[0] != 0 && padded:
			return gzip.ErrHeader
		case b[0] != 0:
			return z.member()
		}
		z.in.Discard(1)
	}
}

// member reads the header of a member.
func (z gzipReader) member() error {
	err := z.Reset(z.in)
	z.Multistream(false)
	return err
}
