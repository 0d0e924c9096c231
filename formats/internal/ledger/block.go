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

	rowBytes  = 4 << 20            // of rows, with which a block is full, too
	blockRows = maxRows + rowBytes // bounds what a saved block says of those that it has
)

// A Block is some records of a list, compressed.
type Block struct {
	about
	stored        // the records
	rows   stored // of their tables, one after the other; no bytes: there are none
	until  string // the next block begins with; "": it is the last
	claim  *claim // nil: the records were made here
}

// A claim is that the records of a saved block can be believed.
type claim struct {
	check func([]Record) bool
	holds atomic.Bool // as was checked
}

// about is what the directory of a list says of a block.
type about struct {
	first   string // path
	records int
	lines   int64    // bytes of all lines
	kinds   []string // FORMAT/TABLE of all tables, sorted
}

// A stored is a part of a list as it is kept, compressed.
type stored struct {
	sum    [sha256.Size]byte // of the bytes as they are kept
	size   int               // how many
	plain  int               // before compression
	src    io.ReaderAt       // nil: they are in memory
	offset int64             // in src
	packed []byte
}

// Lines returns how many bytes the lines of the block have.
func (b *Block) Lines() int64 { return b.lines }

// parts returns what is kept of the block, in its order.
func (b *Block) parts() [2]*stored { return [...]*stored{&b.stored, &b.rows} }

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
	const fixed = 448
	return int64(fixed + len(b.first) + 24*len(b.kinds) + len(b.packed) + len(b.rows.packed))
}

// bytes returns the bytes as they are kept.
func (s *stored) bytes() ([]byte, error) {
	if s.src == nil {
		return s.packed, nil
	}
	packed := make([]byte, s.size)
	if _, err := s.src.ReadAt(packed, s.offset); err != nil {
		return nil, err
	}
	if sha256.Sum256(packed) != s.sum {
		return nil, formats.Corrupt("catalogue", s.offset, "a saved block is damaged")
	}
	return packed, nil
}

// unpack returns the bytes before compression.
func (s *stored) unpack() ([]byte, error) {
	if s.size == 0 {
		return nil, nil
	}
	packed, err := s.bytes()
	if err != nil {
		return nil, err
	}
	return wire.Unzstd(packed, int64(s.plain))
}

// Pages has the records of blocks, and the rows of tables.
type Pages struct {
	*cache.Memo[*Block, []Record]
	rows *cache.Memo[*stored, []byte]
}

// NewPages returns the records of all blocks that are read through c.
func NewPages(c *cache.Cache) *Pages {
	return &Pages{
		cache.NewMemo(c, func(_ context.Context, b *Block) ([]Record, int64, error) {
			records, err := b.read()
			return records, b.inMemory(), err
		}).Peak(func(b *Block) int64 { return b.inMemory() + int64(b.size+b.plain) }),
		cache.NewMemo(c, func(_ context.Context, s *stored) ([]byte, int64, error) {
			rows, err := s.unpack()
			return rows, int64(len(rows)), err
		}).Peak(func(s *stored) int64 { return int64(s.size + s.plain) }),
	}
}

// inMemory is about how many bytes the records of the block take.
func (b *Block) inMemory() int64 {
	const record = 256 // with its tables
	return int64(b.plain + record*b.records)
}

// read returns the records of the block.
func (b *Block) read() ([]Record, error) {
	plain, err := b.unpack()
	if err != nil {
		return nil, err
	}
	records, err := decode(plain)
	if err != nil {
		return nil, err
	}
	if b.claim != nil && !b.claim.holds.Load() {
		if !b.fits(records) || !b.claim.check(records) {
			return nil, formats.Corrupt("catalogue", b.offset, "a saved block is not what a walk finds")
		}
		b.claim.holds.Store(true)
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
	is, rows := describe(records), 0
	for i := range records {
		rows += records[i].packed()
	}
	return ordered && slices.Equal(is.kinds, b.kinds) && rows == b.rows.plain && is.first == b.first && is.records == b.records && is.lines == b.lines &&
		(b.until == "" || Order(records[len(records)-1].Path, b.until) < 0)
}
