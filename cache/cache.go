// Package cache remembers the results of functions: in memory within one
// byte budget, and on disk where a result is costly and asked for.
package cache

import (
	"sync/atomic"

	"github.com/maypok86/otter/v2"
)

// weightUnit is what one unit of weight stands for in the store, whose
// weights are uint32.
const weightUnit = 64

// A Cache holds the values of all Memos made on it within one budget. What is being made counts there, too,
// see [Cache.Do]: what it takes the values have less.
type Cache struct {
	store  *otter.Cache[key, value]
	aside  *aside
	large  large
	budget int64
	disk   Store
	memos  atomic.Uint32

	account *account

	hits, misses, diskHits, computed atomic.Int64
}

// A Store keeps byte strings by name beyond the life of the process. It is
// best effort: what was saved may be gone, but never comes back changed.
type Store interface {
	Load(name string) ([]byte, bool)
	Save(name string, data []byte)
}

type key struct {
	memo uint32
	k    any
}

type value struct {
	v    any
	cost uint32
}

// valuesOf is how much of a budget values may take. The rest is for the
// garbage collector, which would never stop if they filled what it has.
func valuesOf(budget int64) int64 { return budget / 4 * 3 }

// asideOf is how much of that the values may take that the store gave up.
func asideOf(budget int64) int64 { return budget / 8 }

// New returns a Cache with a budget in bytes of memory. The disk, which may
// be nil, is where durable Memos keep their values.
func New(budget int64, disk Store) *Cache {
	c := &Cache{budget: budget, disk: disk, aside: newAside(weight(asideOf(budget)))}
	c.store = otter.Must(&otter.Options[key, value]{
		MaximumWeight: weight(valuesOf(budget) - asideOf(budget)),
		Weigher:       func(_ key, v value) uint32 { return v.cost },
		// Evict at once: behind a busy processor a goroutine may run
		// dozens of megabytes late.
		Executor: func(evict func()) { evict() },
		OnDeletion: func(e otter.DeletionEvent[key, value]) {
			if e.WasEvicted() {
				c.aside.put(e.Key, e.Value)
			}
		},
	})
	c.account = newAccount(c)
	return c
}

// Part returns a Cache for other values, with a budget and a disk of its own, whose work counts in the
// account of c.
func (c *Cache) Part(budget int64, disk Store) *Cache {
	p := New(budget, disk)
	p.account = c.account
	return p
}

// Count counts n bytes more, or less if n is negative, that somebody keeps beside the values for as long as they like.
func (c *Cache) Count(n int64) { c.account.add(n) }

// weight is a budget as the store counts it.
func weight(budget int64) uint64 { return uint64(max(budget, 0)/weightUnit) + 1 }

// Close ends the goroutines of the cache. Values that it handed out stay
// valid.
func (c *Cache) Close() {
	c.store.InvalidateAll()
	c.large.clear()
	c.store.StopAllGoroutines()
}

// Budget returns the budget in bytes.
func (c *Cache) Budget() int64 { return c.budget }

// Stats are the counters of a Cache since it was made.
type Stats struct {
	Hits     int64 `json:"hits"`
	Misses   int64 `json:"misses"`    // computations
	DiskHits int64 `json:"disk_hits"` // of these, how many a value on disk spared
	Computed int64 `json:"computed"`  // bytes of all values
	Bytes    int64 `json:"bytes"`     // held now
	Budget   int64 `json:"budget"`
}

// Stats returns the counters of all Memos together.
func (c *Cache) Stats() Stats {
	return Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), DiskHits: c.diskHits.Load(), Computed: c.computed.Load(),
		Bytes: int64(c.store.WeightedSize()+c.aside.held()) * weightUnit, Budget: c.budget,
	}
}

// Load returns what a durable Memo of the Cache, or of one with the same disk, keeps under a name.
func (c *Cache) Load(name string) ([]byte, bool) {
	if c.disk == nil {
		return nil, false
	}
	return c.disk.Load(name)
}

func (c *Cache) get(k key) (any, bool) {
	if v, ok := c.store.GetIfPresent(k); ok {
		return v.v, true
	}
	if v, ok := c.aside.get(k); ok {
		return v, true
	}
	return c.large.get(k)
}

// set keeps v. The store does not take what alone is more than the budget.
func (c *Cache) set(k key, v any, cost int64) {
	cost = max(cost, 0)
	c.computed.Add(cost)
	c.aside.drop(k)
	c.store.Set(k, value{v, uint32(min((cost+weightUnit-1)/weightUnit+1, 1<<32-1))})
}

// drop forgets the value for k.
func (c *Cache) drop(k key) {
	c.store.Invalidate(k)
	c.aside.drop(k)
	c.large.forget(k)
}
