// Package cache remembers the results of functions: in memory within one
// byte budget, and on disk where a result is costly and asked for.
package cache

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A Cache holds the values of all Memos made on it within one budget. What is being made counts
// there, too, see [Cache.Do]: what it takes the values have less.
type Cache struct {
	values *values
	most   int64 // bytes that the values may take
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
	Load(ctx context.Context, name string) ([]byte, bool)
	Save(name string, data []byte)
	Forget(name string) // what was saved under it
}

// New returns a Cache with a budget in bytes of memory. The disk, which may
// be nil, is where durable Memos keep their values.
func New(budget int64, disk Store) *Cache {
	most := valuesOf(budget)
	c := &Cache{budget: budget, disk: disk, values: newValues(most), most: most, large: newLarge(budget)}
	c.account = newAccount(budget, c.makeRoom)
	return c
}

// Part returns a Cache for other values, with a budget and a disk of its own, whose work counts in
// the account of c.
func (c *Cache) Part(budget int64, disk Store) *Cache {
	p := New(budget, disk)
	p.account = c.account
	return p
}

// KeepLittle leaves a quarter of the budget to values, for a program that asks for hardly anything
// again: it goes through many recordings, and what is kept of those behind it would only fill the
// heap, and leave gaps in it. It must be called before there are values.
func (c *Cache) KeepLittle() {
	c.most = c.budget / 4
	c.values.setLimit(c.most)
}

// Count counts n bytes more, or less if n is negative, that somebody keeps beside the values for as
// long as they like.
func (c *Cache) Count(n int64) { c.account.add(n) }

// Close lets go of all values. Those that it handed out stay valid.
func (c *Cache) Close() {
	c.values.setLimit(0)
	c.large.clear()
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
		Bytes: c.values.held() + c.large.held(), Budget: c.budget,
	}
}

// Load returns what a durable Memo of the Cache, or of one with the same disk, keeps at a place,
// which may be nil.
func (c *Cache) Load(ctx context.Context, at Place) ([]byte, bool) {
	if c.disk == nil || at == nil {
		return nil, false
	}
	if found := at.Find(ctx); len(found.Names) > 0 {
		return c.disk.Load(ctx, found.Names[0])
	}
	return nil, false
}

func (c *Cache) get(k key) (any, bool) {
	if v, ok := c.values.get(k); ok {
		return v, true
	}
	return c.large.get(k)
}

// set keeps v, unless it alone is more than the budget or kept as a large one.
func (c *Cache) set(k key, v any, cost int64) {
	cost = max(cost, 0)
	c.computed.Add(cost)
	if c.tooLarge(cost) {
		if _, kept := c.large.get(k); kept {
			return
		}
	}
	c.values.put(k, v, cost, nil)
}

// drop forgets the value for k.
func (c *Cache) drop(k key) {
	c.values.drop(k)
	c.large.drop(k)
}

// makeRoom takes n bytes of the budget away from values, as long as a quarter of it is left to
// them.
func (c *Cache) makeRoom(n int64) {
	c.values.setLimit(max(c.most-max(n, 0), c.budget/4))
}

// Work returns how many bytes are counted for what is being made and what is kept open, and the
// most that ever were. They come beside the values, see [Stats].
func (c *Cache) Work() (now, peak int64) {
	c.account.mu.Lock()
	defer c.account.mu.Unlock()
	return c.account.work, c.account.peak
}

// tooLarge reports whether a value would displace many others.
func (c *Cache) tooLarge(cost int64) bool { return cost > max(c.budget/8, smallWork) }

// maxAttempts is more often than any request is begun: each has at least twice the memory of the
// one before it.
const maxAttempts = 40

// Do runs a request: a read, a look-up, a command's job, the computation of a value. In a context
// of another request it is a part of that. Else it has n bytes, for which it waits in the order of
// coming; if what do calls needs more, as [Charge] tells, all is given back, and do is called again
// with as much. So no request that holds memory waits for more, and each gets through: one that
// needs more than there is in all runs alone.
//
// What do did without the memory it asked for is of no account: no Memo keeps it. Of a nil Cache do
// has what it wants.
func (c *Cache) Do(ctx context.Context, n int64, do func(context.Context) error) error {
	if c == nil || reservationOf(ctx) != nil {
		return do(ctx)
	}
	for range maxAttempts {
		r := &reservation{a: c.account, n: n, users: 1}
		if n > 0 {
			var err error
			if r.units, err = c.account.acquire(ctx, n); err != nil {
				return err
			}
		}
		err := do(context.WithValue(ctx, reservationKey{}, r))
		short := r.failed()
		r.leave()
		if short == nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err // what it did with too little memory says nothing
		}
		n = max(short.n, 2*n)
	}
	return &shortError{n}
}

type savedOnly struct{}

// SavedOnly returns a context in which a durable Memo computes nothing: what
// it would save and has neither in memory nor on disk is a *NotSavedError. It is for
// answers about many recordings that must not cost a scan of each.
func SavedOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, savedOnly{}, true)
}

// IsSavedOnly tells whether ctx is one of SavedOnly.
func IsSavedOnly(ctx context.Context) bool { return ctx.Value(savedOnly{}) != nil }

// A Place is where a durable Memo keeps a value on disk.
type Place interface {
	// Find returns where the value may lie.
	Find(ctx context.Context) Found
	// Name returns the name under which it is saved; "": it cannot be told at present.
	Name(ctx context.Context) string
}

// A Found says where a value may lie on disk.
type Found struct {
	Names []string // the best first; none: it is known that there is none
	Await string   // what is saved there once there is one, for Disk.Lookup
}

// A NotSavedError says that a value would have to be computed.
type NotSavedError struct{ Name string } // on disk, for Disk.Lookup

// Error names the value.
func (e *NotSavedError) Error() string { return fmt.Sprintf("%q is not in the cache", e.Name) }
