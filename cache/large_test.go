package cache

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLarge keeps a value that is more than the store takes, within the account, until others need
// the memory.
func TestLarge(t *testing.T) {
	const cost = 25 << 20
	c := New(32<<20, nil)
	defer c.Close()
	made := 0
	m := countedMemo(c, &made, cost)
	get := func(k, want int) {
		t.Helper()
		v, err := m.Get(t.Context(), k)
		if err != nil || v != k || made != want {
			t.Fatalf("%d, %v, made %d times, want %d", v, err, made, want)
		}
	}
	get(1, 1)
	get(1, 1)
	if now, _ := c.Work(); now != cost {
		t.Errorf("%d bytes counted, want %d", now, cost)
	}
	if err := c.Do(t.Context(), smallWork, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	get(1, 1)
	get(2, 2) // takes the place of the other
	get(2, 2)
	get(1, 3)
	if err := c.Do(t.Context(), ordinaryWork+1, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes counted after others needed them", now)
	}
	get(1, 4)
	m.Drop(1)
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes counted for a value that was dropped", now)
	}
	get(1, 5)
	c.large.clear()
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes counted for nothing", now)
	}
}

// TestLargeBesideUsed keeps the last few large values although there are others that are used
// more often, so that who reads one piece by piece makes it once.
func TestLargeBesideUsed(t *testing.T) {
	const cost = 5 << 20
	c := New(32<<20, nil)
	defer c.Close()
	small := NewMemo(c, func(_ context.Context, k int) (int, int64, error) { return k, 512 << 10, nil })
	made := 0
	m := countedMemo(c, &made, cost)
	for read := range 20 {
		for k := range 64 {
			_, _ = small.Get(t.Context(), k)
		}
		for k := range maxLarge {
			if v, err := m.Get(t.Context(), k); err != nil || v != k {
				t.Fatalf("%d, %v", v, err)
			}
		}
		if made != maxLarge {
			t.Fatalf("%d values made at read %d, want %d", made, read, maxLarge)
		}
	}
	if now, _ := c.Work(); now != maxLarge*cost {
		t.Errorf("%d bytes counted, want %d", now, maxLarge*cost)
	}
}

// countedMemo counts how often it makes a value, which takes all that making it does.
func countedMemo(c *Cache, made *int, cost int64) *Memo[int, int] {
	return NewMemo(c, func(_ context.Context, k int) (int, int64, error) {
		*made++
		return k, cost, nil
	}).Peak(func(int) int64 { return cost })
}

// TestLargeAtOnce puts values from many requests at once: a few of them stay, and nothing else is
// counted.
func TestLargeAtOnce(t *testing.T) {
	const cost = 1 << 20
	c := New(64<<20, nil)
	defer c.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2000 {
				_ = c.Do(t.Context(), 2*cost, func(ctx context.Context) error {
					c.large.put(reservationOf(ctx), key{1, i}, i, cost)
					return nil
				})
			}
		})
	}
	all.Wait()
	if now, _ := c.Work(); now != int64(c.account.kept.Len())*cost || now > maxLarge*cost {
		t.Errorf("%d bytes counted, %d things kept", now, c.account.kept.Len())
	}
	c.large.clear()
	if now, _ := c.Work(); now != 0 || c.account.kept.Len() != 0 {
		t.Errorf("%d bytes counted for nothing, %d things kept", now, c.account.kept.Len())
	}
}

// TestLargeAtRest keeps values that take more than is left of the budget only while somebody asks
// for them.
func TestLargeAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget, small, huge = 32 << 20, 7 << 20, 25 << 20
		c := New(budget, nil)
		defer c.Close()
		made := 0
		cost := int64(huge)
		m := NewMemo(c, func(_ context.Context, k int) (int, int64, error) {
			made++
			return k, cost, nil
		}).Peak(func(int) int64 { return cost })
		get := func(k, want int) {
			t.Helper()
			if _, err := m.Get(t.Context(), k); err != nil || made != want {
				t.Fatalf("made %d times, want %d, %v", made, want, err)
			}
		}
		for range 10 {
			get(1, 1)
			time.Sleep(maxIdle - time.Second)
		}
		if n := c.Stats().Bytes; n < huge {
			t.Errorf("%d bytes are told, a value of %d is kept", n, huge)
		}
		time.Sleep(2 * maxIdle)
		synctest.Wait()
		if n := c.Stats().Bytes; n > small {
			t.Errorf("%d bytes are kept at rest", n)
		}
		if now, _ := c.Work(); now != 0 {
			t.Errorf("%d bytes are counted at rest", now)
		}
		cost = small
		get(2, 2)
		time.Sleep(2 * maxIdle)
		get(2, 2)
		get(3, 3)
		time.Sleep(2 * maxIdle)
		get(3, 3)
		if n := c.Stats().Bytes; n < small || n > budget {
			t.Errorf("%d bytes are kept at rest of values that fit", n)
		}
	})
}
