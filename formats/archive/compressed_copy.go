package archive

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/SaveTheRbtz/zstd-seekable-format-go/pkg/framecache"
	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// maxFrame is the largest frame of a seekable zstd file of a user that is
// used as it is.
const maxFrame = 16 << 20

// frameEncoder and frameDecoder work on whole frames, for all at once.
var (
	frameEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(frameSize))
	})
	frameDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxFrame))
	})
)

// A spill is a seekable copy that is being written.
type spill struct {
	name string
	raw  *formats.Tally // of what is decompressed
	blob *cache.Blob
	enc  *seekable.Encoder
	ends []int64 // of the frames in blob
}

// newSpill begins a copy of what is read from raw; nil if there is no disk
// cache.
func (a *archive) newSpill(name string, raw *formats.Tally) *spill {
	if a.opt.Disk == nil {
		return nil
	}
	z, err := frameEncoder()
	if err != nil {
		return nil
	}
	enc, err := seekable.NewEncoder(z)
	if err != nil {
		return nil
	}
	blob, err := a.opt.Disk.Create(name)
	if err != nil {
		return nil
	}
	return &spill{name: name, raw: raw, blob: blob, enc: enc}
}

// add appends a frame.
func (s *spill) add(b []byte) error {
	packed, err := s.enc.Encode(b)
	if err != nil {
		return err
	}
	if _, err := s.blob.Write(packed); err != nil {
		return err
	}
	s.ends = append(s.ends, s.blob.Size())
	return nil
}

// frame returns frame i if it was added.
func (s *spill) frame(i int64) ([]byte, bool) {
	if i >= int64(len(s.ends)) {
		return nil, false
	}
	start := int64(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	packed := make([]byte, s.ends[i]-start)
	if _, err := s.blob.ReadAt(packed, start); err != nil && err != io.EOF {
		return nil, false
	}
	z, err := frameDecoder()
	if err != nil {
		return nil, false
	}
	b, err := z.DecodeAll(packed, make([]byte, 0, frameSize))
	return b, err == nil
}

func (s *spill) discard() { s.blob.Discard() }

// Behind the last frame of a copy stand, in a skippable frame that begins with
// noteMagic, a checksum and a note in JSON. The checksum (CRC-32C) is of the
// note and of all behind it: frames have their own ones, the seek table has none.
const (
	noteMagic = 0x184D2A5D
	noteHead  = 12             // magic, length, checksum
	maxTail   = maxFrames * 16 // bytes of note and seek table
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A note says what a copy is of, and what is known of damage behind its last byte.
type note struct {
	Name        string       `json:"name"`
	Seal        formats.Seal `json:"seal"` // of the bytes it was decompressed from
	Compression string       `json:"compression,omitempty"`
	Stored      int64        `json:"stored,omitempty"`
	Reason      string       `json:"reason,omitempty"` // "" if the stream is sound
}

// commit completes the copy of a file with that stamp and opens it; nil if
// that failed.
func (s *spill) commit(size int64, hurt *damage, stamp formats.Stamp) *spilled {
	f, err := s.complete(hurt, stamp)
	if err != nil {
		return nil
	}
	done, err := openSpilled(f, s.name)
	if err != nil || done.size != size {
		f.Close()
		return nil
	}
	return done
}

func (s *spill) complete(hurt *damage, stamp formats.Stamp) (*os.File, error) {
	n := note{Name: s.name, Seal: s.raw.SealRead(stamp)}
	if hurt != nil {
		n.Compression, n.Stored, n.Reason = hurt.compression, hurt.stored, hurt.err.Error()
	}
	tail, err := s.tail(n)
	if err == nil {
		_, err = s.blob.Write(tail)
	}
	if err != nil {
		s.discard()
		return nil, err
	}
	return s.blob.Commit()
}

// tail returns all that stands behind the last frame.
func (s *spill) tail(n note) ([]byte, error) {
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	table, err := s.enc.EndStream()
	if err != nil {
		return nil, err
	}
	sum := crc32.Update(crc32.Checksum(text, castagnoli), castagnoli, table)
	head := binary.LittleEndian.AppendUint32(nil, noteMagic)
	head = binary.LittleEndian.AppendUint32(head, uint32(4+len(text)))
	head = binary.LittleEndian.AppendUint32(head, sum)
	return slices.Concat(head, text, table), nil
}

// A spilled is a complete copy.
type spilled struct {
	f      *os.File
	r      *seekable.Reader
	size   int64
	damage *damage
	seal   formats.Seal // of what it is a copy of
}

// openSpilled reads the tables of the copy called name. It closes f if it fails.
func openSpilled(f *os.File, name string) (*spilled, error) {
	s, err := openSeekTable(f, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.f = f
	return s, nil
}

func openSeekTable(f *os.File, name string) (*spilled, error) {
	r, end, err := openSeekableReader(f)
	if err != nil {
		return nil, err
	}
	table, err := r.SeekTable()
	if err != nil {
		return nil, err
	}
	n, err := readNote(io.NewSectionReader(f, end, maxTail))
	if err != nil {
		return nil, err
	}
	if n.Name != name {
		return nil, errors.New("a copy of something else")
	}
	s := &spilled{r: r, size: int64(table.Size()), seal: n.Seal}
	if n.Reason != "" {
		s.damage = &damage{n.Compression, n.Stored, s.size, errors.New(n.Reason)}
	}
	return s, nil
}

// readNote reads all that stands behind the last frame.
func readNote(r io.Reader) (n note, err error) {
	tail, err := io.ReadAll(r)
	if err != nil {
		return n, err
	}
	if len(tail) < noteHead || binary.LittleEndian.Uint32(tail) != noteMagic ||
		binary.LittleEndian.Uint32(tail[8:]) != crc32.Checksum(tail[noteHead:], castagnoli) {
		return n, errors.New("wrong checksum")
	}
	size := int64(binary.LittleEndian.Uint32(tail[4:])) - 4
	if size < 0 || size > int64(len(tail)-noteHead) {
		return n, errors.New("wrong length")
	}
	err = json.Unmarshal(tail[noteHead:][:size], &n)
	return n, err
}

// maxFrames is how many frames a seekable zstd file may have: the table of
// them is held in memory.
const maxFrames = 1 << 20

// countFrames reads the end of a seekable zstd file: the number of frames, a
// byte and a magic number.
func countFrames(rs io.ReadSeeker) (uint32, error) {
	var end [9]byte
	if _, err := rs.Seek(-int64(len(end)), io.SeekEnd); err != nil {
		return 0, err
	}
	_, err := io.ReadFull(rs, end[:])
	return binary.LittleEndian.Uint32(end[:]), err
}

// openSeekableReader opens a seekable zstd file and returns where its last
// frame ends.
func openSeekableReader(rs io.ReadSeeker) (r *seekable.Reader, end int64, err error) {
	n, err := countFrames(rs)
	if err == nil && n > maxFrames {
		err = errors.New("too many frames")
	}
	if err != nil {
		return nil, 0, err
	}
	z, err := frameDecoder()
	if err != nil {
		return nil, 0, err
	}
	r, err = seekable.NewReader(rs, z, seekable.WithReaderFrameCache(framecache.NewFIFO(framecache.Limits{MaxFrames: 0})))
	if err != nil {
		return nil, 0, err
	}
	table, err := r.SeekTable()
	if err != nil {
		return nil, 0, err
	}
	if n := table.NumFrames(); n > 0 {
		last, ok := table.EntryByID(n - 1)
		if !ok || last.CompressedOffset+uint64(last.CompressedSize) > math.MaxInt64 {
			return nil, 0, errors.New("seek table out of range")
		}
		end = int64(last.CompressedOffset) + int64(last.CompressedSize)
	}
	return r, end, nil
}

// A seekableReader reads a file that a user has compressed as seekable zstd.
type seekableReader struct {
	a     *archive
	raw   nodes.ReaderAt
	table seekable.SeekTable
	size  int64
	wrong func() // is told that the file is not what its table says
}

// openSeekable opens a file of size bytes as seekable zstd; nil if it is
// not, or if its frames are too large to be used one by one.
func (a *archive) openSeekable(ctx context.Context, raw nodes.ReaderAt, size int64, wrong func()) *seekableReader {
	r, end, err := openSeekableReader(io.NewSectionReader(nodes.At(ctx, raw), 0, size))
	if err != nil {
		return nil
	}
	table, err := r.SeekTable()
	if err != nil || table.Size() > math.MaxInt64 || bomb(int64(table.Size()), size) != nil {
		return nil
	}
	n := table.NumFrames()
	entry := int64(8)
	if table.HasChecksums() {
		entry += 4
	}
	if end+8+n*entry+9 != size { // something stands between, or lies about its length
		return nil
	}
	for i := range n {
		if e, ok := table.EntryByID(i); !ok || e.DecompressedSize > maxFrame || e.CompressedSize > 2*maxFrame {
			return nil
		}
	}
	return &seekableReader{a, raw, table, int64(table.Size()), wrong}
}

// seekableKey is a frame of a user's file.
type seekableKey struct {
	r *seekableReader
	i int64
}

func (a *archive) loadSeekableFrame(ctx context.Context, k seekableKey) ([]byte, int64, error) {
	e, ok := k.r.table.EntryByID(k.i)
	if !ok {
		return nil, 0, io.ErrUnexpectedEOF
	}
	work := int64(e.CompressedSize) + int64(e.DecompressedSize)
	if err := a.work.acquire(ctx, a.depth, work); err != nil {
		return nil, 0, err
	}
	defer a.work.release(a.depth, work)
	packed := make([]byte, e.CompressedSize)
	if n, err := k.r.raw.ReadAt(ctx, packed, int64(e.CompressedOffset)); n < len(packed) {
		return nil, 0, err
	}
	b, err := k.r.decode(packed, &e)
	if err != nil {
		k.r.wrong()
		return nil, 0, err
	}
	return b, int64(cap(b)) + 128, nil
}

// decode returns a frame as its entry in the seek table describes it.
func (r *seekableReader) decode(packed []byte, e *seekable.FrameOffsetEntry) ([]byte, error) {
	z, err := frameDecoder()
	if err != nil {
		return nil, err
	}
	b, err := z.DecodeAll(packed, make([]byte, 0, e.DecompressedSize))
	switch {
	case err != nil:
		return nil, err
	case len(b) != int(e.DecompressedSize):
		return nil, fmt.Errorf("a frame of %d bytes, the seek table has %d", len(b), e.DecompressedSize)
	case r.table.HasChecksums() && uint32(xxhash.Sum64(b)) != e.Checksum:
		return nil, errors.New("the checksum in the seek table is another")
	}
	return b, nil
}

// ReadAt reads decompressed bytes.
func (r *seekableReader) ReadAt(ctx context.Context, p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, os.ErrInvalid
	}
	for n < len(p) {
		at := off + int64(n)
		e, ok := r.table.EntryByDecompressedOffset(uint64(at))
		if !ok {
			return n, io.EOF
		}
		b, err := r.a.seekFrames.Get(ctx, seekableKey{r, e.ID})
		if err != nil {
			return n, err
		}
		n += copy(p[n:], b[at-int64(e.DecompressedOffset):])
	}
	return n, nil
}
