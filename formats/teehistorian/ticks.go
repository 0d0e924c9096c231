package teehistorian

import "encoding/binary"

// appendTicks appends ascending ticks, of which there is at least one: the lengths of runs of ticks
// with and without records, in turns, as uvarints. The first tick is known to the reader.
func appendTicks(b []byte, ticks []int32) []byte {
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
	}
	return binary.AppendUvarint(b, run)
}

// decodeTicks returns the n ticks, beginning with first, that appendTicks stored.
func decodeTicks(b []byte, first int32, n int) ([]int32, bool) {
	if len(b) == 0 || n > chunkSize {
		return nil, false
	}
	ticks := make([]int32, 0, n)
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
