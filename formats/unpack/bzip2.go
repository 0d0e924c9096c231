package unpack

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
)

const (
	// bzip2Tables is what a decoder of bzip2 takes beside the bytes of a block
	// that are held back.
	bzip2Tables = 4 << 20

	// bzip2Block is more than any block gives: it has 900,000 bytes, of which
	// five may stand for a run of 259.
	bzip2Block = 48 << 20

	// bzip2Window is for every block.
	bzip2Window = bzip2Tables + bzip2Block

	bzip2Step = 64 << 10 // how much is decompressed at once
)

var errBzip2Window = errors.New("the block needs more memory")

// A bzip2Reader gives the bytes of a block once their checksum is known to
// hold. The decoder, which makes them one by one, compares it behind the last.
type bzip2Reader struct {
	in    *byteCounter
	r     io.Reader
	limit int // of the bytes in pieces

	pieces [][]byte // that are not given out, of up to bzip2Step bytes
	size   int      // of them
	sound  int      // how many are of blocks whose checksums hold
	spare  [][]byte // pieces that were given out
	out    []byte   // what is left of one that is
	err    error
}

func openBzip2(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	if window <= bzip2First {
		b := &bzip2Blocks{in: bzip2Scanner{r: r}}
		return b, b.close, nil
	}
	in := &byteCounter{Reader: r}
	limit := window - bzip2Tables
	return &bzip2Reader{in: in, r: bzip2.NewReader(in), limit: int(limit)}, func(bool) {}, nil
}

func (b *bzip2Reader) Read(p []byte) (int, error) {
	for len(b.out) == 0 && len(p) > 0 {
		switch {
		case b.sound > 0:
			b.out = b.pieces[0]
			b.spare = append(b.spare, b.out)
			b.pieces, b.sound, b.size = b.pieces[1:], b.sound-1, b.size-len(b.out)
		case b.err != nil:
			return 0, b.err
		default:
			b.fill()
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// fill reads on when all that is sound was given out.
func (b *bzip2Reader) fill() {
	if b.size == b.limit {
		b.err = errBzip2Window
		return
	}
	var piece []byte
	if n := len(b.spare); n > 0 {
		piece, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		piece = make([]byte, bzip2Step)
	}
	before := b.in.n
	n, err := b.r.Read(piece[:min(bzip2Step, b.limit-b.size)])
	if b.in.n > before { // it is past the end of a block, so that was sound
		b.sound = len(b.pieces)
	}
	b.pieces = append(b.pieces, piece[:n])
	b.size += n
	b.err = err
}

// A byteCounter counts the bytes that are asked for.
type byteCounter struct {
	*bufio.Reader
	n int64
}

func (c *byteCounter) ReadByte() (byte, error) {
	c.n++
	return c.Reader.ReadByte()
}
