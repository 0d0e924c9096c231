package wire

import (
	"bytes"
	"encoding/binary"
)

// adlerMod is the greatest prime below 65536 (RFC 1950, section 9).
const adlerMod = 65521

// adlerStep is how many bytes are summed up at a time: 15 words, so that the running sums of their
// lanes, which have 16 bits, stay below 2*255*(1+2+…+15) = 61200.
const adlerStep = 15 * 8

// adlerLook is how many bytes are looked at together, and adlerPixels the pixels of 4 bytes in
// them: most of a picture is of one colour, of which the sums follow from the first pixel.
const (
	adlerLook   = 2 * adlerStep
	adlerPixels = adlerLook / 4
)

// adlerChunk is how many bytes are summed up between two divisions: far fewer than overflow 64
// bits.
const adlerChunk = 1 << 20

// Adler32 returns the Adler-32 checksum of bytes whose beginning has the checksum sum and whose
// rest is p. That of nothing is 1. It sums 8 bytes at a time and takes less than half the time of
// hash/adler32, which is a third of the time of inflating images and deflating them again.
func Adler32(sum uint32, p []byte) uint32 {
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	for len(p) >= adlerStep {
		chunk := p[:min(len(p), adlerChunk)]
		p = p[len(chunk)/adlerStep*adlerStep:]
		for ; len(chunk) >= adlerLook; chunk = chunk[adlerLook:] {
			if bytes.Equal(chunk[4:adlerLook], chunk[:adlerLook-4]) {
				a, b = adlerColour(a, b, chunk[:4])
			} else {
				a, b = adlerBlocks(a, b, chunk[:adlerLook])
			}
		}
		a, b = adlerBlocks(a, b, chunk)
		a, b = a%adlerMod, b%adlerMod
	}
	for _, c := range p {
		a += uint64(c)
		b += a
	}
	return uint32(b%adlerMod)<<16 | uint32(a%adlerMod)
}

const (
	evenBytes = 0x00ff00ff00ff00ff
	evenLanes = 0x0000ffff0000ffff
	laneSum   = 0x0001000100010001 // multiplied by it, the highest lane is the sum of all
	placeSum  = 0x0000000100020003 // that is the sum of all, times 0 to 3
)

// adlerBlocks adds the whole blocks of p. Of a block of n bytes c the sum b grows by n·a and by
// (n-i)·c[i] for each i: 8 times the running sum of the words from the one with the byte on, less
// the place of the byte in its word.
func adlerBlocks(a, b uint64, p []byte) (newA, newB uint64) {
	for ; len(p) >= adlerStep; p = p[adlerStep:] {
		var even, odd, running uint64
		block := p[:adlerStep]
		for len(block) >= 24 { // three at a time, as a turn of the loop costs as much as a word
			even, odd, running = adlerWord(even, odd, running, binary.LittleEndian.Uint64(block))
			even, odd, running = adlerWord(even, odd, running, binary.LittleEndian.Uint64(block[8:]))
			even, odd, running = adlerWord(even, odd, running, binary.LittleEndian.Uint64(block[16:]))
			block = block[24:]
		}
		ones := odd * laneSum >> 48
		running = running&evenLanes + running>>16&evenLanes
		b += adlerStep*a + 8*(running*(1<<32+1)>>32) - 2*((even+odd)*placeSum>>48) - ones
		a += even*laneSum>>48 + ones
	}
	return a, b
}

// adlerColour adds adlerPixels pixels of one colour. A byte adds to b as often as there are bytes
// from it to the end: the first bytes of the pixels do so 4, 8, 12 and so on times, the second ones
// once less each.
func adlerColour(a, b uint64, pixel []byte) (newA, newB uint64) {
	c0, c1, c2, c3 := uint64(pixel[0]), uint64(pixel[1]), uint64(pixel[2]), uint64(pixel[3])
	sum := adlerPixels * (c0 + c1 + c2 + c3)
	return a + sum, b + adlerLook*a + 2*(adlerPixels+1)*sum - adlerPixels*(c1+2*c2+3*c3)
}

// adlerWord adds the bytes of a word to those of the words before it, by their lanes, and to the
// running sum of these.
func adlerWord(even, odd, running, v uint64) (newEven, newOdd, newRunning uint64) {
	even += v & evenBytes
	odd += v >> 8 & evenBytes
	return even, odd, running + even + odd
}
