package demo

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// endSymbol ends every body; the symbols before it are the bytes.
const (
	endSymbol = 256
	symbols   = endSymbol + 1
)

// frequencies are those from which the tree is made (docs/formats/demo.md section 2).
var frequencies = [symbols]uint32{
	1073741824, 4545, 2657, 431, 1950, 919, 444, 482, 2244, 617, 838, 542, 715, 1814, 304, 240,
	754, 212, 647, 186, 283, 131, 146, 166, 543, 164, 167, 136, 179, 859, 363, 113,
	157, 154, 204, 108, 137, 180, 202, 176, 872, 404, 168, 134, 151, 111, 113, 109,
	120, 126, 129, 100, 41, 20, 16, 22, 18, 18, 17, 19, 16, 37, 13, 21,
	362, 166, 99, 78, 95, 88, 81, 70, 83, 284, 91, 187, 77, 68, 52, 68,
	59, 66, 61, 638, 71, 157, 50, 46, 69, 43, 11, 24, 13, 19, 10, 12,
	12, 20, 14, 9, 20, 20, 10, 10, 15, 15, 12, 12, 7, 19, 15, 14,
	13, 18, 35, 19, 17, 14, 8, 5, 15, 17, 9, 15, 14, 18, 8, 10,
	2173, 134, 157, 68, 188, 60, 170, 60, 194, 62, 175, 71, 148, 67, 167, 78,
	211, 67, 156, 69, 1674, 90, 174, 53, 147, 89, 181, 51, 174, 63, 163, 80,
	167, 94, 128, 122, 223, 153, 218, 77, 200, 110, 190, 73, 174, 69, 145, 66,
	277, 143, 141, 60, 136, 53, 180, 57, 142, 57, 158, 61, 166, 112, 152, 92,
	26, 22, 21, 28, 20, 26, 30, 21, 32, 27, 20, 17, 23, 21, 30, 22,
	22, 21, 27, 25, 17, 27, 23, 18, 39, 26, 15, 21, 12, 18, 18, 27,
	20, 18, 15, 19, 11, 17, 33, 12, 18, 15, 19, 18, 16, 26, 17, 18,
	9, 10, 25, 22, 22, 17, 20, 16, 6, 16, 15, 20, 14, 18, 24, 335,
	1,
}

// A code is the path to a symbol, the first branch in the lowest bit.
type code struct {
	bits   uint64
	length uint
}

// codes are the codes of all symbols.
var codes = makeCodes()

// A branch is a symbol or the parent of two others in the tree.
type branch struct {
	frequency uint32
	symbol    int // of a leaf
	zero, one *branch
}

// makeCodes makes the tree: the two least frequent branches get a parent, until one branch is left.
// Of equal ones the later is taken first, and a parent counts as the last of its equals.
func makeCodes() (codes [symbols]code) {
	list := make([]*branch, symbols)
	for symbol, f := range frequencies {
		list[symbol] = &branch{frequency: f, symbol: symbol}
	}
	slices.SortStableFunc(list, func(a, b *branch) int { return cmp.Compare(b.frequency, a.frequency) })
	for n := len(list); n > 1; n = len(list) {
		zero, one := list[n-1], list[n-2]
		parent := &branch{frequency: zero.frequency + one.frequency, zero: zero, one: one}
		list = list[:n-2]
		at, _ := slices.BinarySearchFunc(list, parent.frequency, func(b *branch, f uint32) int {
			if b.frequency >= f {
				return -1
			}
			return 1
		})
		list = slices.Insert(list, at, parent)
	}
	list[0].collect(&codes, code{})
	return codes
}

// collect notes the codes of the symbols below b, whose own path is at.
func (b *branch) collect(codes *[symbols]code, at code) {
	if b.zero == nil {
		codes[b.symbol] = at
		return
	}
	b.zero.collect(codes, code{at.bits, at.length + 1})
	b.one.collect(codes, code{at.bits | 1<<at.length, at.length + 1})
}

// appendHuffman appends src in the Huffman code, with its end symbol and zeros up to the byte.
func appendHuffman(dst, src []byte) []byte {
	var bits uint64
	var length uint
	for _, c := range src {
		code := &codes[c]
		bits |= code.bits << length
		length += code.length
		if length >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(bits))
			bits >>= 32
			length -= 32
		}
	}
	end := &codes[endSymbol]
	bits |= end.bits << length
	for length += end.length; ; length -= 8 {
		dst = append(dst, byte(bits))
		bits >>= 8
		if length <= 8 {
			return dst
		}
	}
}
