package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"unique"

	"recfs/cache"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/wire"
)

// A file has the blocks in the order of the list, then what they are, and its end:
//
//	| block … | directory | SHA-256 of the directory | its length u64, little-endian | magic |
//
// directory, compressed: | count | block … |
//
// block: | first text | records, bytes of lines: varint | count | kind text … | part | part |
//
// part: | size, plain: varint | SHA-256 | if size is not 0
//
// The bytes of a block are those of its records, then the rows of their tables.
const (
	magic   = "recfsle4"
	endSize = sha256.Size + 8 + len(magic)
)

// Close removes the file of new blocks, which are of no use then.
func (s *Sink) Close() {
	if s.temp != nil {
		s.temp.Discard()
		s.temp = nil
	}
}

// Save keeps a list on disk, whose new blocks the Sink has, and returns the same list as it lies
// there: unless it is no use, which due tells, and all new blocks are in memory. Where that fails,
// they are in memory, too.
func (s *Sink) Save(l *List, due bool) *List {
	if s.temp == nil && !due {
		return l
	}
	defer s.Close()
	if saved := s.save(l); saved != nil {
		return saved
	}
	for _, b := range l.blocks {
		for _, part := range b.parts() {
			if s.temp != nil && part.src == s.temp {
				if packed, err := part.bytes(); err == nil {
					part.src, part.packed = nil, packed
				}
			}
		}
	}
	return l
}

// save writes the file of a list, and returns the list in it; nil: it cannot be written.
func (s *Sink) save(l *List) *List {
	if s.disk == nil || s.name == "" {
		return nil
	}
	blob, err := s.disk.Create(s.name)
	if err != nil {
		return nil
	}
	saved := &List{blocks: make([]*Block, len(l.blocks)), sum: l.sum, lines: l.lines, kinds: l.kinds}
	for i, b := range l.blocks {
		if saved.blocks[i], err = b.save(blob); err != nil {
			break
		}
	}
	if err == nil {
		_, err = blob.Write(l.end())
	}
	if err != nil {
		blob.Discard()
		return nil
	}
	if _, err := blob.Commit(); err != nil {
		return nil
	}
	return saved
}

// save writes a block, and returns it as it lies there.
func (b *Block) save(blob *cache.Blob) (*Block, error) {
	saved := *b
	for _, part := range saved.parts() {
		packed, err := part.bytes()
		if err != nil {
			return nil, err
		}
		part.src, part.offset, part.packed = blob, blob.Size(), nil
		if _, err = blob.Write(packed); err != nil {
			return nil, err
		}
	}
	return &saved, nil
}

// end returns what follows after the blocks in a file.
func (l *List) end() []byte {
	b := wire.Pack(l.directory())
	sum := sha256.Sum256(b)
	b = binary.LittleEndian.AppendUint64(append(b, sum[:]...), uint64(len(b)))
	return append(b, magic...)
}

func (l *List) directory() []byte {
	return indexfile.Append(nil, func(c indexfile.Codec) {
		indexfile.List(c, &l.blocks, minAbout, func(b **Block) { (*b).code(c, nil, new(int64)) })
	})
}

// code writes or reads what the directory says of a block, whose first part lies at an offset of f.
func (b *Block) code(c indexfile.Codec, f io.ReaderAt, at *int64) {
	c.Values(&b.first)
	indexfile.Uint(c, &b.records, maxPlain/minRecord)
	indexfile.Uint(c, &b.lines, maxPlain)
	indexfile.List(c, &b.kinds, 1, func(kind *string) {
		if c.Values(kind); c.R != nil {
			*kind = unique.Make(*kind).Value()
		}
	})
	b.stored.code(c, f, at, maxPlain)
	b.rows.code(c, f, at, blockRows)
}

// code writes or reads what the directory says of a part: nothing more of one without bytes.
func (s *stored) code(c indexfile.Codec, f io.ReaderAt, at *int64, most int) {
	if indexfile.Uint(c, &s.size, most); s.size == 0 {
		return
	}
	indexfile.Uint(c, &s.plain, most)
	sum := s.sum[:]
	if c.Values(&sum); c.R == nil {
		return
	}
	s.src, s.offset = f, *at
	*at += int64(s.size)
	if copy(s.sum[:], sum) != len(s.sum) {
		c.R.Fail("a checksum of another length")
	}
}

// Load returns the list that is kept under a name, an empty one if there is none. Of its records
// check tells whether a walk can have found them: the checksums do not, as anybody who can write to
// the cache can make them.
func Load(disk *cache.Disk, name string, check func([]Record) bool) *List {
	if disk == nil || name == "" {
		return newList(nil)
	}
	f, err := disk.Open(name)
	if err != nil {
		return newList(nil)
	}
	if l := read(f.File, f.Size(), check); l != nil {
		return l
	}
	disk.Remove(name, f.Info)
	f.Close()
	return newList(nil)
}

// read returns the list in a file, nil if there is none. Its blocks keep the file open.
func read(f io.ReaderAt, size int64, check func([]Record) bool) *List {
	end := make([]byte, endSize)
	at := size - int64(endSize)
	if at < 0 {
		return nil
	}
	if _, err := f.ReadAt(end, at); err != nil || string(end[sha256.Size+8:]) != magic {
		return nil
	}
	length := binary.LittleEndian.Uint64(end[sha256.Size:])
	if length > uint64(at) {
		return nil
	}
	b, err := io.ReadAll(io.NewSectionReader(f, at-int64(length), int64(length)))
	if err != nil || sha256.Sum256(b) != [sha256.Size]byte(end) {
		return nil
	}
	plain, err := wire.Unzstd(b, maxPlain)
	if err != nil {
		return nil
	}
	return readDirectory(plain, at-int64(length), f, check)
}

// minAbout is the least bytes that a block takes in the directory.
const minAbout = 1 + 4 + 1 + 1 + 1

// readDirectory returns the list of a directory, whose blocks are the first bytes of a file.
func readDirectory(b []byte, size int64, f io.ReaderAt, check func([]Record) bool) *List {
	var blocks []*Block
	at := int64(0)
	err := indexfile.Read("catalogue", b, func(c indexfile.Codec) {
		before := (*Block)(nil)
		indexfile.List(c, &blocks, minAbout, func(to **Block) {
			b := &Block{}
			if check != nil {
				b.claim = &claim{check: check}
			}
			b.code(c, f, &at)
			if b.records == 0 || !slices.IsSorted(b.kinds) || before != nil && Order(before.first, b.first) >= 0 {
				c.R.Fail("a block from %q on", b.first)
			}
			if before != nil {
				before.until = b.first
			}
			*to, before = b, b
		})
	})
	if err != nil || at != size {
		return nil
	}
	return newList(blocks)
}
