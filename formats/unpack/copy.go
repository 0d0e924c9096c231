package unpack

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"

	"github.com/klauspost/compress/s2"

	"recfs/cache"
	"recfs/formats"
	"recfs/nodes"
)

// A copy is the frames of a stream, each a block of S2, and what tells of them:
//
//	| frame … | note in JSON | length u32 and checksum u32 of each frame … | tail |
//
// tail: | bytes of the note u32 | frames u32 | checksum u32 of note, lengths and both numbers |
//
// Numbers are little-endian, checksums CRC-32C of stored bytes. S2 takes a fourth of the time of
// zstd, and up to twice the room: to list a container all of it is copied, whatever is read later.

const (
	frameEntry = 8
	tailSize   = 12

	// maxNote is how long a note may be: all that has no bound in it is the reason of a damage.
	maxNote = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A note says what a copy is of, and what is known of damage behind its last byte.
type note struct {
	Name        string       `json:"name"`
	Seal        formats.Seal `json:"seal"` // of the bytes it was decompressed from
	Size        int64        `json:"size"`
	Compression string       `json:"compression,omitempty"`
	Stored      int64        `json:"stored,omitempty"`
	Reason      string       `json:"reason,omitempty"` // "" if the stream is sound
}

// copiedFrames are the frames of a copy.
type copiedFrames struct {
	r    formats.ReaderAt
	ends []int64
	sums []uint32
}

// end returns where the frames added so far end.
func (c *copiedFrames) end() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

var errDamagedCopy = errors.New("the copy is damaged")

// frame returns frame i.
func (c *copiedFrames) frame(ctx context.Context, i int64) ([]byte, error) {
	if i >= int64(len(c.ends)) {
		return nil, io.ErrUnexpectedEOF
	}
	start := int64(0)
	if i > 0 {
		start = c.ends[i-1]
	}
	packed := make([]byte, c.ends[i]-start)
	if _, err := c.r.ReadAt(nodes.Until(ctx, start+int64(len(packed))), packed, start); err != nil && err != io.EOF {
		return nil, err
	}
	n, err := s2.DecodedLen(packed)
	if err != nil || n > frameSize || crc32.Checksum(packed, castagnoli) != c.sums[i] {
		return nil, errDamagedCopy
	}
	return s2.Decode(make([]byte, n, frameSize), packed)
}

// A copyWriter is a seekable copy that is being written.
type copyWriter struct {
	copiedFrames
	name   string
	raw    *formats.Tally // of what is decompressed
	blob   *cache.Blob
	packed []byte // the last frame that was added
}

// newCopyWriter begins a copy of what is read from raw; nil if there is no disk cache.
func newCopyWriter(disk *cache.Disk, name string, raw *formats.Tally) *copyWriter {
	blob, err := disk.Create(name)
	if err != nil {
		return nil
	}
	return &copyWriter{copiedFrames{r: nodes.Unbound(blob)}, name, raw, blob, make([]byte, s2.MaxEncodedLen(frameSize))}
}

// add appends a frame.
func (s *copyWriter) add(b []byte) error {
	packed := s2.Encode(s.packed, b)
	if _, err := s.blob.Write(packed); err != nil {
		return err
	}
	s.ends = append(s.ends, s.end()+int64(len(packed)))
	s.sums = append(s.sums, crc32.Checksum(packed, castagnoli))
	return nil
}

func (s *copyWriter) discard() { s.blob.Discard() }

// commit completes the copy of a file with that stamp and opens it; nil if that failed.
func (s *copyWriter) commit(ctx context.Context, size int64, hurt *Damage, stamp formats.Stamp) *copyFile {
	n := note{Name: s.name, Seal: s.raw.SealRead(stamp), Size: size}
	if hurt != nil {
		n.Compression, n.Stored, n.Reason = hurt.Compression, hurt.Stored, hurt.Err.Error()
	}
	b, err := json.Marshal(n)
	if err == nil {
		_, err = s.blob.Write(s.table(b))
	}
	if err != nil {
		s.discard()
		return nil
	}
	f, err := s.blob.Commit()
	if err != nil {
		return nil
	}
	done, _ := openCopyFile(ctx, f, s.name)
	return done
}

// table returns all that stands behind the last frame, with that note.
func (s *copyWriter) table(note []byte) []byte {
	le, b := binary.LittleEndian, note
	start := int64(0)
	for i, end := range s.ends {
		b = le.AppendUint32(le.AppendUint32(b, uint32(end-start)), s.sums[i])
		start = end
	}
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(note))), uint32(len(s.ends)))
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// A copyFile is a complete copy.
type copyFile struct {
	copiedFrames
	f      cache.BehindFile // here, too
	name   string
	size   int64
	damage *Damage
	seal   formats.Seal // of what it is a copy of
}

// openCopyFile reads the table of the copy called name. It closes f if it fails.
func openCopyFile(ctx context.Context, f cache.BehindFile, name string) (*copyFile, error) {
	s := &copyFile{copiedFrames: copiedFrames{r: f}, f: f, name: name}
	if err := s.open(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *copyFile) open(ctx context.Context) error {
	le, b := binary.LittleEndian, make([]byte, tailSize)
	if _, err := s.f.ReadAt(ctx, b, s.f.Size()-tailSize); err != nil && err != io.EOF {
		return err
	}
	size, frames := int64(le.Uint32(b)), int64(le.Uint32(b[4:]))
	at := s.f.Size() - tailSize - size - frames*frameEntry
	if size > maxNote || frames > maxFrames || at < 0 {
		return errDamagedCopy
	}
	b = make([]byte, s.f.Size()-at)
	if _, err := s.f.ReadAt(ctx, b, at); err != nil && err != io.EOF {
		return err
	}
	sum := len(b) - 4
	if crc32.Checksum(b[:sum], castagnoli) != le.Uint32(b[sum:]) {
		return errDamagedCopy
	}
	for e := b[size:][:frames*frameEntry]; len(e) > 0; e = e[frameEntry:] {
		s.ends = append(s.ends, s.end()+int64(le.Uint32(e)))
		s.sums = append(s.sums, le.Uint32(e[4:]))
	}
	var n note
	if err := json.Unmarshal(b[:size], &n); err != nil {
		return err
	}
	if n.Name != s.name || s.end() != at {
		return errors.New("a copy of something else")
	}
	s.size, s.seal = n.Size, n.Seal
	if n.Reason != "" {
		s.damage = &Damage{n.Compression, n.Stored, s.size, errors.New(n.Reason)}
	}
	return nil
}

// A store is where the seekable copy of one version of a file lies in the disk cache.
type store struct {
	disk *cache.Disk
	log  *slog.Logger
	packedFile
	place cache.Place
	good  *formats.Seal // of a copy that is known to be of raw; nil: none is yet
	bad   bool          // that of others is damaged
}

// newStore returns where the copy of what c makes of raw lies, nil if none is made.
func newStore(disk *cache.Disk, log *slog.Logger, f packedFile) *store {
	// The number is raised when copies are written in another way, or a decoder gives other bytes, or
	// damage, than before.
	place := f.content.At(fmt.Sprintf("unpacked-6 %s %s", f.c.Name, f.c.Stream))
	if disk == nil || place == nil {
		return nil
	}
	return &store{disk: disk, log: log, packedFile: f, place: place}
}

// open opens the complete copy; nil if there is none.
func (s *store) open(ctx context.Context) *copyFile {
	found := s.place.Find(ctx)
	if len(found.Names) == 0 {
		return nil
	}
	name := found.Names[0]
	done := s.openHere(ctx, name)
	if done == nil {
		done = s.openBehind(ctx, name)
	}
	if done != nil && !s.isOf(ctx, done.seal) {
		done.f.Close()
		return nil
	}
	return done
}

// openHere opens the copy in the disk cache. A damaged one is removed.
func (s *store) openHere(ctx context.Context, name string) *copyFile {
	f, err := s.disk.Open(name)
	if err != nil {
		return nil
	}
	done, err := openCopyFile(ctx, f, name)
	if err != nil {
		s.disk.Remove(name, f.Info)
		return nil
	}
	s.disk.Used(name)
	return done
}

// openBehind opens the copy that others have.
func (s *store) openBehind(ctx context.Context, name string) *copyFile {
	if s.bad {
		return nil
	}
	f, err := s.disk.OpenBehind(ctx, name)
	if err != nil {
		return nil
	}
	done, err := openCopyFile(ctx, f, name)
	if err != nil {
		s.bad = ctx.Err() == nil && !cache.IsShort(err)
		return nil
	}
	return done
}

// begin begins a copy of what is read from raw; nil if there can be none.
func (s *store) begin(ctx context.Context, raw *formats.Tally) *copyWriter {
	name := s.place.Name(ctx)
	if name == "" {
		return nil
	}
	return newCopyWriter(s.disk, name, raw)
}

// isOf reports whether a copy with that seal is of this file. If neither the stamp nor a note of
// its place tells, all that was decompressed is compared.
func (s *store) isOf(ctx context.Context, seal formats.Seal) bool {
	if s.good != nil && s.good.Sum == seal.Sum {
		return true
	}
	in := formats.Input{ReaderAt: s.raw, Size: s.key.Version.Size, Stamp: s.key.Version.Stamp, Content: s.content}
	fit, tally, err := seal.Fit(ctx, in)
	if err != nil || fit == formats.Other {
		return false
	}
	if tally != nil {
		s.content.Prove(ctx, seal)
	}
	s.good = &seal
	return true
}

// commit completes a copy and opens it; nil if that failed.
func (s *store) commit(ctx context.Context, part *copyWriter, e *end) *copyFile {
	done := part.commit(ctx, e.size, e.hurt, s.key.Version.Stamp)
	if done != nil {
		s.good = &done.seal
		s.disk.Used(done.name)
	}
	return done
}

// damaged removes a copy whose frames cannot be read.
func (s *store) damaged(done *copyFile, err error) {
	local, ok := done.f.(*cache.LocalFile)
	if !ok {
		s.log.Warn("the shared copy cannot be read", "copy", done.name, "err", err)
		s.bad = true
		return
	}
	s.log.Warn("cache file is damaged and is made again", "path", local.Name(), "err", err)
	s.disk.Remove(done.name, local.Info)
}
