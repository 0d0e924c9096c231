package ledger

import (
	"bytes"
	"sync"

	"recfs/cache"
)

// mostInMemory is how many bytes of new blocks are kept in memory before a file is begun.
const mostInMemory = 1 << 20

// A Sink takes in the new blocks of a list: in memory, and once they are many in a file of the disk cache.
type Sink struct {
	Count  func(int64)                 // hears of the memory that new blocks take, and at Close that they do not; nil: nobody does
	create func() (*cache.Blob, error) // begins the file

	mu      sync.Mutex
	held    int
	counted int64
	blob    *cache.Blob
	failed  bool // there is no file, or it cannot be written
}

// NewSink returns a Sink for a file of that name; without a disk or a name there is none.
func NewSink(disk *cache.Disk, name string) *Sink {
	return &Sink{create: func() (*cache.Blob, error) { return disk.Create(name) }, failed: disk == nil || name == ""}
}

// NewTempSink returns a Sink for a list that is not saved.
func NewTempSink(disk *cache.Disk) *Sink {
	return &Sink{create: disk.Temp, failed: disk == nil}
}

// put keeps a new block.
func (s *Sink) put(b *Block, packed []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held += len(packed); s.held <= mostInMemory || !s.write(b, packed) {
		b.packed = bytes.Clone(packed)
	}
	s.count(b.cost())
}

// count counts memory, for who holds mu.
func (s *Sink) count(n int64) {
	if s.counted += n; s.Count != nil {
		s.Count(n)
	}
}

// write writes a block to the file, and begins that if need be.
func (s *Sink) write(b *Block, packed []byte) bool {
	if s.failed {
		return false
	}
	if s.blob == nil {
		blob, err := s.create()
		if err != nil {
			s.failed = true
			return false
		}
		s.blob = blob
	}
	offset := s.blob.Size()
	if _, err := s.blob.Write(packed); err != nil {
		s.failed = true
		return false
	}
	b.src, b.offset, b.packed = s.blob, offset, nil
	return true
}

// Close removes the file of a list that was not kept. The blocks in it are of no use then.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(-s.counted)
	if s.blob != nil {
		s.blob.Discard()
		s.blob = nil
	}
}

// Save keeps a list on disk, whose new blocks the Sink has, and returns the same list as it lies there: unless
// it is no use, which due tells, and the Sink has begun no file. Where that fails, it is what was in memory
// and what could be read.
func (s *Sink) Save(l *List, due bool) *List {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blob == nil && !due {
		return l
	}
	blocks := make([]*Block, len(l.blocks))
	for i, b := range l.blocks {
		if s.blob != nil && b.src == s.blob {
			blocks[i] = b
			continue
		}
		packed, err := b.bytes()
		moved := &Block{about: b.about, check: b.check, until: b.until}
		if moved.checked.Store(b.checked.Load()); err != nil || !s.write(moved, packed) {
			return s.inMemory(l)
		}
		blocks[i] = moved
	}
	saved := newList(blocks)
	if !s.commit(saved) {
		return s.inMemory(l)
	}
	return saved
}
