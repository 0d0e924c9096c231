package ledger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"sync/atomic"
	"unique"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/wire"
)

const (
	blockRecords = 256       // of a full block
	blockBytes   = 256 << 10 // of records, with which one is full, too
	leastRecords = 64        // of one that ends because another begins as it was

	// maxPlain bounds what a saved block says of itself. A record is larger than a block only by its
	// runs, of which a recording has at most formats.MaxRuns.
	maxPlain = 64 << 20
)

// A Block is some records of a list, compressed.
type Block struct {
	about
	check   func([]Record) bool // whether the records can be believed; nil: they were made here
	until   string              // the next block begins with; "": it is the last
	checked atomic.Bool

	src    io.ReaderAt // nil: it is in memory
	offset int64       // in src
	packed []byte
}

// about is what the directory of a list says of a block.
type about struct {
	first   string // path
	records int
	lines   int64             // bytes of all lines
	kinds   []string          // FORMAT/TABLE of all tables, sorted
	sum     [sha256.Size]byte // of the block as it is kept
	size    int               // as it is kept
	plain   int               // before compression
}

// describe returns what follows of a block from its records.
func describe(records []Record) (a about) {
	seen := map[string]bool{}
	for i := range records {
		r := &records[i]
		a.lines += int64(len(r.Line))
		for _, t := range r.Tables {
			if kind := r.Format + "/" + t.Name; !seen[kind] {
				kind = unique.Make(kind).Value()
				seen[kind] = true
				a.kinds = append(a.kinds, kind)
			}
		}
	}
	slices.Sort(a.kinds)
	a.first, a.records = records[0].Path, len(records)
	return a
}

// holds reports whether the block has a table of that kind.
func (b *Block) holds(kind string) bool {
	_, ok := slices.BinarySearch(b.kinds, kind)
	return ok
}

// cost is about what the block takes in memory as long as nobody reads it.
func (b *Block) cost() int64 {
	const fixed = 320
	return int64(fixed + len(b.first) + 16*len(b.kinds) + len(b.packed))
}

// bytes returns the block as it is kept.
func (b *Block) bytes() ([]byte, error) {
	if b.src == nil {
		return b.packed, nil
	}
	packed := make([]byte, b.size)
	if _, err := b.src.ReadAt(packed, b.offset); err != nil {
		return nil, err
	}
	if sha256.Sum256(packed) != b.sum {
		return nil, formats.Corrupt("catalogue", b.offset, "a saved block is damaged")
	}
	return packed, nil
}

// Pages has the records of blocks.
type Pages = cache.Memo[*Block, []Record]

// NewPages returns the records of all blocks that are read through c.
func NewPages(c *cache.Cache) *Pages {
	return cache.NewMemo(c, func(_ context.Context, b *Block) ([]Record, int64, error) {
		records, err := b.read()
		return records, b.inMemory(), err
	}).Peak(func(b *Block) int64 { return b.inMemory() + int64(b.size+b.plain) })
}

// inMemory is about how many bytes the records of the block take.
func (b *Block) inMemory() int64 {
	const record = 256 // with its tables
	return int64(b.plain + record*b.records)
}

// read returns the records of the block.
func (b *Block) read() ([]Record, error) {
	packed, err := b.bytes()
	if err != nil {
		return nil, err
	}
	plain, err := wire.Unzstd(packed, int64(b.plain))
	if err != nil {
		return nil, err
	}
	records, err := decode(plain)
	if err != nil {
		return nil, err
	}
	if b.check != nil && !b.checked.Load() {
		if !b.fits(records) || !b.check(records) {
			return nil, formats.Corrupt("catalogue", b.offset, "a saved block is not what a walk finds")
		}
		b.checked.Store(true)
	}
	return records, nil
}

// fits reports whether saved records are those that the directory says, in the order of a walk.
func (b *Block) fits(records []Record) bool {
	if len(records) == 0 {
		return false
	}
	ordered := slices.IsSortedFunc(records, func(a, b Record) int {
		return cmp.Or(Order(a.Path, b.Path), -1) // none is there twice
	})
	is := describe(records)
	return ordered && is.first == b.first && is.records == b.records && is.lines == b.lines &&
		(b.until == "" || Order(records[len(records)-1].Path, b.until) < 0)
}
