package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"unique"

	"recfs/cache"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/wire"
)

// A file has the parts of blocks in any order, then what the blocks are, and its end:
//
//	| part … | directory | SHA-256 of the directory | its length u64, little-endian | magic |
//
// directory, compressed: | count | block … |
//
// block: | first text | records, bytes of lines: varint | count | kind text … | records | rows |
//
// records, rows: | size, plain, offset: varint | SHA-256 | if size is not 0
const (
	magic   = "recfsle5"
	endSize = sha256.Size + 8 + len(magic)
)

// Close removes the file of new blocks, which are of no use then.
func (s *Sink) Close() {
	if s.blob != nil {
		s.blob.Discard()
		s.blob = nil
	}
}

// Save keeps a list on disk, whose new blocks the Sink has, and returns the same list as it lies
// there: unless it is no use, which due tells, and all new blocks are in memory. Where that fails,
// they are in memory, too.
func (s *Sink) Save(l *List, due bool) *List {
	if s.blob == nil && !due {
		return l
	}
	defer s.Close()
	if saved := s.save(l); saved != nil {
		return saved
	}
	for _, b := range l.blocks {
		for _, part := range b.parts() {
			if s.blob != nil && part.src == s.blob {
				if packed, err := part.bytes(); err == nil {
					part.src, part.packed = nil, packed
				}
			}
		}
	}
	return l
}

// save writes what the file of a list lacks, and returns the list in it; nil: it cannot be written.
func (s *Sink) save(l *List) *List {
	if s.disk == nil || s.name == "" || s.begin() != nil {
		return nil
	}
	saved := &List{blocks: slices.Clone(l.blocks), sum: l.sum, lines: l.lines, kinds: l.kinds}
	for i, b := range saved.blocks {
		there := *b
		for _, part := range there.parts() {
			if part.src == s.blob || part.size == 0 {
				continue
			}
			packed, err := part.bytes()
			if err != nil || part.to(s.blob, packed) != nil {
				return nil
			}
		}
		saved.blocks[i] = &there
	}
	if _, err := s.blob.Write(saved.end()); err != nil {
		return nil
	}
	if _, err := s.blob.Commit(); err != nil {
		return nil
	}
	s.blob = nil
	return saved
}

// begin begins the file.
func (s *Sink) begin() (err error) {
	if s.blob == nil {
		s.blob, err = s.disk.Create(s.name)
	}
	return err
}

// to puts a part behind what a file has.
func (s *stored) to(blob *cache.Blob, packed []byte) error {
	s.src, s.offset, s.packed = blob, blob.Size(), nil
	_, err := blob.Write(packed)
	return err
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
		indexfile.List(c, &l.blocks, minAbout, func(b **Block) { (*b).code(c, nil, 0) })
	})
}

// code writes or reads what the directory says of a block, whose parts lie before an offset of f.
func (b *Block) code(c indexfile.Codec, f io.ReaderAt, end int64) {
	c.Values(&b.first)
	indexfile.Uint(c, &b.records, maxPlain/minRecord)
	indexfile.Uint(c, &b.lines, maxPlain)
	indexfile.List(c, &b.kinds, 1, func(kind *string) {
		if c.Values(kind); c.R != nil {
			*kind = unique.Make(*kind).Value()
		}
	})
	b.stored.code(c, f, end, maxPlain)
	b.rows.code(c, f, end, blockRows)
}

// code writes or reads what the directory says of a part: nothing more of one without bytes.
func (s *stored) code(c indexfile.Codec, f io.ReaderAt, end int64, most int) {
	if indexfile.Uint(c, &s.size, most); s.size == 0 {
		return
	}
	indexfile.Uint(c, &s.plain, most)
	indexfile.Uint(c, &s.offset, math.MaxInt64)
	sum := s.sum[:]
	if c.Values(&sum); c.R == nil {
		return
	}
	s.src = f
	if copy(s.sum[:], sum) != len(s.sum) || s.offset > end-int64(s.size) {
		c.R.Fail("%d bytes from %d", s.size, s.offset)
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
	err := indexfile.Read("catalogue", b, func(c indexfile.Codec) {
		before := (*Block)(nil)
		indexfile.List(c, &blocks, minAbout, func(to **Block) {
			b := &Block{}
			if check != nil {
				b.claim = &claim{check: check}
			}
			b.code(c, f, size)
			if b.records == 0 || !slices.IsSorted(b.kinds) || before != nil && Order(before.first, b.first) >= 0 {
				c.R.Fail("a block from %q on", b.first)
			}
			if before != nil {
				before.until = b.first
			}
			*to, before = b, b
		})
	})
	if err != nil {
		return nil
	}
	return newList(blocks)
}
