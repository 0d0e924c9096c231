package unpack

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/bits"
	"runtime"
)

// The blocks of a bzip2 file need nothing of each other, but begin at any bit:
//
//	"BZh" level │ block │ block │ … │ end, checksum of all │ 0 to 7 bits │ "BZh" … or nothing
//
// A block begins with a magic number of 48 bits and its checksum, the end with another magic number. As
// they can be in a block by chance, and as damage is told by the decoder that reads one block after the
// other, what does not fit in any way is errBzip2Window: the file is read again by that.

const (
	bzip2BlockMagic = 0x314159265359
	bzip2EndMagic   = 0x177245385090
	bzip2MagicBits  = 48
	bzip2SumBits    = 32

	// bzip2Out and bzip2In are for most blocks: one of 900,000 bytes that do not compress takes 1 % more.
	bzip2Out = 2 << 20
	bzip2In  = 1 << 20

	// bzip2Least is how much is decompressed at once at least, as a decoder has tables to clear.
	bzip2Least = 4 << 10

	// bzip2Worker is what a block takes while it is decompressed: 4 bytes of a chain for each byte, these bytes
	// in order and, with a fourth more, in lanes, and what goes in and comes out.
	bzip2Worker = 7*bzip2MaxBlock + bzip2Out + bzip2In

	maxBzip2Workers = 4
)

var (
	bzip2Workers = min(runtime.GOMAXPROCS(0), maxBzip2Workers)
	bzip2First   = int64(bzip2Workers) * bzip2Worker // the window of blocks at the same time
)

// bzip2Middles are the values that the byte has which is whole in a magic number at any bit: the one
// before the three last, of which the last ends with 0 to 7 bits of what follows.
var bzip2Middles = func() (is [256]bool) {
	for shift := range 8 {
		is[byte(uint64(bzip2BlockMagic)>>(24-shift))], is[byte(uint64(bzip2EndMagic)>>(24-shift))] = true, true
	}
	return is
}()

// A bzip2Blocks decompresses several blocks at a time, and as many more as a read has come to: who reads
// the first bytes waits for one.
type bzip2Blocks struct {
	in    bzip2Scanner
	ahead []chan bzip2Made // in the order of the file
	width int              // how many may be under way
	ended error            // of in

	block []byte // that is given out
	out   []byte // what is left of it
	err   error
}

// A bzip2Made is a block that was decompressed.
type bzip2Made struct {
	b   []byte
	err error
}

func (b *bzip2Blocks) Read(p []byte) (int, error) {
	for len(b.out) == 0 && len(p) > 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.next()
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// next waits for the next block, with those after it under way.
func (b *bzip2Blocks) next() {
	b.width = min(b.width+1, bzip2Workers)
	for b.ended == nil && len(b.ahead) < b.width {
		var stream []byte
		if stream, b.ended = b.in.next(); b.ended == nil {
			made := make(chan bzip2Made, 1)
			go func() { made <- unpackBzip2(stream) }()
			b.ahead = append(b.ahead, made)
		}
	}
	if len(b.ahead) == 0 {
		b.err = b.ended
		return
	}
	m := <-b.ahead[0]
	b.ahead = b.ahead[1:]
	dropBzip2Out(b.block)
	b.block, b.out, b.err = m.b, m.b, m.err
}

// close waits for what is under way.
func (b *bzip2Blocks) close(bool) {
	for _, made := range b.ahead {
		<-made
	}
	b.ahead = nil
}

// A bzip2Scanner takes a file apart into streams of one block, or several that are very small.
type bzip2Scanner struct {
	r     *bufio.Reader
	level byte   // of the stream; 0: it begins here
	sum   uint32 // of the blocks of it by now
	begun bool   // there was a stream before

	buf   []byte // from the byte on in which the block or end begins that is next
	from  int    // the bit there
	magic uint64 // what it begins with
}

// next returns the next block, or several that are very small, as a stream. The error is io.EOF at the end of a whole file.
func (s *bzip2Scanner) next() ([]byte, error) {
	for {
		if s.level == 0 {
			if err := s.begin(); err != nil {
				return nil, err
			}
		}
		if s.magic == bzip2BlockMagic {
			break
		}
		if err := s.end(); err != nil {
			return nil, err
		}
	}
	to, magic, sum := s.from, s.magic, uint32(0)
	for magic == bzip2BlockMagic && to-s.from < 8*bzip2Least {
		block, err := to, error(nil)
		if to, magic, err = s.find(); err != nil {
			return nil, err
		}
		one := s.sumAt(block)
		sum, s.sum = bits.RotateLeft32(sum, 1)^one, bits.RotateLeft32(s.sum, 1)^one
	}
	stream := s.stream(to, sum)
	s.buf = append([]byte(nil), s.buf[to/8:]...)
	s.from, s.magic = to%8, magic
	return stream, nil
}

// begin reads the head of a stream, up to its first magic number.
func (s *bzip2Scanner) begin() error {
	head, err := s.r.Peek(4)
	switch {
	case err == io.EOF && len(head) == 0 && s.begun:
		return io.EOF
	case err != nil:
		return unfit(err)
	case string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9':
		return errBzip2Window
	}
	s.level, s.sum, s.begun = head[3], 0, true
	s.buf, s.from = nil, 0
	if _, err := s.r.Discard(len(head)); err != nil {
		return err
	}
	at, magic, err := s.find()
	if err == nil && at != 0 {
		err = errBzip2Window
	}
	s.magic = magic
	return err
}

// end reads the end of a stream.
func (s *bzip2Scanner) end() error {
	var rest [bzip2SumBits / 8]byte
	if _, err := io.ReadFull(s.r, rest[:]); err != nil {
		return unfit(err)
	}
	s.buf = append(s.buf, rest[:]...)
	if s.sumAt(s.from) != s.sum {
		return errBzip2Window
	}
	s.level = 0
	return nil
}

// unfit returns the error of reading: that the file ends too early is told by who reads it in order.
func unfit(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errBzip2Window
	}
	return err
}

// find reads up to the next magic number, and returns at which bit of buf it begins.
func (s *bzip2Scanner) find() (at int, magic uint64, err error) {
	var last uint64 // eight bytes; those of the magic number before are left out
	for len(s.buf) <= bzip2In {
		if _, err := s.r.Peek(1); err != nil {
			return 0, 0, unfit(err)
		}
		part, _ := s.r.Peek(s.r.Buffered())
		for i, c := range part {
			last = last<<8 | uint64(c)
			if !bzip2Middles[byte(last>>24)] {
				continue
			}
			for shift := range 8 {
				m := last >> shift & (1<<bzip2MagicBits - 1)
				at := 8*(len(s.buf)+i+1) - shift - bzip2MagicBits
				if (m == bzip2BlockMagic || m == bzip2EndMagic) && at >= 0 {
					s.buf = append(s.buf, part[:i+1]...)
					_, err := s.r.Discard(i + 1)
					return at, m, err
				}
			}
		}
		s.buf = append(s.buf, part...)
		if _, err := s.r.Discard(len(part)); err != nil {
			return 0, 0, err
		}
	}
	return 0, 0, errBzip2Window
}

// sumAt returns the checksum that follows the magic number at a bit of buf.
func (s *bzip2Scanner) sumAt(at int) uint32 {
	var b [8]byte
	copy(b[:], s.buf[min((at+bzip2MagicBits)/8, len(s.buf)):])
	return uint32(binary.BigEndian.Uint64(b[:]) << (at % 8) >> 32)
}

// stream returns what is in buf, up to that bit, as a stream of that checksum.
func (s *bzip2Scanner) stream(to int, sum uint32) []byte {
	out := append(make([]byte, 0, to/8+20), 'B', 'Z', 'h', s.level)
	rest, n := uint64(0), 0 // bits that are not written yet
	put := func(v uint64, size int) {
		rest, n = rest<<size|v, n+size
		for ; n >= 8; n -= 8 {
			out = append(out, byte(rest>>(n-8)))
		}
	}
	put(uint64(s.buf[0]&(0xff>>s.from)), 8-s.from)
	for _, c := range s.buf[1 : to/8] {
		put(uint64(c), 8)
	}
	put(uint64(s.buf[to/8]>>(8-to%8)), to%8)
	put(bzip2EndMagic, bzip2MagicBits)
	put(uint64(sum), bzip2SumBits)
	put(0, (8-n)%8)
	return out
}
