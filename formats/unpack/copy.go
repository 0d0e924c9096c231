package unpack

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"

	"recfs/cache"
	"recfs/formats"
)

// A copyWriter is a seekable copy that is being written.
type copyWriter struct {
	name string
	raw  *formats.Tally // of what is decompressed
	blob *cache.Blob
	enc  *seekable.Encoder
	z    *s2Frames // that made the frames; nil: zstd
	ends []int64   // of the frames in blob
}

// newCopyWriter begins a copy of what is read from raw, which is a container or not; nil if there
// is no disk cache.
func newCopyWriter(disk *cache.Disk, name string, raw *formats.Tally, container bool) *copyWriter {
	if disk == nil {
		return nil
	}
	var fast *s2Frames
	var z seekable.ZSTDEncoder
	var err error
	if container {
		fast = new(s2Frames)
		z = fast
	} else if z, err = frameEncoder(); err != nil {
		return nil
	}
	enc, err := seekable.NewEncoder(z)
	if err != nil {
		return nil
	}
	blob, err := disk.Create(name)
	if err != nil {
		return nil
	}
	return &copyWriter{name: name, raw: raw, blob: blob, enc: enc, z: fast}
}

// add appends a frame.
func (s *copyWriter) add(b []byte) error {
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

// frame returns frame i if it was added. There may be no copy.
func (s *copyWriter) frame(i int64) ([]byte, bool) {
	if s == nil || i >= int64(len(s.ends)) {
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
	z, err := copyDecoder(s.z != nil)
	if err != nil {
		return nil, false
	}
	b, err := z.DecodeAll(packed, make([]byte, 0, frameSize))
	return b, err == nil
}

// copyDecoder returns what decompresses the frames of a copy.
func copyDecoder(fast bool) (frameDecompressor, error) {
	if fast {
		return new(s2Frames), nil
	}
	return frameDecoder()
}

func (s *copyWriter) discard() { s.blob.Discard() }

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
	S2          bool         `json:"s2,omitempty"`     // its frames are of S2
}

// commit completes the copy of a file with that stamp and opens it; nil if that failed.
func (s *copyWriter) commit(size int64, hurt *Damage, stamp formats.Stamp) *copyFile {
	n := note{Name: s.name, Seal: s.raw.SealRead(stamp), S2: s.z != nil}
	if hurt != nil {
		n.Compression, n.Stored, n.Reason = hurt.Compression, hurt.Stored, hurt.Err.Error()
	}
	tail, err := s.tail(n)
	if err == nil {
		_, err = s.blob.Write(tail)
	}
	if err != nil {
		s.discard()
		return nil
	}
	f, err := s.blob.Commit()
	if err != nil {
		return nil
	}
	done, err := openCopyFile(f, s.name)
	if err != nil || done.size != size {
		f.Close()
		return nil
	}
	return done
}

// tail returns all that stands behind the last frame.
func (s *copyWriter) tail(n note) ([]byte, error) {
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

// A copyFile is a complete copy.
type copyFile struct {
	f      *os.File
	table  seekable.SeekTable
	z      frameDecompressor
	size   int64
	damage *Damage
	seal   formats.Seal // of what it is a copy of
}

// openCopyFile reads the tables of the copy called name. It closes f if it fails.
func openCopyFile(f *os.File, name string) (*copyFile, error) {
	s, err := openSeekTable(f, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	s.f = f
	return s, nil
}

func openSeekTable(f *os.File, name string) (*copyFile, error) {
	table, end, err := readSeekTable(f)
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
	s := &copyFile{table: table, size: int64(table.Size()), seal: n.Seal}
	if s.z, err = copyDecoder(n.S2); err != nil {
		return nil, err
	}
	if n.Reason != "" {
		s.damage = &Damage{n.Compression, n.Stored, s.size, errors.New(n.Reason)}
	}
	return s, nil
}

// frame returns frame i, which is not behind the end.
func (s *copyFile) frame(i int64) ([]byte, error) {
	e, ok := s.table.EntryByID(i)
	if !ok || int64(e.DecompressedOffset) != i*frameSize || e.DecompressedSize > frameSize || e.CompressedSize > 2*frameSize {
		return nil, io.ErrUnexpectedEOF
	}
	packed := make([]byte, e.CompressedSize)
	if _, err := s.f.ReadAt(packed, int64(e.CompressedOffset)); err != nil && err != io.EOF {
		return nil, err
	}
	b, err := readFrame(e, packed, s.z)
	if err == nil {
		err = checkSum(s.table, e, b)
	}
	return b, err
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
