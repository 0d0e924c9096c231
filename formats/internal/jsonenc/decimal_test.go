package jsonenc

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// holdLens holds the lengths of a number, and of as much of it as fits into fewer bits, to its
// text.
func holdLens(t rapid.TB, v int64) {
	if got, want := Int64Len(v), len(strconv.FormatInt(v, 10)); got != want {
		t.Errorf("Int64Len(%d) is %d, want %d", v, got, want)
	}
	if got, want := UintLen(uint64(v)), len(strconv.FormatUint(uint64(v), 10)); got != want {
		t.Errorf("UintLen(%d) is %d, want %d", uint64(v), got, want)
	}
	n, want := int32(v), len(strconv.Itoa(int(int32(v))))
	if IntLen(n) != want || ShortLen(n) != want {
		t.Errorf("lengths of %d: %d, %d, want %d", n, IntLen(n), ShortLen(n), want)
	}
}

func TestLens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { holdLens(t, rapid.Int64().Draw(t, "v")) })
	for _, v := range []int64{1023, 1024, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		holdLens(t, v)
		holdLens(t, -v-1)
	}
	for n := range 64 {
		holdLens(t, 1<<n)
		holdLens(t, 1<<n-1)
	}
	for _, u := range Pow10 {
		for _, v := range []uint64{u - 1, u, u + 1} {
			holdLens(t, int64(v))
			holdLens(t, -int64(v))
		}
	}
}
