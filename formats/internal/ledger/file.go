package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"os"
	"unique"

	"recfs/cache"
	"recfs/formats/internal/indexfile"
)

// A file has the blocks in any order, the directory, which has them in that of the list, and its end:
//
//	| block … | directory | SHA-256 of the directory | its length u64, little-endian | magic |
//
// directory: | count | kind text … | count | block … |
//
// block: | first text | records, bytes of lines, offset, size, plain: varint | text, sum: SHA-256 |
// | count | number of kind varint … |
const (
	magic   = "recfsled"
	endSize = sha256.Size + 8 + len(magic)
)

// commit ends the file with the directory of a list whose blocks are all in it, for who holds mu.
func (s *Sink) commit(l *List) bool {
	if s.failed {
		return false
	}
	if s.blob == nil { // of no records
		blob, err := s.create()
		if s.failed = err != nil; s.failed {
			return false
		}
		s.blob = blob
	}
	b := l.directory()
	sum := sha256.Sum256(b)
	end := binary.LittleEndian.AppendUint64(sum[:], uint64(len(b)))
	if _, err := s.blob.Write(append(append(b, end...), magic...)); err != nil {
		s.failed = true
		return false
	}
	if _, err := s.blob.Commit(); err != nil {
		return false
	}
	s.blob, l.saved = nil, true
	return true
}

// inMemory returns a list with the blocks in memory that are in the file, which is removed, for who holds mu.
func (s *Sink) inMemory(l *List) *List {
	if s.blob == nil {
		return l
	}
	var blocks []*Block
	for _, b := range l.blocks {
		if b.src == s.blob {
			packed, err := b.bytes()
			if err != nil {
				continue
			}
			b = &Block{about: b.about, packed: packed}
		}
		blocks = append(blocks, b)
	}
	s.blob.Discard()
	s.blob = nil
	return newList(blocks)
}

func (l *List) directory() []byte {
	w := indexfile.Append(nil)
	w.Count(len(l.kinds))
	number := map[string]int{}
	for i, kind := range l.kinds {
		number[kind] = i
		w.Text(kind)
	}
	w.Count(len(l.blocks))
	for _, b := range l.blocks {
		w.Text(b.first)
		for _, n := range [...]int64{int64(b.records), b.lines, b.offset, int64(b.size), int64(b.plain)} {
			w.Size(n)
		}
		w.Blob(b.text[:])
		w.Blob(b.sum[:])
		w.Count(len(b.kinds))
		for _, kind := range b.kinds {
			w.Count(number[kind])
		}
	}
	return w.Bytes()
}

// Load returns the list that is kept under a name, an empty one if there is none. Of its records check tells
// whether a walk can have found them: the checksums do not, as who can write to the cache can make them.
func Load(disk *cache.Disk, name string, check func([]Record) bool) *List {
	if disk == nil || name == "" {
		return newList(nil)
	}
	f, err := disk.Open(name)
	if err != nil {
		return newList(nil)
	}
	if l := read(f, check); l != nil {
		return l
	}
	if info, err := f.Stat(); err == nil {
		disk.Remove(name, info)
	}
	f.Close()
	return newList(nil)
}

// read returns the list in a file, nil if there is none. Its blocks keep the file open.
func read(f *os.File, check func([]Record) bool) *List {
	info, err := f.Stat()
	if err != nil || info.Size() < int64(endSize) {
		return nil
	}
	end := make([]byte, endSize)
	at := info.Size() - int64(endSize)
	if _, err := f.ReadAt(end, at); err != nil || string(end[sha256.Size+8:]) != magic {
		return nil
	}
	size := binary.LittleEndian.Uint64(end[sha256.Size:])
	if size > uint64(at) {
		return nil
	}
	b, err := io.ReadAll(io.NewSectionReader(f, at-int64(size), int64(size)))
	if err != nil || sha256.Sum256(b) != [sha256.Size]byte(end) {
		return nil
	}
	return readDirectory(b, at-int64(size), f, check)
}

// minAbout is the least bytes that a block takes in the directory.
const minAbout = 2*(1+sha256.Size) + 7

// readDirectory returns the list of a directory, whose blocks lie in the first bytes of a file.
func readDirectory(b []byte, size int64, f *os.File, check func([]Record) bool) *List {
	r := indexfile.NewReader("catalogue", b)
	kinds := make([]string, r.Count(1))
	for i := range kinds {
		kinds[i] = unique.Make(r.Text()).Value()
	}
	blocks := make([]*Block, r.Count(minAbout))
	for i := range blocks {
		b := &Block{check: check, src: f}
		b.first, b.records, b.lines = r.Text(), int(r.Uint(maxPlain/minRecord)), int64(r.Uint(maxPlain))
		b.offset, b.size, b.plain = int64(r.Uint(uint64(size))), int(r.Uint(maxPlain)), int(r.Uint(maxPlain))
		b.text, b.sum = readSum(r), readSum(r)
		b.kinds = make([]string, r.Count(1))
		for i := range b.kinds {
			if n := r.Uint(uint64(len(kinds))); n < uint64(len(kinds)) {
				b.kinds[i] = kinds[n]
			}
		}
		if b.offset+int64(b.size) > size || b.records == 0 || i > 0 && Order(blocks[i-1].first, b.first) >= 0 {
			r.Fail("block %d", i)
		}
		if blocks[i] = b; i > 0 {
			blocks[i-1].until = b.first
		}
	}
	if r.Close() != nil {
		return nil
	}
	l := newList(blocks)
	l.saved = true
	return l
}

func readSum(r *indexfile.Reader) (sum [sha256.Size]byte) {
	if b := r.Bytes(r.Count(1)); len(b) == len(sum) {
		copy(sum[:], b)
	} else {
		r.Fail("a checksum of %d bytes", len(b))
	}
	return sum
}
