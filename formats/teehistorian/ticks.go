package teehistorian

import (
	"encoding/binary"
	"math/bits"
)

// How the ticks of a chunk are stored: whichever is shorter.
const (
	tickRuns   = 0 // lengths of runs of ticks with and without records, in turns, as uvarints
	tickBitmap = 1 // one bit a tick from the first on
)

// appendTicks appends ascending ticks, of which there is at least one. The first is known to the
// reader.
func appendTicks(b []byte, ticks []int32) []byte {
	start := len(b)
	b = append(b, tickRuns)
	bitmap := (int(ticks[len(ticks)-1]) - int(ticks[0]) + 8) / 8
	run := uint64(1)
	for i := 1; i < len(ticks); i++ {
		gap := int64(ticks[i]) - int64(ticks[i-1]) - 1
		if gap == 0 {
			run++
			continue
		}
		b = binary.AppendUvarint(b, run)
		b = binary.AppendUvarint(b, uint64(gap))
		run = 1
		if len(b)-start > bitmap {
			return appendBitmap(b[:start], ticks, bitmap)
		}
	}
	return binary.AppendUvarint(b, run)
}

func appendBitmap(b []byte, ticks []int32, size int) []byte {
	b = append(b, tickBitmap)
	start := len(b)
	b = append(b, make([]byte, size)...)
	for _, t := range ticks {
		i := int(t) - int(ticks[0])
		b[start+i/8] |= 1 << (i % 8)
	}
	return b
}

// decodeTicks returns the n ticks, beginning with first, that appendTicks stored.
func decodeTicks(b []byte, first int32, n int) ([]int32, bool) {
	if len(b) == 0 || n > chunkSize {
		return nil, false
	}
	ticks := make([]int32, 0, n)
	kind, b := b[0], b[1:]
	if kind == tickBitmap {
		for i, c := range b {
			for ; c != 0; c &= c - 1 {
				ticks = append(ticks, first+int32(8*i+bits.TrailingZeros8(c)))
			}
		}
		return ticks, len(ticks) == n
	}
	for t := int64(first); len(ticks) < n; {
		run, k := binary.Uvarint(b)
		if k <= 0 || run == 0 || run > uint64(n-len(ticks)) {
			return nil, false
		}
		b = b[k:]
		for range run {
			ticks = append(ticks, int32(t))
			t++
		}
		if len(ticks) == n {
			break
		}
		gap, k := binary.Uvarint(b)
		if k <= 0 || gap > 1<<31 {
			return nil, false
		}
		b = b[k:]
		t += int64(gap)
	}
	return ticks, true
}
