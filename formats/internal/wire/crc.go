package wire

import (
	"hash/crc32"
	"sync"
)

// steps are the maps of the register for 1, 2, 4, 8 … bytes of zeros: appending a zero bit is
// linear, and squaring the map for so many bits gives that for twice as many.
var steps = sync.OnceValue(func() *[63][32]uint32 {
	var steps [63][32]uint32
	steps[0][0] = crc32.IEEE
	for i := 1; i < 32; i++ {
		steps[0][i] = 1 << (i - 1)
	}
	steps[0] = square(square(square(steps[0]))) // one byte
	for i := range steps[1:] {
		steps[i+1] = square(steps[i])
	}
	return &steps
})

// CombineCRC returns the CRC-32 of two texts from that of each and the length of the second, so
// that parts of a text can be summed in any order.
func CombineCRC(first, second uint32, length int64) uint32 {
	steps := steps()
	for i := 0; length > 0; i, length = i+1, length>>1 {
		if length&1 != 0 {
			first = apply(&steps[i], first)
		}
	}
	return first ^ second
}

func apply(m *[32]uint32, v uint32) (sum uint32) {
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 != 0 {
			sum ^= m[i]
		}
	}
	return sum
}

func square(m [32]uint32) (s [32]uint32) {
	for i := range m {
		s[i] = apply(&m, m[i])
	}
	return s
}
