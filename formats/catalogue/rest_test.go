package catalogue

import (
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// A heldTable is a table that somebody has looked up.
type heldTable struct {
	name string // path
	nodes.Entry
}

// TestTablesAtRest holds that tables of an archive at rest are what they are, for whoever looked
// them up whenever: while nothing stays in memory, indexes are made, a writer comes to rest, and
// other processes look at it under other paths and with other options.
func TestTablesAtRest(t *testing.T) {
	for seed := range uint64(nodestest.Times(4, 1)) {
		testTablesAtRest(t, rand.New(rand.NewPCG(seed, 0)))
	}
}

func testTablesAtRest(t *testing.T, rnd *rand.Rand) {
	dir, disk := filepath.Join(t.TempDir(), "archive"), cache.NewDisk(t.TempDir(), 64<<20, nil)
	recordings := []string{"nethack/small.nhgame", "nethack/timezone.nhgame", "teehistorian/reload-20.1.teehistorian"}
	for _, name := range recordings {
		b, err := os.ReadFile(samples + name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, string(b))
		written := time.Now().Add(-4900 * time.Millisecond) // for a moment somebody seems to write to it
		if err := os.Chtimes(filepath.Join(dir, name), written, written); err != nil {
			t.Fatal(err)
		}
	}
	start := func() *root {
		budget := []int64{1 << 10, 1 << 20, 16 << 20}[rnd.IntN(3)]
		c := cache.New(budget, disk)
		t.Cleanup(c.Close)
		return newRoot(formatstest.OpenLocal(t, dir), allFormats(), c, archive.Options{Disk: disk, Follow: rnd.IntN(3) > 0, Sniff: rnd.IntN(2) > 0})
	}
	at, want := start(), map[string]uint32{}
	var held []heldTable
	check := func(h heldTable) {
		t.Helper()
		size, err := h.File.Size(t.Context())
		b, readErr := nodes.ReadAll(t.Context(), h.File)
		sum, known := want[h.name]
		if got := crc32.ChecksumIEEE(b); err != nil || readErr != nil || size != int64(len(b)) || known && got != sum {
			t.Errorf("%s: %d bytes of %d, the same: %t, %v, %v", h.name, len(b), size, got == sum, err, readErr)
		} else {
			want[h.name] = got
		}
	}
	for range 120 {
		name := recordings[rnd.IntN(len(recordings))]
		format := filepath.Dir(name)
		tables := map[string][]string{"nethack": {"ticks", "heroes", "commands"}, "teehistorian": {"events", "players", "inputs"}}[format]
		table := tables[rnd.IntN(len(tables))]
		switch rnd.IntN(8) {
		case 0, 1:
			if _, err := read(t, at, name+"/index.json"); err != nil {
				t.Error(err)
			}
		case 2:
			at = start()
		case 3:
			moved := filepath.Join(t.TempDir(), "archive")
			if err := os.Rename(dir, moved); err != nil {
				t.Fatal(err)
			}
			dir = moved
			at = start()
		case 4, 5:
			if len(held) > 0 {
				check(held[rnd.IntN(len(held))])
			}
		default:
			path := []string{"tables/" + format + "/" + table + "/" + name + ".parquet", name + "/tables/" + table + ".parquet"}[rnd.IntN(2)]
			e, err := nodes.Lookup(t.Context(), at, path)
			if err != nil {
				t.Error(err)
				continue
			}
			held = append(held, heldTable{path, e})
		}
	}
	for _, h := range held {
		check(h)
	}
}
