package parquet

import "testing"

// Room for no number is none: the race detector lets no pointer go to a number that ends behind
// what was allocated.
func TestNumbersIn(t *testing.T) {
	for size, want := range map[int]int{0: 0, 7: 0, 8: 1, 23: 2} {
		list := numbersIn[int64](make([]byte, size))
		if len(list) != 0 || cap(list) != want || (list == nil) != (want == 0) {
			t.Errorf("%d bytes: room for %d numbers, %t", size, cap(list), list == nil)
		}
	}
}
