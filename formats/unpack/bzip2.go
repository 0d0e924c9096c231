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

	// bzip2Window is for every block. What is held moves as it grows, so it is there twice.
	bzip2Window = bzip2Tables + 2*bzip2Block

	bzip2Step = 64 << 10 // how much is decompressed at once
)

var errBzip2Window = errors.New("the block needs more memory")

// A bzip2Reader gives the bytes of a block once their checksum is known to
// hold. The decoder, which makes them one by one, compares it behind the last.
type bzip2Reader struct {
	in    *byteCounter
	r     io.Reader
	limit int // of held

	held  []byte
	next  int // held before it is given out
	sound int // held before it is of blocks whose checksums hold
	err   error
}

func openBzip2(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	if window <= bzip2First {
		b := &bzip2Blocks{in: bzip2Scanner{r: r}}
		return b, b.close, nil
	}
	in := &byteCounter{Reader: r}
	limit := (window - bzip2Tables) / 2
	return &bzip2Reader{in: in, r: bzip2.NewReader(in), limit: int(limit)}, func(bool) {}, nil
}

func (b *bzip2Reader) Read(p []byte) (int, error) {
	for b.next == b.sound && len(p) > 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.held[b.next:b.sound])
	b.next += n
	return n, nil
}

// fill reads on when all that is sound was given out.
func (b *bzip2Reader) fill() {
	b.held = append(b.held[:0], b.held[b.next:]...)
	b.next, b.sound = 0, 0
	if len(b.held) == b.limit {
		b.err = errBzip2Window
		return
	}
	if len(b.held) == cap(b.held) {
		grown := make([]byte, len(b.held), min(max(2*len(b.held), bzip2Step), b.limit))
		copy(grown, b.held)
		b.held = grown
	}
	before := b.in.n
	n, err := b.r.Read(b.held[len(b.held):min(len(b.held)+bzip2Step, cap(b.held))])
	if b.in.n > before { // it is past the end of a block, so that was sound
		b.sound = len(b.held)
	}
	b.held = b.held[:len(b.held)+n]
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
