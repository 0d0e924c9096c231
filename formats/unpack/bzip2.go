package unpack

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
	"sync"
)

const (
	// bzip2Tables is what a decoder of bzip2 takes beside the bytes of a block
	// that are held back.
	bzip2Tables = 4 << 20

	// bzip2Held is enough for most blocks, and bzip2Block is more than any block gives: it has
	// 900,000 bytes, and five of them may stand for a run of 259.
	bzip2Held  = 4 << 20
	bzip2Block = 48 << 20

	bzip2First  = bzip2Tables + bzip2Held
	bzip2Window = bzip2Tables + bzip2Block
)

var (
	errBzip2Window = errors.New("the block needs more memory")

	bzip2Rooms = sync.Pool{New: func() any { return new([bzip2Held]byte) }}
)

// A bzip2Reader gives the bytes of a block once their checksum is known to
// hold. The decoder, which makes them one by one, compares it behind the last.
type bzip2Reader struct {
	in   *bzip2Input
	r    io.Reader
	room []byte

	given, sound, made int // bytes in room: given out, of blocks whose checksums hold, and all
	err                error
}

func openBzip2(r *bufio.Reader, window int64) (io.Reader, func(bool), error) {
	in := &bzip2Input{Reader: r}
	b := &bzip2Reader{in: in, r: bzip2.NewReader(in)}
	if window > bzip2First {
		b.room = make([]byte, window-bzip2Tables)
		return b, func(bool) {}, nil
	}
	room := bzip2Rooms.Get().(*[bzip2Held]byte)
	b.room = room[:]
	return b, func(bool) { bzip2Rooms.Put(room) }, nil
}

func (b *bzip2Reader) Read(p []byte) (int, error) {
	for b.given == b.sound && len(p) > 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.fill()
	}
	n := copy(p, b.room[b.given:b.sound])
	b.given += n
	return n, nil
}

// fill reads on when all that is sound was given out. One read of the decoder does not go beyond a
// block.
func (b *bzip2Reader) fill() {
	b.made = copy(b.room, b.room[b.sound:b.made])
	b.given, b.sound = 0, 0
	if b.made == len(b.room) {
		b.err = errBzip2Window
		return
	}
	before := b.in.n
	n, err := b.r.Read(b.room[b.made:])
	if b.in.n > before { // it is past the end of a block, so that was sound
		b.sound = b.made
	}
	b.made += n
	if err != nil && b.in.ended(err) {
		err = io.EOF
	}
	b.err = err
}

// A bzip2Input counts the bytes that are asked for, and remembers the last 16.
type bzip2Input struct {
	*bufio.Reader
	n         int64
	high, low uint64
}

func (c *bzip2Input) ReadByte() (byte, error) {
	c.n++
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.high, c.low = c.high<<8|c.low>>56, c.low<<8|uint64(b)
	}
	return b, err
}

// A stream ends with this number, at any bit, and a checksum.
const (
	bzip2End     = 0x177245385090
	bzip2EndBits = 48
	bzip2SumBits = 32
)

// ended reports whether decoding stopped in what stands behind a stream and is no other one: that
// is no part of the file, as bzip2(1) has it. The decoder has read one byte of it if there are no
// more, else two to four. The head of a stream that is cut is damage.
func (c *bzip2Input) ended(err error) bool {
	least, most := uint(2), uint(4)
	if err == io.ErrUnexpectedEOF {
		if byte(c.low) == 'B' {
			return false
		}
		least, most = 1, 1
	}
	for shift := 8*least + bzip2SumBits; shift < 8*(most+1)+bzip2SumBits; shift++ {
		bits := c.low>>shift | c.high<<(64-shift) | c.high>>(shift-64) // a shift below zero is one of all bits
		if bits&(1<<bzip2EndBits-1) == bzip2End {
			return true
		}
	}
	return false
}
