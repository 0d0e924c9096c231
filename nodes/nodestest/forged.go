package nodestest

import (
	"context"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"recfs/nodes"
)

// A Shelf keeps byte strings by name, in the place of a cache on disk.
type Shelf struct {
	mu    sync.Mutex
	kept  map[string][]byte
	saves int
}

// Load returns what is kept under a name.
func (s *Shelf) Load(_ context.Context, name string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.kept[name]
	return slices.Clone(b), ok
}

// Save keeps b under a name.
func (s *Shelf) Save(name string, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[name] = slices.Clone(b)
	s.saves++
}

// Forget drops what is kept under a name.
func (s *Shelf) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, name)
}

// forgedMemory is how many bytes a tree may allocate besides 16 times what it
// does with the right index: what is decoded anew, but nothing of a claimed size.
const forgedMemory = 256 << 20

// Forged holds a format to what it keeps on disk being only a claim. open opens a recording with an
// empty cache in memory above the shelf, and what its tree saves there is changed at random in so
// many runs, a twentieth of them with -short, as nobody can who does not compute the checksum of
// the cache file as well. Whatever the change, the tree keeps the promises of [Check], nothing
// panics, and it takes about as much memory as before. Files may be unreadable.
func Forged(t *testing.T, runs int, open func(t testing.TB, shelf *Shelf) nodes.Dir) {
	t.Helper()
	sound := &Shelf{}
	normal := uint64(0)
	t.Run("sound", func(t *testing.T) {
		normal = allocated(func() { Check(t, open(t, sound)) })
	})
	if len(sound.kept) == 0 {
		t.Fatal("the recording keeps nothing on disk")
	}
	t.Run("again", func(t *testing.T) {
		before := sound.saves
		if Check(t, open(t, sound)); sound.saves != before {
			t.Error("what is kept was not used")
		}
	})
	for _, name := range slices.Sorted(maps.Keys(sound.kept)) {
		for run := range Times(runs, 1+runs/20) {
			shelf := &Shelf{kept: maps.Clone(sound.kept)}
			shelf.kept[name] = Mutate(rand.New(rand.NewPCG(uint64(run), 0)), sound.kept[name])
			if !t.Run(strconv.Itoa(run), func(t *testing.T) {
				used := allocated(func() { checkForged(t, open(t, shelf)) })
				if used > 16*normal+forgedMemory {
					t.Errorf("%d bytes allocated, %d with the right index", used, normal)
				}
			}) {
				return
			}
		}
	}
}

func checkForged(t *testing.T, root nodes.Dir) {
	for name, err := range Check(t, root) {
		if strings.Contains(err.Error(), "panic:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Mutate returns b changed at one to three places: bits and bytes, what is cut,
// doubled or put in, and numbers that are negative, large or too large, as
// varints have them.
func Mutate(random *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + random.IntN(3) {
		if len(b) == 0 {
			return b
		}
		i := random.IntN(len(b))
		switch random.IntN(7) {
		case 0:
			b[i] ^= 1 << random.IntN(8)
		case 1:
			b[i] = byte(random.Uint32())
		case 2:
			b[i] += byte(random.IntN(3)) - 1
		case 3:
			b = slices.Delete(b, i, min(i+1+random.IntN(4), len(b)))
		case 4:
			end := min(i+1+random.IntN(16), len(b))
			b = slices.Insert(b, i, slices.Clone(b[i:end])...)
		case 5:
			b = b[:i]
		case 6: // in the place of a varint
			end := i
			for end < len(b)-1 && b[end] >= 0x80 {
				end++
			}
			b = slices.Replace(b, i, end+1, extreme(random)...)
		}
	}
	return b
}

// extreme returns a varint that a careless reader stumbles over.
func extreme(random *rand.Rand) []byte {
	limits := []uint64{0, 1, 2, math.MaxInt16, math.MaxInt32 - 1, math.MaxInt32, math.MaxUint32, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, math.MaxUint64 - 1, math.MaxUint64}
	return binary.AppendUvarint(nil, limits[random.IntN(len(limits))]+uint64(random.IntN(3)))
}
