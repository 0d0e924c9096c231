package cache

import (
	"context"
	"sync"
	"testing"
)

// TestLarge keeps a durable value that is more than the store takes, within the account, until others need the memory.
func TestLarge(t *testing.T) {
	const budget, cost = 32 << 20, 25 << 20
	c := New(budget, nil)
	defer c.Close()
	made := 0
	load := func(ctx context.Context, k int) (int, int64, error) {
		held, err := Charge(ctx, cost)
		if err != nil {
			return 0, 0, err
		}
		held.Free()
		made++
		return k, cost, nil
	}
	m := NewMemo(c, load).Durable(func(int) string { return "" }, nil, nil)
	ordinary := NewMemo(c, load)
	get := func(m *Memo[int, int], k, want int) {
		t.Helper()
		v, err := m.Get(t.Context(), k)
		if err != nil || v != k || made != want {
			t.Fatalf("%d, %v, made %d times, want %d", v, err, made, want)
		}
	}
	get(m, 1, 1)
	get(m, 1, 1)
	if now, _ := c.Work(); now != cost {
		t.Errorf("%d bytes counted, want %d", now, cost)
	}
	if err := c.Do(t.Context(), smallWork, func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	get(m, 1, 1)
	get(m, 2, 2) // takes the place of the other
	get(m, 2, 2)
	get(m, 1, 3)
	get(ordinary, 1, 4)
	get(ordinary, 1, 5)
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes counted after others needed them", now)
	}
	get(m, 1, 6)
	c.large.drop(nil)
	if now, _ := c.Work(); now != 0 {
		t.Errorf("%d bytes counted for nothing", now)
	}
}

// TestLargeAtOnce puts values from many requests at once: one of them stays, and nothing else is counted.
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
	c.large.drop(nil)
	if now, _ := c.Work(); now != 0 || c.account.kept.Len() != 0 {
		t.Errorf("%d bytes counted for nothing, %d things kept", now, c.account.kept.Len())
	}
}
