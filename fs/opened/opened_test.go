package opened

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recfs/nodes"
)

// Who hangs up closes nothing; what failed is closed, also where it panicked.
func TestRead(t *testing.T) {
	const size = 10
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx   context.Context
		once  bool
		off   int64
		fails any
		kept  int
	}{
		"half":           {t.Context(), true, size / 2, nil, 1},
		"all":            {t.Context(), true, 0, nil, 0},
		"all, kept":      {t.Context(), false, 0, nil, 1},
		"failed":         {t.Context(), true, 0, errors.New("bad block"), 0},
		"the reader has": {gone, true, 0, context.Canceled, 1},
		"panic":          {t.Context(), true, 0, "panic", 0},
	} {
		t.Run(name, func(t *testing.T) {
			files := New[string](4, time.Hour, test.once)
			defer files.Close()
			func() {
				defer func() { _ = recover() }()
				_ = files.Read(test.ctx, "f", nodes.Bytes(make([]byte, size)).Open, test.off, func(c nodes.Content) (int, error) {
					switch failed := test.fails.(type) {
					case nil:
						return size - int(test.off), nil
					case error:
						return 0, failed
					}
					panic(test.fails)
				})
			}()
			if n := files.Len(); n != test.kept {
				t.Errorf("%d are open, want %d", n, test.kept)
			}
		})
	}
}

// The sum of reads says the same as a count for every byte.
func TestCover(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const size = 40
		var sum uint64
		var counts [size]int
		for range rapid.IntRange(0, 12).Draw(rt, "reads") {
			start := rapid.IntRange(0, size).Draw(rt, "start")
			end := rapid.IntRange(start, size).Draw(rt, "end")
			sum += cover(int64(start), int64(end))
			for i := start; i < end; i++ {
				counts[i]++
			}
		}
		if want := counts == [size]int(ones(size)); (sum == cover(0, size)) != want {
			rt.Fatalf("the sum is %x of %v", sum, counts)
		}
	})
}

func ones(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 1
	}
	return list
}
