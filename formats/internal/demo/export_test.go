package demo

import "iter"

var (
	AppendHuffman = appendHuffman
	Angle         = angle
)

// Codes yields the code of each symbol as its branches from the root.
func Codes() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for symbol, c := range codes {
			path := make([]byte, c.length)
			for i := range path {
				path[i] = '0' + byte(c.bits>>i&1)
			}
			if !yield(symbol, string(path)) {
				return
			}
		}
	}
}
