package wire

import "hash/crc32"

// CombineCRC returns the CRC-32 of two texts from that of each and the length of the second, so
// that parts of a text can be summed in any order.
func CombineCRC(first, second uint32, length int64) uint32 {
	// Appending a zero bit is a linear map of the register. Squaring the map for one bit gives that
	// for 2, 4, 8 … bits.
	var step [32]uint32
	step[0] = crc32.IEEE
	for i := 1; i < 32; i++ {
		step[i] = 1 << (i - 1)
	}
	step = square(square(square(step))) // one byte
	for ; length > 0; length >>= 1 {
		if length&1 != 0 {
			first = apply(&step, first)
		}
		step = square(step)
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
