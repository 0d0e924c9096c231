package datafile

import (
	"bufio"
	"io"

	"recfs/formats/internal/wire"
	"recfs/nodes"
)

// inflaterCost is about what an open zlib reader takes, with its input.
const inflaterCost = 256 << 10

// stream returns the content of data item i, for one that is too large to be held in memory. Its end is given only
// if the whole zlib stream is sound.
func (r *Reader) stream(i int) (*nodes.Forward, error) {
	if err := r.checkStored(i); err != nil {
		return nil, err
	}
	d := r.Data[i]
	src := nodes.NewCursor(r.src, d.Offset, d.Stored)
	open := func(in io.Reader) (io.Reader, error) {
		zr, err := wire.NewZlibReader(bufio.NewReaderSize(in, 32<<10))
		s := &itemReader{i: i, d: d, src: src, zr: zr, left: d.Size}
		return s, s.failure(err)
	}
	return nodes.NewForward(src, open, d.Size, inflaterCost), nil
}

// An itemReader inflates a data item from its start to its end.
type itemReader struct {
	i    int
	d    Data
	src  *nodes.Cursor
	zr   io.Reader
	left int64
}

// Read implements io.Reader. With the last bytes comes an error if the stream does not end with them.
func (s *itemReader) Read(p []byte) (int, error) {
	n, err := s.zr.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if s.left == 0 && (err == nil || err == io.EOF) {
		var more [1]byte
		switch k, end := io.ReadFull(s.zr, more[:]); {
		case k > 0:
			err = fault("data_size_mismatch", s.d.Offset, "data %d announces %d bytes and holds at least %d", s.i, s.d.Size, s.d.Size+1)
		case end == io.EOF:
			return n, nil
		default:
			err = end
		}
	}
	return n, s.failure(err)
}

// failure tells damage from a failed read.
func (s *itemReader) failure(err error) error {
	switch {
	case err == nil || isFault(err):
		return err
	case s.src.Err != nil:
		return s.src.Err
	case err == io.EOF:
		return fault("data_size_mismatch", s.d.Offset, "data %d announces %d bytes and holds %d", s.i, s.d.Size, s.d.Size-s.left)
	}
	return zlibFault(s.i, s.d, err)
}
