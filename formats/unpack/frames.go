package unpack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	seekable "github.com/SaveTheRbtz/zstd-seekable-format-go/pkg"
	"github.com/SaveTheRbtz/zstd-seekable-format-go/pkg/framecache"
	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"recfs/formats"
	"recfs/formats/source"
)

// frameSize is how much of a stream is made, kept and copied at once: small enough that a jump into
// a copy costs a tenth of a millisecond or so and keeps little that nobody asked for, large enough
// that a copy loses little by beginning anew with each.
const frameSize = 64 << 10

var frameBuffers sync.Pool // of *[frameSize]byte

// frameFor returns an empty frame for the first bytes of a stream: with room for the size bytes
// that it should give and one more, where it ends, or for a whole frame if it gives more or that is
// not known.
func frameFor(size int64) []byte {
	if size == formats.UnknownSize || size >= frameSize {
		return newFrame()
	}
	return make([]byte, 0, size+1)
}

// newFrame returns an empty frame with room for a whole one.
func newFrame() []byte {
	if b, ok := frameBuffers.Get().(*[frameSize]byte); ok {
		return b[:0]
	}
	return make([]byte, 0, frameSize)
}

// dropFrame takes a frame that nobody uses any more.
func dropFrame(b []byte) {
	if cap(b) == frameSize {
		frameBuffers.Put((*[frameSize]byte)(b[:frameSize]))
	}
}

// kept returns a frame, which nobody else uses, without room that it does not need: most members of
// a container are much shorter than a frame.
func kept(b []byte) []byte {
	if cap(b)-len(b) <= 1 {
		return b
	}
	exact := make([]byte, len(b))
	copy(exact, b)
	dropFrame(b)
	return exact
}

// maxFrame is the largest frame of a seekable zstd file of a user that is
// used as it is.
const maxFrame = 16 << 20

// frameDecoder works on whole frames of zstd, for all at once.
var frameDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxFrame))
})

// maxFrames is how many frames a seekable zstd file may have: the table of
// them is held in memory, 16 bytes for each, so 16 MiB at most.
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

// readFrame returns the frame that an entry of a seek table describes.
func readFrame(e seekable.FrameOffsetEntry, packed []byte) ([]byte, error) {
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
	}
	return b, nil
}

// checkSum compares a frame with its checksum in the seek table, if that has any.
func checkSum(table seekable.SeekTable, e seekable.FrameOffsetEntry, b []byte) error {
	if table.HasChecksums() && uint32(xxhash.Sum64(b)) != e.Checksum {
		return errors.New("the checksum in the seek table is another")
	}
	return nil
}

// readSeekTable reads the table of a seekable file, and returns where its last frame ends.
func readSeekTable(rs io.ReadSeeker) (table seekable.SeekTable, end int64, err error) {
	n, err := countFrames(rs)
	if err == nil && n > maxFrames {
		err = errors.New("too many frames")
	}
	if err != nil {
		return table, 0, err
	}
	z, err := frameDecoder()
	if err != nil {
		return table, 0, err
	}
	r, err := seekable.NewReader(rs, z, seekable.WithReaderFrameCache(framecache.NewFIFO(framecache.Limits{MaxFrames: 0})))
	if err != nil {
		return table, 0, err
	}
	if table, err = r.SeekTable(); err != nil {
		return table, 0, err
	}
	if n := table.NumFrames(); n > 0 {
		last, ok := table.EntryByID(n - 1)
		if !ok || last.CompressedOffset+uint64(last.CompressedSize) > math.MaxInt64 {
			return table, 0, errors.New("seek table out of range")
		}
		end = int64(last.CompressedOffset) + int64(last.CompressedSize)
	}
	return table, end, nil
}

// A frameKey is a frame of a file.
type frameKey struct {
	file source.FileKey
	i    int64
}
