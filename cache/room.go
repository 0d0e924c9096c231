package cache

// A Room is a part of the budget for something that is being made and is no
// value yet. The values that would not fit beside it go.
type Room struct {
	c *Cache
	n int64
}

// roomStep is how exactly a Room is counted.
const roomStep = 1 << 20

// Room returns an empty Room. Who asks for it closes it.
func (c *Cache) Room() *Room { return &Room{c: c} }

// Resize makes room for n bytes in all.
func (r *Room) Resize(n int64) {
	if n = (n + roomStep - 1) / roomStep * roomStep; n != r.n {
		r.c.take(n - r.n)
		r.n = n
	}
}

// Close gives the room back.
func (r *Room) Close() { r.Resize(0) }

// take takes n more bytes of the budget away from values, as long as a
// quarter of it is left to them.
func (c *Cache) take(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken += n
	c.store.SetMaximum(weight(max(valuesOf(c.budget)-c.taken, c.budget/4)))
}
