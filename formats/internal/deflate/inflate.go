// Package deflate is a decoder of deflate (RFC 1951) that is twice as fast as those that take bytes one by one. It decodes what
// is sound; what it cannot make sense of is for the decoder of klauspost to tell.
package deflate

import (
	"encoding/binary"
	"sync"
)

// An inflater is what it takes to decompress a stream. What comes out lies in memory with what it is copied from, so that it
// needs no other window, and it looks for more input once in 48 bits.
type inflater struct {
	in    []byte
	whole bool   // nothing comes behind in
	at    int    // of what stands behind bits
	bits  uint64 // the next ones, from the lowest on
	n     int    // how many; those behind the end are 0

	out   []byte
	done  int // bytes of out
	pause int // at so many of them, or some more, decompressing stops

	last   bool // the block that was begun is the last one
	stored int  // bytes of that block which are still to be copied

	literals, distances prefixCode
	lengths             [numLiterals + numDistances]uint8
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// Whole decompresses in to out, and reports whether that gave as many bytes as out has, and ended there.
func Whole(out, in []byte) bool { return whole(out, in) >= 0 }

// whole is Whole, and returns how many bytes of in it took; -1: it did not end there.
func whole(out, in []byte) int {
	f := inflaters.Get().(*inflater)
	f.in, f.whole, f.at, f.bits, f.n = in, true, 0, 0, 0
	f.out, f.done, f.pause, f.stored = out, 0, len(out)+1, 0
	defer func() {
		f.in, f.out = nil, nil
		inflaters.Put(f)
	}()
	for {
		coded, ok := f.block()
		if ok && coded {
			ok = f.compressed() == atEnd
		} else if ok {
			f.copyStored()
		}
		if !ok || f.stored > 0 || f.behind() || f.last && f.done < len(out) {
			return -1
		}
		if f.last {
			return f.at - f.n/8
		}
	}
}

// behind reports whether more was taken than there is.
func (f *inflater) behind() bool { return f.at-f.n/8 > len(f.in) }

// fill makes sure of 56 bits.
func (f *inflater) fill() {
	if f.at+8 <= len(f.in) {
		f.bits |= binary.LittleEndian.Uint64(f.in[f.at:]) << (f.n & 63)
		f.at += (63 - f.n) >> 3
		f.n |= 56
		return
	}
	for ; f.n < 56; f.n += 8 {
		if f.at < len(f.in) {
			f.bits |= uint64(f.in[f.at]) << (f.n & 63)
		}
		f.at++
	}
}

// take returns the next n bits, up to 16.
func (f *inflater) take(n int) int {
	if f.n < n {
		f.fill()
	}
	v := int(f.bits & (1<<n - 1))
	f.bits >>= n
	f.n -= n
	return v
}

// block begins a block, and reports whether it can, and whether compressed goes on with it: if not, copyStored does.
func (f *inflater) block() (coded, ok bool) {
	f.last = f.take(1) == 1
	switch f.take(2) {
	case 0:
		return false, f.beginStored()
	case 1:
		return true, f.fixed()
	case 2:
		return true, f.dynamic()
	}
	return false, false
}

// beginStored begins a block that is not compressed.
func (f *inflater) beginStored() bool {
	f.take(f.n % 8)
	size, not := f.take(16), f.take(16)
	f.at, f.bits, f.n = f.at-f.n/8, 0, 0
	f.stored = size
	return size^not == 1<<16-1 && f.at <= len(f.in)
}

// copyStored copies what there is of a block that is not compressed.
func (f *inflater) copyStored() {
	n := min(f.stored, len(f.in)-f.at, len(f.out)-f.done)
	copy(f.out[f.done:], f.in[f.at:f.at+n])
	f.at, f.done, f.stored = f.at+n, f.done+n, f.stored-n
}

// fixed sets the codes of a block that has none (RFC 1951, 3.2.6).
func (f *inflater) fixed() bool {
	for i := range f.lengths {
		switch {
		case i >= numLiterals:
			f.lengths[i] = 5
		case i < 144, i >= 280:
			f.lengths[i] = 8
		case i < endSymbol:
			f.lengths[i] = 9
		default:
			f.lengths[i] = 7
		}
	}
	return f.codes(numLiterals, len(f.lengths))
}

// codes sets the codes of which the lengths are known: of so many symbols for literals, up to all of them.
func (f *inflater) codes(literals, all int) bool {
	return f.literals.set(f.lengths[:literals], symbols.literals[:]) &&
		f.distances.set(f.lengths[literals:all], symbols.distances[:])
}

// lengthOrder is in which order lengths of the codes for lengths stand (RFC 1951, 3.2.7).
var lengthOrder = [numLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the codes of a block.
func (f *inflater) dynamic() bool {
	literals, distances, n := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if literals > 286 || distances > 30 {
		return false
	}
	var lengths [numLengths]uint8
	for _, i := range lengthOrder[:n] {
		lengths[i] = uint8(f.take(3))
	}
	all := f.lengths[:literals+distances]
	return f.literals.set(lengths[:], symbols.lengths[:]) && f.readLengths(all) &&
		all[endSymbol] > 0 && f.codes(literals, len(all))
}

// readLengths reads the lengths of codes, which are coded as literals are.
func (f *inflater) readLengths(all []uint8) bool {
	for i := 0; i < len(all); {
		f.fill()
		e := f.literals.fast[f.bits&(1<<fastCode-1)]
		f.take(int(e & 15))
		v, repeat := uint8(e>>16), 1
		switch {
		case e&15 == 0:
			return false
		case v == 16 && i == 0:
			return false
		case v == 16:
			v, repeat = all[i-1], 3+f.take(2)
		case v == 17:
			v, repeat = 0, 3+f.take(3)
		case v == 18:
			v, repeat = 0, 11+f.take(7)
		}
		if repeat > len(all)-i {
			return false
		}
		for range repeat {
			all[i] = v
			i++
		}
	}
	return true
}

// Where compressed stops.
type stop uint8

const (
	atEnd    stop = iota // of the block
	atBad                // at what makes no sense, or does not fit
	atPause              // with enough
	atLittle             // with too little input
)

// compressed decompresses what the codes of a block are followed by.
func (f *inflater) compressed() (why stop) {
	in, at, next, n := f.in, f.at, f.bits, uint(f.n) // fields would go through memory each time
	out, done := f.out, f.done
	for {
		if done >= f.pause {
			why = atPause
			break
		}
		if n < 48 { // the most that a length and a distance take
			if at+8 <= len(in) {
				next |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
				at += int(63-n) >> 3
				n |= 56
			} else if !f.whole {
				why = atLittle
				break
			} else {
				f.at, f.bits, f.n = at, next, int(n)
				f.fill()
				at, next, n = f.at, f.bits, uint(f.n)
			}
		}
		e := f.literals.fast[next&(1<<fastCode-1)]
		if e&15 == 0 {
			e = f.literals.long(next)
		}
		next >>= e & 15
		n -= uint(e & 15)
		if e&isLiteral != 0 {
			if done == len(out) {
				why = atBad
				break
			}
			out[done] = byte(e >> 16)
			done++
			continue
		}
		if e&(isEnd|isBad) != 0 {
			if e&isBad != 0 {
				why = atBad
			}
			break
		}
		extra := e >> 4 & 15
		size := int(e>>16) + int(next&(1<<extra-1))
		next >>= extra
		n -= uint(extra)
		e = f.distances.fast[next&(1<<fastCode-1)]
		if e&15 == 0 {
			e = f.distances.long(next)
		}
		next >>= e & 15
		n -= uint(e & 15)
		extra = e >> 4 & 15
		back := int(e>>16) + int(next&(1<<extra-1))
		next >>= extra
		n -= uint(extra)
		if e&isBad != 0 || back > done || size > len(out)-done {
			why = atBad
			break
		}
		copyBack(out, done, back, size)
		done += size
	}
	f.at, f.bits, f.n, f.done = at, next, int(n), done
	return why
}

// copyBack copies size bytes behind the first done ones of b, from back before there, byte by byte as it were: what is
// copied may be copied again.
func copyBack(b []byte, done, back, size int) {
	if back >= 8 && size+8 <= len(b)-done {
		to, from := b[done:], b[done-back:]
		for i := 0; i < size; i += 8 { // up to 7 more, which are overwritten
			binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
		}
		return
	}
	for i := done; i < done+size; i++ {
		b[i] = b[i-back]
	}
}
