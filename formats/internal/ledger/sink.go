package ledger

import (
	"bytes"
	"crypto/sha256"
	"sync"

	"recfs/cache"
	"recfs/formats/internal/wire"
)

// mostInMemory is how many bytes of new blocks are kept in memory before a file is begun.
const mostInMemory = 1 << 20

// A Sink takes in the new blocks of a list until that is saved: in memory, and once they are many
// in a file of the disk cache without a name.
type Sink struct {
	mu   sync.Mutex
	disk *cache.Disk // nil: there is none, or it cannot be written
	name string      // of the file of a list
	held int
	temp *cache.Blob
}

// NewSink returns a Sink for a file of that name, which is saved unless that is "".
func NewSink(disk *cache.Disk, name string) *Sink { return &Sink{disk: disk, name: name} }

// put compresses and keeps a new part of a list.
func (s *Sink) put(b *stored, plain []byte) {
	packed := wire.Pack(plain)
	b.plain, b.size, b.sum = len(plain), len(packed), sha256.Sum256(packed)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += len(packed)
	if s.disk != nil && s.held > mostInMemory {
		err := error(nil)
		if s.temp == nil {
			s.temp, err = s.disk.Temp()
		}
		if err == nil {
			b.src, b.offset = s.temp, s.temp.Size()
			_, err = s.temp.Write(packed)
		}
		if err == nil {
			return
		}
		s.disk, b.src = nil, nil
	}
	b.packed = bytes.Clone(packed)
}
