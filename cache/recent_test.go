package cache_test

import (
	"testing"

	"recfs/cache"
)

func TestRecent(t *testing.T) {
	r := cache.NewRecent[int, string](10)
	if _, ok := r.Swap(0, "a"); ok {
		t.Error("a value before the first")
	}
	if v, ok := r.Swap(0, "b"); !ok || v != "a" {
		t.Errorf("%q, %v before the second", v, ok)
	}
	for i := range 1000 {
		r.Swap(i, "c")
	}
	known := 0
	for i := range 1000 {
		v, ok := r.Get(i)
		if ok {
			known++
		}
		if i >= 990 && (!ok || v != "c") {
			t.Errorf("%d, one of the last, is %q, %v", i, v, ok)
		}
	}
	if known > 20 {
		t.Errorf("%d values are remembered", known)
	}
}
