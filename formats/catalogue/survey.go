package catalogue

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"time"
	"unsafe"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/nodes"
)

// A survey is what is known of the recordings of an archive at one moment. It
// does not change.
type survey struct {
	records []record          // in the order of a walk
	size    int64             // of recordings.jsonl, which is the lines of all
	sum     [sha256.Size]byte // of the lines, tables and runs of all
	text    int               // bytes of all that is in records
	state   string            // of the disk cache before what is pending was looked for
	watch   watchlist
}

// newSurvey returns what is known when it is records, which it takes over. It
// has all their text in blocks of its own, so that what it costs is known, and nothing
// of what was known before is kept alive.
func newSurvey(records []record) *survey {
	s := &survey{records: records}
	var text block
	var last record
	h := sha256.New()
	w := bufio.NewWriterSize(h, 32<<10)
	for i := range records {
		r := &records[i]
		r.path, r.pending, r.lines = text.add(r.path), text.add(r.pending), text.add(r.lines)
		r.tables, r.runs = text.again(r.tables, last.tables), text.again(r.runs, last.runs)
		last = *r
		w.WriteString(r.lines)  //nolint:errcheck // a hash takes everything
		w.WriteString(r.tables) //nolint:errcheck // the same
		w.WriteString(r.runs)   //nolint:errcheck // the same
		s.size += int64(len(r.lines))
	}
	w.Flush() //nolint:errcheck // see above
	h.Sum(s.sum[:0])
	s.text = text.size
	return s
}

// blockSize is how many bytes of text are allocated at once. What a block was copied from can go before the next is
// made, so that the text of a large archive is not there twice.
const blockSize = 64 << 10

// A block takes in text.
type block struct {
	b    strings.Builder
	size int // of all blocks
}

// add returns a copy of s in the block, or in a new one.
func (t *block) add(s string) string {
	if t.b.Len()+len(s) > t.b.Cap() {
		t.b = strings.Builder{}
		t.b.Grow(max(blockSize, len(s)))
		t.size += t.b.Cap()
	}
	start := t.b.Len()
	t.b.WriteString(s)
	return t.b.String()[start:]
}

// again is add for what is often the same as that of the record before.
func (t *block) again(s, last string) string {
	if s == last {
		return last
	}
	return t.add(s)
}

// renewed returns s as of the time of a scan.
func (s *survey) renewed(by *scan) *survey {
	r := *s
	r.state, r.watch = by.state, by.watch
	r.watch.ended = time.Now()
	return &r
}

// holds reports whether s need not be made again.
func (s *survey) holds(ctx context.Context, view archive.View, disk *cache.Disk) bool {
	return len(s.records) >= manyRecords && s.watch.holds(ctx, view) &&
		(disk == nil || s.state == disk.State())
}

// cost is about what a survey keeps alive.
func (s *survey) cost() int64 {
	const each = int(unsafe.Sizeof(record{}))
	return int64(s.text+each*cap(s.records)+len(s.state)+256) + s.watch.cost()
}

// find returns the record of a path.
func (s *survey) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.records, path, func(r record, path string) int { return walkOrder(r.path, path) })
}

// walkOrder compares two paths by which a walk comes to first.
func walkOrder(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

// content returns recordings.jsonl.
func (s *survey) content() nodes.Content {
	p := nodes.NewPieces(func(_ context.Context, i int) ([]byte, error) { return []byte(s.records[i].lines), nil })
	for i := range s.records {
		p.Add(int64(len(s.records[i].lines)))
	}
	return p
}
