package wire

import "encoding/binary"

// adlerMod is the greatest prime below 65536 (RFC 1950, section 9).
const adlerMod = 65521

// adlerStep is how many bytes are summed up at a time: 12 words, so that the running sums of their
// lanes, which have 16 bits, stay below 2*255*(1+2+…+12).
const adlerStep = 12 * 8

// adlerChunk is how many bytes are summed up between two divisions: far fewer than overflow 64 bits.
const adlerChunk = 1 << 20

// Adler32 returns the Adler-32 checksum of bytes whose beginning has the checksum sum and whose rest
// is p. That of nothing is 1. It sums 8 bytes at a time and takes two thirds of the time of hash/adler32,
// which was a third of the time of inflating images and deflating them again.
func Adler32(sum uint32, p []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	for len(p) >= adlerStep {
		chunk := p[:min(len(p), adlerChunk)]
		p = p[len(chunk)/adlerStep*adlerStep:]
		for len(chunk) >= adlerStep {
			a, b = adlerBlock(a, b, (*[adlerStep]byte)(chunk))
			chunk = chunk[adlerStep:]
		}
		a, b = a%adlerMod, b%adlerMod
	}
	for _, c := range p {
		a += uint64(c)
		b += a
	}
	return uint32(b%adlerMod)<<16 | uint32(a%adlerMod)
}

// adlerBlock adds a block. Of a block of n bytes c the sum b grows by n·a and by (n-i)·c[i] for each
// i: 8 times the running sum of the words from the one with the byte on, less the place of the byte
// in its word.
func adlerBlock(a, b uint64, block *[adlerStep]byte) (newA, newB uint64) {
	const lanes = 0x00ff00ff00ff00ff
	var even, odd, running uint64
	for i := 0; i < adlerStep; i += 8 {
		v := binary.LittleEndian.Uint64(block[i : i+8])
		even += v & lanes
		odd += v >> 8 & lanes
		running += even + odd
	}
	e, o := laneSums(even), laneSums(odd)
	total := e[0] + o[0]
	return a + total, b + adlerStep*a + 8*laneSums(running)[0] - 2*(e[1]+o[1]) - o[0]
}

// laneSums returns the sum of the four lanes of v, and that of each times its number.
func laneSums(v uint64) [2]uint64 {
	v0, v1, v2, v3 := v&0xffff, v>>16&0xffff, v>>32&0xffff, v>>48
	return [2]uint64{v0 + v1 + v2 + v3, v1 + 2*v2 + 3*v3}
}
