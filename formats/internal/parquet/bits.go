package parquet

import "encoding/binary"

// A bitRun appends one bit-packed run: values of so many bits each, the least significant bit first, eight at a time.
type bitRun struct {
	b     []byte
	width int
	start int // of the values in b
	count int // of values
	rest  uint64
	n     int // bits in rest, which do not fill a byte
}

// beginRun begins a run of n values behind b with its header: how many groups of eight it has, and a one-bit that tells
// it from repeated values.
func beginRun(b []byte, n, width int) bitRun {
	b = binary.AppendUvarint(b, uint64((n+7)/8)<<1|1)
	return bitRun{b: b, width: width, start: len(b)}
}

// beginLevels begins a run of levels, before which stands how many bytes it has.
func beginLevels(b []byte, n, width int) bitRun {
	return beginRun(binary.LittleEndian.AppendUint32(b, uint32(runSize(n, width))), n, width)
}

// numbers appends values.
func (w *bitRun) numbers(list []int32) {
	w.count += len(list)
	for _, x := range list {
		w.rest |= uint64(x) << w.n
		for w.n += w.width; w.n >= 8; w.n -= 8 {
			w.b = append(w.b, byte(w.rest))
			w.rest >>= 8
		}
	}
}

// flags appends values of one bit.
func (w *bitRun) flags(list []bool) {
	w.count += len(list)
	for len(list) >= 8 {
		f := (*[8]bool)(list)
		bits := bit(f[0]) | bit(f[1])<<1 | bit(f[2])<<2 | bit(f[3])<<3 | bit(f[4])<<4 | bit(f[5])<<5 | bit(f[6])<<6 | bit(f[7])<<7
		w.rest |= bits << w.n
		w.b = append(w.b, byte(w.rest))
		w.rest >>= 8
		list = list[8:]
	}
	for _, f := range list {
		w.rest |= bit(f) << w.n
		if w.n++; w.n == 8 {
			w.b = append(w.b, byte(w.rest))
			w.rest, w.n = 0, 0
		}
	}
}

func bit(f bool) uint64 {
	if f {
		return 1
	}
	return 0
}

// end fills the last group of eight with zeros, and returns all bytes.
func (w *bitRun) end() []byte {
	w.fill((w.count + 7) / 8 * w.width)
	return w.b
}

// fill appends what is left, and zeros, up to so many bytes of values.
func (w *bitRun) fill(size int) {
	for len(w.b) < w.start+size {
		w.b = append(w.b, byte(w.rest))
		w.rest >>= 8
	}
}
