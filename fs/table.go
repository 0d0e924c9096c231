package fs

import (
	"errors"
	"path"
	"slices"
	"sync"

	"recfs/cache"
	"recfs/nodes"
)

const (
	rootID     = 1 // the kernel's name for the root
	rootNumber = 1

	indexBits  = 40
	indexMask  = 1<<indexBits - 1
	maxNumbers = 1 << (64 - indexBits)
)

var errTableFull = errors.New("too many directories in use")

// A node is a numbered node: a directory, or an entry of a volatile
// directory, at one version. It does not change.
type node struct {
	number     uint32
	generation uint64 // no two nodes have the same
	ino        uint64
	parent     *node       // nil: this is the root
	entry      nodes.Entry // its attributes are set

	// Of an entry that grows: what lies in the nearest volatile directory above, at the version that
	// entry is of. It is later than that of parent once something was added.
	origin nodes.Grower

	// Of a node that was renewed: what the kernel keeps of the earlier version is dropped once, before
	// anybody hears of the size of this one.
	dropped *sync.Once
}

// id returns the node id of the node itself.
func (n *node) id() uint64 {
	if n.number == rootNumber {
		return rootID
	}
	return uint64(n.number) << indexBits
}

// childIno returns the inode number of the entry of that name: FNV-1a over the
// name. An index would not do, as that of a name changes when a recording
// grows.
func (n *node) childIno(name string) uint64 {
	h := n.ino ^ 14695981039346656037
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads the bits of x (the finalizer of SplitMix64). It takes no two
// numbers to the same, but for 0, which is no inode number.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return max(x^x>>31, rootID+1)
}

// parentIno returns the inode number of "..".
func (n *node) parentIno() uint64 {
	if n.parent == nil {
		return n.ino
	}
	return n.parent.ino
}

// volatile reports whether the entries of the directory may change.
func (n *node) volatile() bool {
	_, ok := n.entry.Dir.(nodes.Volatile)
	return ok
}

// path returns the path below the root, for the log.
func (n *node) path() string {
	switch {
	case n == nil: // the kernel does not hold it
		return "?"
	case n.parent == nil:
		return "."
	}
	return path.Join(n.parent.path(), n.entry.Name)
}

// origins returns the node above n, or n itself, that is an entry of a volatile directory, and the
// path from it to n; nil if there is none.
func (n *node) origins() (top *node, below string) {
	below = "."
	for top = n; top.parent != nil; top = top.parent {
		if top.parent.volatile() {
			return top, below
		}
		below = path.Join(top.entry.Name, below)
	}
	return nil, below
}

// growerOf returns what of an entry can tell what it grew out of; nil: nothing.
func growerOf(e nodes.Entry) nodes.Grower {
	if g, ok := e.Dir.(nodes.Grower); ok {
		return g
	}
	g, _ := e.File.(nodes.Grower)
	return g
}

// A nodeKey says where a node was found: by index in an immutable directory,
// by name in a volatile one.
type nodeKey struct {
	parent uint64 // its generation: numbers are given out again
	index  int
	name   string
}

type slot struct {
	node    *node
	key     nodeKey
	lookups uint64 // that the kernel has not forgotten
}

// A table holds the nodes that the kernel holds, by number and by place.
type table struct {
	mu         sync.RWMutex
	slots      []slot // by number
	free       []uint32
	numbers    map[nodeKey]uint32
	generation uint64

	// For entries that took the place of others while the kernel held those, by the inode numbers
	// of their names: the generation of the new node. A program that follows a name then finds
	// another number.
	replaced *cache.Recent[uint64, uint64]
}

// maxReplaced is for how many names at least a table knows that they were replaced.
const maxReplaced = 1 << 10

func newTable(root nodes.Entry) *table {
	return &table{
		slots: []slot{
			rootNumber: {node: &node{number: rootNumber, ino: rootID, entry: root}},
		},
		numbers:  map[nodeKey]uint32{},
		replaced: cache.NewRecent[uint64, uint64](maxReplaced),
	}
}

// childIno returns the inode number of the entry of that name in a directory.
func (t *table) childIno(dir *node, name string) uint64 {
	ino := dir.childIno(name)
	if dir.volatile() {
		if generation, ok := t.replaced.Get(ino); ok {
			return mix(ino ^ generation)
		}
	}
	return ino
}

// A place is what a node id stands for: an entry of a directory by its index, or the numbered node
// itself (-1). There is no node if the kernel does not hold it.
type place struct {
	node  *node
	index int
}

// get returns the place that has a node id.
func (t *table) get(id uint64) place {
	number, index := id>>indexBits, int(id&indexMask)-1
	if id == rootID {
		number, index = rootNumber, -1
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if number >= uint64(len(t.slots)) {
		return place{}
	}
	return place{t.slots[number].node, index}
}

// add returns the node of entry e, found in parent at that place, for the
// kernel to hold. It is the node that stood there before if e is the same
// version of it.
func (t *table) add(parent *node, key nodeKey, e nodes.Entry) (*node, error) {
	key.parent = parent.generation
	e = e.Inherit(parent.entry.Attr)
	t.mu.Lock()
	defer t.mu.Unlock()
	if number, ok := t.numbers[key]; ok {
		s := &t.slots[number]
		old, same := s.node.entry, key.name == "" || sameVersion(s.node.entry, e)
		origin := growerOf(e)
		switch {
		case same && old.Time.Equal(e.Time) && old.Rights == e.Rights:
		case e.Grows && key.name == "":
			// The node may be of a later version than the directory that e was found in.
		case same:
			s.node = s.node.renewed(e, s.node.origin)
		case e.Grows && s.node.origin != nil && origin != nil && origin.Since(s.node.origin) == nodes.Grown:
			s.node = s.node.renewed(e, origin)
			same = true
		}
		if same {
			s.lookups++
			return s.node, nil
		}
		if now, before := growerOf(e), growerOf(old); now != nil && before != nil && now.Since(before) == nodes.Replaced {
			t.replaced.Swap(parent.childIno(e.Name), t.generation+1)
		}
	}
	number, err := t.number()
	if err != nil {
		return nil, err
	}
	t.generation++
	n := &node{
		number:     number,
		generation: t.generation,
		ino:        t.childIno(parent, e.Name),
		parent:     parent,
		entry:      e,
	}
	if e.Grows {
		if top, _ := n.origins(); top != nil {
			n.origin = growerOf(top.entry)
		}
	}
	t.slots[number] = slot{n, key, 1}
	t.numbers[key] = number
	return n, nil
}

// renewed returns the node with a later version of its entry. Whatever has n keeps that.
func (n *node) renewed(e nodes.Entry, origin nodes.Grower) *node {
	renewed := *n
	renewed.entry, renewed.origin, renewed.dropped = e, origin, new(sync.Once)
	return &renewed
}

// renew puts what was renewed of a node in its place, and returns the node that is there then: that
// of another if it was faster, and n if the node is not held any more.
func (t *table) renew(n, renewed *node) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s := &t.slots[n.number]; {
	case s.node == n:
		s.node = renewed
		return renewed
	case s.node == nil || s.node.generation != n.generation:
		return n
	default:
		return s.node
	}
}

// sameVersion reports whether two entries of a name are one version. Rights are
// part of it where the kernel keeps what is below for long with the rights
// inherited from there.
func sameVersion(a, b nodes.Entry) bool {
	_, volatile := a.Dir.(nodes.Volatile)
	return a.Dir == b.Dir && a.File == b.File && a.Link == b.Link && (volatile || a.Rights == b.Rights)
}

// number returns a number that is not in use.
func (t *table) number() (uint32, error) {
	if last := len(t.free) - 1; last >= 0 {
		number := t.free[last]
		t.free = t.free[:last]
		return number, nil
	}
	if len(t.slots) == maxNumbers {
		return 0, errTableFull
	}
	t.slots = append(t.slots, slot{})
	return uint32(len(t.slots) - 1), nil
}

// forget takes back lookups of a node id. Nodes without a number are not
// held in the first place.
func (t *table) forget(id, lookups uint64) {
	if id&indexMask != 0 {
		return
	}
	number := id >> indexBits
	t.mu.Lock()
	defer t.mu.Unlock()
	if number >= uint64(len(t.slots)) || t.slots[number].node == nil {
		return
	}
	s := &t.slots[number]
	if s.lookups -= min(lookups, s.lookups); s.lookups > 0 {
		return
	}
	if t.numbers[s.key] == uint32(number) {
		delete(t.numbers, s.key)
	}
	*s = slot{}
	t.free = append(t.free, uint32(number))
	if len(t.free) == len(t.slots)-rootNumber-1 {
		t.shrink()
	}
}

// shrink gives memory back once nothing but the root is held.
func (t *table) shrink() {
	t.slots = slices.Clone(t.slots[:rootNumber+1])
	t.free = nil
	t.numbers = map[nodeKey]uint32{}
}

// len returns how many nodes are held, without the root.
func (t *table) len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.slots) - rootNumber - 1 - len(t.free)
}
