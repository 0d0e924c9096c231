package echo

import (
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkFinite writes numbers as frames have them: positions, velocities and rotations, most of
// all digits.
func BenchmarkFinite(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := make([]float32, 1<<10)
	for i := range numbers {
		numbers[i] = float32(r.NormFloat64() * math.Pow(10, float64(i%4)-2))
	}
	for name, write := range map[string]func([]byte, float32) []byte{"exact": appendFinite, "strconv": appendAny} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 32)
			for i := 0; b.Loop(); i++ {
				buf = write(buf[:0], numbers[i%len(numbers)])
			}
		})
	}
}
