package jsonenc

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"recfs/nodes/nodestest"
)

// TestFractions holds numbers that are written without strconv, and those beside them, to what
// strconv writes.
func TestFractions(t *testing.T) {
	var known Floats
	hold := func(x float64) {
		for _, x := range []float64{x, -x, math.Nextafter(x, 0), math.Nextafter(x, 2048)} {
			want := strconv.FormatFloat(x, 'f', -1, 64)
			if got := string(AppendFloat64(nil, x)); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
			for range 2 { // the second time it is known
				if got := string(known.Append(nil, x)); got != want {
					t.Fatalf("%s remembered, want %s", got, want)
				}
			}
		}
	}
	for n := 0; n < 1<<17; n += nodestest.Times(3, 111) { // from 0 to 16
		hold(float64(n) / fractionUnit)
		hold(1024 - float64(n)/fractionUnit)
	}
	hold(math.MaxFloat64)
	r := rand.New(rand.NewPCG(1, 2))
	for range nodestest.Times(1<<16, 1<<12) {
		hold(math.Ldexp(float64(r.IntN(1<<24)), -r.IntN(16)))
	}
}

// BenchmarkAppendFloat64 writes numbers with 12 binary places, and as many that strconv has to
// search for.
func BenchmarkAppendFloat64(b *testing.B) {
	for name, by := range map[string]float64{"fraction": 1. / 4096, "other": 1. / 16383} {
		b.Run(name, func(b *testing.B) {
			var text []byte
			n := 0
			for b.Loop() {
				n = (n + 977) & 0xfffff
				text = AppendFloat64(text[:0], float64(n)*by)
			}
		})
	}
}
