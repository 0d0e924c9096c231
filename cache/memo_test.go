package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recfs/nodes/nodestest"
)

func TestMain(m *testing.M) { nodestest.Main(m) }

func newCache(t *testing.T, budget int64, disk Store) *Cache {
	t.Helper()
	c := New(budget, disk)
	t.Cleanup(c.Close)
	return c
}

func TestMemoRemembers(t *testing.T) {
	loads := 0
	m := NewMemo(newCache(t, 1<<20, nil), func(_ context.Context, k int) (string, int64, error) {
		loads++
		return fmt.Sprint(k), 8, nil
	})
	if _, ok := m.Peek(1); ok {
		t.Error("Peek found a value before it was made")
	}
	for range 3 {
		if v, err := m.Get(t.Context(), 1); v != "1" || err != nil {
			t.Fatalf("Get = %q, %v", v, err)
		}
	}
	if loads != 1 {
		t.Errorf("%d loads, want 1", loads)
	}
	if v, ok := m.Peek(1); v != "1" || !ok {
		t.Errorf("Peek = %q, %v", v, ok)
	}
	m.Drop(1)
	if v, ok := m.Peek(1); ok {
		t.Errorf("Peek found %q, which was dropped", v)
	}
}

func TestMemosDoNotMix(t *testing.T) {
	c := newCache(t, 1<<20, nil)
	double := NewMemo(c, func(_ context.Context, k int) (int, int64, error) { return 2 * k, 8, nil })
	square := NewMemo(c, func(_ context.Context, k int) (int, int64, error) { return k * k, 8, nil })
	a, _ := double.Get(t.Context(), 3)
	b, _ := square.Get(t.Context(), 3)
	if a != 6 || b != 9 {
		t.Errorf("got %d and %d, want 6 and 9", a, b)
	}
}

func TestMemoBudget(t *testing.T) {
	const budget = 1 << 16
	c := newCache(t, budget, nil)
	m := NewMemo(c, func(_ context.Context, k int) ([]byte, int64, error) {
		return make([]byte, 1000), 1000, nil
	})
	for k := range 1000 {
		if _, err := m.Get(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Stats().Bytes; got > budget {
		t.Errorf("%d bytes held, the budget is %d", got, budget)
	}
	big := NewMemo(c, func(context.Context, int) ([]byte, int64, error) { return nil, budget + 1, nil })
	if _, err := big.Get(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, ok := big.Peek(0); ok {
		t.Error("a value above the budget was kept")
	}
}

// TestMemoKeepsNew holds that a new value is there for who comes again, though others were used
// more often and leave no room.
func TestMemoKeepsNew(t *testing.T) {
	const size = 4 << 10
	c := newCache(t, 256*size, nil)
	loads := map[int]int{}
	m := NewMemo(c, func(_ context.Context, k int) (int, int64, error) {
		loads[k]++
		return k, size, nil
	})
	for k := range 1000 {
		for back := range min(k+1, 16) { // as many are read side by side
			for range 4 {
				if v, err := m.Get(t.Context(), k-back); v != k-back || err != nil {
					t.Fatal(v, err)
				}
			}
		}
	}
	for k, n := range loads {
		if n != 1 {
			t.Errorf("value %d was made %d times", k, n)
		}
	}
	if got := c.Stats().Bytes; got > valuesOf(c.Budget()) {
		t.Errorf("%d bytes held, values may have %d", got, valuesOf(c.Budget()))
	}
}

func TestMemoErrorsAndPanicsAreNotKept(t *testing.T) {
	loads := 0
	m := NewMemo(newCache(t, 1<<20, nil), func(_ context.Context, k string) (int, int64, error) {
		loads++
		switch loads {
		case 1:
			return 0, 0, errors.New("first")
		case 2:
			panic("second")
		}
		return 7, 8, nil
	})
	if _, err := m.Get(t.Context(), "k"); err == nil || err.Error() != "first" {
		t.Errorf("first Get: %v", err)
	}
	if _, err := m.Get(t.Context(), "k"); err == nil || !strings.HasPrefix(err.Error(), "panic: second") {
		t.Errorf("second Get: %v", err)
	}
	if v, err := m.Get(t.Context(), "k"); v != 7 || err != nil {
		t.Errorf("third Get = %d, %v", v, err)
	}
}

func TestMemoSharesOneLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1<<20, nil)
		defer c.Close()
		var loads atomic.Int32
		m := NewMemo(c, func(ctx context.Context, k int) (int, int64, error) {
			loads.Add(1)
			time.Sleep(time.Second)
			return k, 8, ctx.Err()
		})
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				ctx := t.Context()
				if i%2 == 0 { // every other caller gives up before the value is there
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
				}
				v, err := m.Get(ctx, 5)
				if i%2 == 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a caller that gave up got %d, %v", v, err)
				}
				if i%2 == 1 && (v != 5 || err != nil) {
					t.Errorf("a caller that waited got %d, %v", v, err)
				}
			})
		}
		wg.Wait()
		if n := loads.Load(); n != 1 {
			t.Errorf("%d loads, want 1", n)
		}
	})
}

func TestMemoCancelsAbandonedLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(1<<20, nil)
		defer c.Close()
		var cancelled, loads atomic.Int32
		m := NewMemo(c, func(ctx context.Context, k int) (int, int64, error) {
			if loads.Add(1) > 1 {
				return 9, 8, nil
			}
			<-ctx.Done()
			cancelled.Add(1)
			return 0, 0, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Get(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Get: %v", err)
		}
		synctest.Wait()
		if cancelled.Load() != 1 {
			t.Error("the load that nobody waits for goes on")
		}
		if v, err := m.Get(t.Context(), 1); v != 9 || err != nil {
			t.Errorf("the next Get = %d, %v", v, err)
		}
	})
}

// mapStore is a Store in memory.
type mapStore struct {
	m     map[string][]byte
	saves int
}

func (s *mapStore) Load(_ context.Context, name string) ([]byte, bool) {
	b, ok := s.m[name]
	return b, ok
}
func (s *mapStore) Save(name string, b []byte) { s.m[name] = bytes.Clone(b); s.saves++ }
func (s *mapStore) Forget(name string)         { delete(s.m, name) }

func TestMemoDurable(t *testing.T) {
	disk := &mapStore{m: map[string][]byte{}}
	loads := 0
	open := func() *Memo[string, string] {
		return NewMemo(newCache(t, 1<<20, disk), func(_ context.Context, k string) (string, int64, error) {
			loads++
			return "value of " + k, 16, nil
		}).Durable(
			func(k string) Place { return named(k) },
			func(v string) []byte { return []byte(v) },
			func(_ context.Context, k string, b []byte) (string, int64, error) {
				if string(b) == "bad" {
					return "", 0, errors.New("bad")
				}
				return string(b), 16, nil
			})
	}
	get := func() string {
		v, err := open().Get(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := get(); v != "value of k" || loads != 1 || disk.saves != 1 {
		t.Errorf("first: %q, %d loads, %d saves", v, loads, disk.saves)
	}
	if v := get(); v != "value of k" || loads != 1 || disk.saves != 1 {
		t.Errorf("from disk: %q, %d loads, %d saves", v, loads, disk.saves)
	}
	disk.m["k"] = []byte("bad")
	if v := get(); v != "value of k" || loads != 2 || disk.saves != 2 {
		t.Errorf("after damage: %q, %d loads, %d saves", v, loads, disk.saves)
	}
}

// A moved is the Place of what may lie under an earlier name.
type moved struct{}

func (moved) Find(context.Context) Found  { return Found{[]string{"now", "before"}, "now"} }
func (moved) Name(context.Context) string { return "now" }

// What was found under an earlier name has its own from then on, and so has what was made in its
// stead.
func TestMemoMoves(t *testing.T) {
	for saved, want := range map[string]string{"sound": "sound", "bad": "made"} {
		disk := &mapStore{m: map[string][]byte{"before": []byte(saved)}}
		m := NewMemo(newCache(t, 1<<20, disk), func(context.Context, int) (string, int64, error) { return "made", 4, nil }).Durable(
			func(int) Place { return moved{} }, func(v string) []byte { return []byte(v) },
			func(_ context.Context, _ int, b []byte) (string, int64, error) {
				if string(b) == "bad" {
					return "", 0, errors.New("bad")
				}
				return string(b), 5, nil
			})
		v, err := m.Get(t.Context(), 1)
		if _, old := disk.m["before"]; v != want || err != nil || string(disk.m["now"]) != want || old {
			t.Errorf("%s: %q, %v, kept %q", saved, v, err, disk.m)
		}
	}
}

func BenchmarkMemoHit(b *testing.B) {
	c := New(1<<20, nil)
	defer c.Close()
	m := NewMemo(c, func(_ context.Context, k int) (int, int64, error) { return k, 8, nil })
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Get(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWorkMakesRoom makes values go while something larger is made.
func TestWorkMakesRoom(t *testing.T) {
	c := newCache(t, 64<<20, nil)
	m := NewMemo(c, func(_ context.Context, k int) (int, int64, error) { return k, 1 << 20, nil })
	fill := func() int64 {
		for k := range 128 {
			if _, err := m.Get(t.Context(), k); err != nil {
				t.Fatal(err)
			}
		}
		return c.Stats().Bytes
	}
	if n := fill(); n < 40<<20 || n > 48<<20+1<<20 {
		t.Fatalf("%d bytes held, want about 48 MiB: a quarter is for the garbage collector", n)
	}
	const free = 24 << 20 // beside the budget
	beside := func(work int64, do func()) {
		err := c.Do(t.Context(), work, func(context.Context) error {
			do()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	beside(free+24<<20, func() {
		if n := c.Stats().Bytes; n > 24<<20+1<<20 {
			t.Errorf("%d bytes held beside 24 MiB of 48", n)
		}
	})
	beside(1<<30, func() {
		if n := fill(); n == 0 || n > 16<<20 {
			t.Errorf("%d bytes held beside too much, want a quarter of 64 MiB", n)
		}
	})
	if n := fill(); n < 40<<20 {
		t.Errorf("%d bytes held after the room was given back", n)
	}
}

// A value that is more than the budget displaces nothing.
func TestMemoTooLarge(t *testing.T) {
	const budget = 1 << 20
	c := New(budget, nil)
	defer c.Close()
	m := NewMemo(c, func(_ context.Context, k int) (int, int64, error) {
		if k < 0 {
			return k, 2 * budget, nil
		}
		return k, budget / 20, nil
	})
	for k := range 10 {
		if _, err := m.Get(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := m.Get(t.Context(), -1); v != -1 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
	if _, ok := m.Peek(-1); ok {
		t.Error("it is kept")
	}
	for k := range 10 {
		if _, ok := m.Peek(k); !ok {
			t.Errorf("%d is gone", k)
		}
	}
}

// Who comes after the last one left does not get the end of the computation
// that was given up, but one of his own.
func TestMemoAfterCancel(t *testing.T) {
	c := New(1<<20, nil)
	defer c.Close()
	started, left := make(chan struct{}, 2), make(chan struct{})
	m := NewMemo(c, func(ctx context.Context, k int) (int, int64, error) {
		started <- struct{}{}
		select {
		case <-left:
			return k, 1, nil
		case <-ctx.Done():
			<-left // it takes a while to notice
			return 0, 0, ctx.Err()
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := m.Get(ctx, 1)
		first <- err
	}()
	<-started
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	go func() {
		<-started
		close(left)
	}()
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if v, err := m.Get(ctx, 1); v != 1 || err != nil {
		t.Errorf("who came later: %d, %v", v, err)
	}
	select {
	case <-left:
	default:
		close(left)
	}
}
