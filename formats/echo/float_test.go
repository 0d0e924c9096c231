package echo

import (
	"math"
	"math/rand/v2"
	"testing"

	"recfs/nodes/nodestest"
)

// TestFiniteLikeStrconv holds the fast way to write numbers to strconv, for random fractions and
// those with the most ties, of every size.
func TestFiniteLikeStrconv(t *testing.T) {
	nodestest.Long(t)
	r := rand.New(rand.NewPCG(1, 2))
	for exponent := range uint32(255) {
		for i := range uint32(2000) {
			fraction := r.Uint32() >> 9
			if i%2 == 0 {
				fraction &^= 1<<r.UintN(23) - 1 // few bits: decimals that end, and ties
			}
			x := math.Float32frombits(exponent<<23 | fraction | i&1<<31)
			if got, want := string(appendFinite(nil, x)), string(appendAny(nil, x)); got != want {
				t.Fatalf("%x: %s, want %s", math.Float32bits(x), got, want)
			}
		}
	}
}
