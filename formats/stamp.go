package formats

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A Stamp tells the states of a file apart, also after a restart and on
// another mount: nothing in it depends on the device. What a system does not
// tell is zero.
type Stamp struct {
	Size     int64  // bytes, as the file lies there
	Modified int64  // seconds since 1970; anybody can set it
	Nanos    int64  // of Modified
	Changed  int64  // nanoseconds since 1970 when the inode was changed last; nobody can set it
	Born     int64  // nanoseconds since 1970 when the inode was made; nobody can set it
	Inode    uint64 // its number, which another file may get later
}

// Same reports whether a file whose stamp was o, and is s now, is unchanged
// for sure. If not, its bytes may still be what they were: links, modes,
// renames and copies change a stamp, too. Without a change time nothing is
// sure, as size and modification time can be the same by will or accident.
func (s Stamp) Same(o Stamp) bool {
	if s.Changed == ByContent && o.Changed == ByContent {
		return s.Size == o.Size && s.Inode == o.Inode
	}
	return s == o && s.Changed != 0
}

// ByContent is the change time of what has none, where Inode is a sum of a name that a server gives
// to these very bytes: it holds on every machine, and for a copy.
const ByContent = -1

// Time returns the modification time.
func (s Stamp) Time() time.Time { return time.Unix(s.Modified, s.Nanos) }

// StampSize is how many bytes Append appends.
const StampSize = 6 * 8

// Append appends the stamp as six little-endian numbers of 64 bits.
func (s Stamp) Append(b []byte) []byte {
	for _, n := range [...]uint64{uint64(s.Size), uint64(s.Modified), uint64(s.Nanos), uint64(s.Changed), uint64(s.Born), s.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// ReadStamp returns the stamp that Append appended to nothing; b has stampSize
// bytes or more.
func ReadStamp(b []byte) Stamp {
	var n [StampSize / 8]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return Stamp{int64(n[0]), int64(n[1]), int64(n[2]), int64(n[3]), int64(n[4]), n[5]}
}

// A Seal ties a saved index to the bytes that it was made of.
type Seal struct {
	Stamp  Stamp  // of the file when the bytes were last known to be these
	Length int64  // how many of the first bytes of the Source count
	Sum    uint64 // their xxHash64
}

// A Fit says what a saved index is worth for an Input.
type Fit int

const (
	Other Fit = iota // the Source has other bytes
	Grown            // it begins with the bytes of the index and may have more
	Same             // it has the bytes of the index and no more
)

// ErrOther says that a saved index is of other bytes than the Input.
var ErrOther = errors.New("the saved index is of other bytes")

// Fit reports what an index with this seal is worth for src. If the stamp is
// not the same, all bytes of the index are compared by their checksum, which
// reads them once; the Tally, if there is one, goes on from there.
func (s Seal) Fit(ctx context.Context, src Input) (Fit, *Tally, error) {
	if src.Sealed(ctx, s) {
		return Same, nil, nil
	}
	if s.Length < 0 || src.Size != UnknownSize && src.Size < s.Length {
		return Other, nil, nil
	}
	t := NewTally(src)
	switch err := t.skip(ctx, s.Length); {
	case err == io.EOF:
		return Other, nil, nil
	case err != nil:
		return Other, nil, err
	case t.sum.Sum64() != s.Sum:
		return Other, nil, nil
	case src.Size == s.Length:
		return Same, t, nil
	}
	return Grown, t, nil
}

// SealSize is how many bytes Append appends.
const SealSize = StampSize + 16

// Append appends the seal to b: the stamp, and two little-endian numbers of 64
// bits.
func (s Seal) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(s.Stamp.Append(b), uint64(s.Length))
	return binary.LittleEndian.AppendUint64(b, s.Sum)
}

// CutSeal returns the seal that Append put before rest.
func CutSeal(b []byte) (s Seal, rest []byte, ok bool) {
	if len(b) < SealSize {
		return Seal{}, nil, false
	}
	s = Seal{ReadStamp(b), int64(binary.LittleEndian.Uint64(b[StampSize:])), binary.LittleEndian.Uint64(b[StampSize+8:])}
	return s, b[SealSize:], true
}

// A Tally reads a source for a pass that makes an index, and computes the
// checksum of all its first bytes on the way: what the pass leaves out, the
// Tally reads by itself. It is for one goroutine.
type Tally struct {
	src ReaderAt
	at  int64 // how far the checksum reaches
	sum *xxhash.Digest
	buf []byte
}

// NewTally returns a Tally that reads src.
func NewTally(src ReaderAt) *Tally { return &Tally{src: src, sum: xxhash.New()} }

// ResumeTally returns a Tally that goes on behind the bytes of s, where another one was that had
// this State. It fails with ErrOther if the two do not belong together.
func ResumeTally(src ReaderAt, s Seal, state []byte) (*Tally, error) {
	t := NewTally(src)
	if t.sum.UnmarshalBinary(state) != nil || t.sum.Sum64() != s.Sum || s.Length < 0 {
		return nil, ErrOther
	}
	t.at = s.Length
	return t, nil
}

// State returns what ResumeTally takes besides the seal of what was read.
func (t *Tally) State() []byte {
	b, _ := t.sum.MarshalBinary() // it cannot fail
	return b
}

// ReadAt implements ReaderAt.
func (t *Tally) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if err := t.skip(ctx, off); err != nil && err != io.EOF {
		return 0, err
	}
	n, err := t.src.ReadAt(ctx, p, off)
	if done := t.at - off; done >= 0 && done < int64(n) {
		t.sum.Write(p[done:n]) //nolint:errcheck // it cannot fail
		t.at = off + int64(n)
	}
	return n, err
}

// tallyStep is how much a Tally reads at once of what the pass leaves out.
const tallyStep = 256 << 10

// skip takes in the bytes before end that the pass did not read; io.EOF: the
// source ends before.
func (t *Tally) skip(ctx context.Context, end int64) error {
	if err := ctx.Err(); err != nil || t.at >= end {
		return err
	}
	if t.buf == nil {
		t.buf = make([]byte, min(tallyStep, end-t.at))
	}
	for t.at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := t.src.ReadAt(ctx, t.buf[:min(int64(len(t.buf)), end-t.at)], t.at)
		t.sum.Write(t.buf[:n]) //nolint:errcheck // it cannot fail
		t.at += int64(n)
		if err != nil && t.at < end {
			return err
		}
		if n == 0 && err == nil {
			return io.ErrNoProgress
		}
	}
	return nil
}

// Seal returns the seal of an index that was made of the first length bytes,
// or of more if the pass read more: what the Tally did not see of them it
// reads. A source that ends before gets a seal of what there is.
func (t *Tally) Seal(ctx context.Context, stamp Stamp, length int64) (Seal, error) {
	if err := t.skip(ctx, length); err != nil && err != io.EOF {
		return Seal{}, err
	}
	return t.SealRead(stamp), nil
}

// SealRead returns the seal of what was read.
func (t *Tally) SealRead(stamp Stamp) Seal { return Seal{stamp, t.at, t.sum.Sum64()} }
