// Package indexfile is the codec of saved indexes: what a pass over a recording learned, kept on
// disk by a durable cache.Memo at the place of formats.Input.Place. The values are those of
// each format. The head before them, the encodings of numbers, texts and lists, and what bounds
// them are the same for all.
//
// A saved index is nothing to rely on, although the store has a checksum of it: who can write to
// the cache can make both. A Reader never panics and allocates no more than the bytes that are
// there account for, but what it reads are only numbers and texts. A format has to hold them
// against each other and against the source before it uses them.
package indexfile

import (
	"encoding/binary"
	"math"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// Layout is the number of the layout of all saved indexes. It is raised whenever a format would
// save other bytes for the same recording: when the encoding changes, when a pass finds something
// else or says it in other words, and when lengths that are saved become those of another text. An
// index with another number is made again, in all formats: that is rare, and one number cannot be
// forgotten in one place of five. Goldens of the formats and of the catalogue, whose records are
// made of indexes, fail where it was not raised (nodestest.Saved).
const Layout = 20

// The head of a saved index. Numbers are little-endian. The stamp and the seal are those of
// formats.Stamp and formats.Seal.
//
//	 0       2       10      18      26      34      42      50      58      66
//	+-------+-------+-------+-------+-------+-------+-------+-------+-------+--------
//	|Layout | size  | mtime | nanos | ctime | btime | inode |length | sum   | values
//	|  u16  |  u64  |  u64  |  u64  |  u64  |  u64  |  u64  |  u64  |  u64  | …
//	+-------+-------+-------+-------+-------+-------+-------+-------+-------+--------
//	        |<---------------- formats.Stamp ------------->|
//	        |<------------------------ formats.Seal ---------------------->|

// HeadSize is how many bytes the head has.
const HeadSize = 2 + formats.SealSize

// NewWriter returns a Writer that has written the head of an index with this seal. size is about
// how many bytes the index will take, so that it need not be copied to grow.
func NewWriter(seal formats.Seal, size int) *Writer {
	w := &Writer{make([]byte, 0, max(size, HeadSize))}
	w.b = binary.LittleEndian.AppendUint16(w.b, Layout)
	w.Seal(seal)
	return w
}

// Open reads the head of a saved index and returns a Reader of its values. If the index has another
// layout, or is too short, the Reader has failed. The format is named in errors.
func Open(format string, saved []byte) (*Reader, formats.Seal) {
	r := NewReader(format, saved)
	if n := r.U16(); n != Layout {
		r.Fail("a saved index of layout %d, not %d", n, Layout)
	}
	return r, r.Seal()
}

// A Writer appends values. The zero value writes what is no index by itself: a part of one.
type Writer struct{ b []byte }

// Bytes returns what was written, up to the next call of another method.
func (w *Writer) Bytes() []byte { return w.b }

// Reset takes back what was written and keeps the memory for what comes next.
func (w *Writer) Reset() { w.b = w.b[:0] }

// A Reader reads in the same order what a Writer wrote. The first failure sticks, as in a
// wire.Cursor: after it every value is zero and every list is empty, and Err says what it was. A
// failure is a *formats.Error that wraps formats.ErrCorrupt or io.ErrUnexpectedEOF, with the offset
// in the index.
type Reader struct {
	*wire.Cursor
	texts map[string]string // those that shared returned
}

// NewReader returns a Reader of a part of an index.
func NewReader(format string, b []byte) *Reader { return &Reader{Cursor: wire.NewCursor(format, b, 0)} }

// Close returns the first failure. Bytes that are left are one.
func (r *Reader) Close() error {
	if n := r.Len(); n > 0 {
		r.Fail("%d bytes after the saved index", n)
	}
	return r.Err()
}

// Below are the values, each Writer before its Reader. "varint" is an unsigned LEB128 number (7
// bits a byte, least significant group first, top bit: more follows) of 10 bytes at most, and
// "zigzag" a varint that stands for 0, -1, 1, -2, 2 ….

// Uint writes an unsigned number.
//
//	| varint |
func (w *Writer) Uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

// Uint reads a number that is at most limit.
func (r *Reader) Uint(limit uint64) uint64 {
	v := r.Uvarint(binary.MaxVarintLen64)
	if v > limit {
		r.Fail("%d where at most %d is possible", v, limit)
		return 0
	}
	return v
}

// Size writes a number of bytes, an offset, or another number that is never negative.
//
//	| varint |
func (w *Writer) Size(v int64) { w.Uint(uint64(v)) }

// Size reads a number from 0 to the greatest int64.
func (r *Reader) Size() int64 { return int64(r.Uint(math.MaxInt64)) }

// Int writes a number with a sign.
//
//	| zigzag |
func (w *Writer) Int(v int64) { w.b = binary.AppendVarint(w.b, v) }

// Int reads a number with a sign.
func (r *Reader) Int() int64 { return wire.Zigzag(r.Uvarint(binary.MaxVarintLen64)) }

// Int32 reads a number with a sign that Int wrote, if it fits into 32 bits.
func (r *Reader) Int32() int32 {
	v := r.Int()
	if int64(int32(v)) != v {
		r.Fail("%d where 32 bits are possible", v)
		return 0
	}
	return int32(v)
}

// Bool writes 0 or 1.
//
//	| u8 |
func (w *Writer) Bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	w.b = append(w.b, b)
}

// Bool reads 0 or 1.
func (r *Reader) Bool() bool {
	v := r.U8()
	if v > 1 {
		r.Fail("%d where 0 or 1 is possible", v)
	}
	return v == 1
}

// U8 writes a byte.
//
//	| u8 |
func (w *Writer) U8(v uint8) { w.b = append(w.b, v) }

// F32 writes a number that the Reader's F32 reads.
//
//	| IEEE 754, little-endian, 4 bytes |
func (w *Writer) F32(v float32) { w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(v)) }

// F64 writes a number that the Reader's F64 reads.
//
//	| IEEE 754, little-endian, 8 bytes |
func (w *Writer) F64(v float64) { w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v)) }

// Blob writes bytes with their number.
//
//	| n varint | n bytes |
func (w *Writer) Blob(b []byte) {
	w.Count(len(b))
	w.b = append(w.b, b...)
}

// Blob reads bytes. They are a copy, which does not keep the whole index in memory; nil for none.
func (r *Reader) Blob() []byte {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	return append([]byte(nil), r.Bytes(n)...)
}

// Text writes a string, which need not be UTF-8.
//
//	| n varint | n bytes |
func (w *Writer) Text(s string) {
	w.Count(len(s))
	w.b = append(w.b, s...)
}

// Text reads a string.
func (r *Reader) Text() string { return string(r.Bytes(r.Count(1))) }

// shared is Text that returns equal texts as one: most players come again and again.
func (r *Reader) shared() string {
	b := r.Bytes(r.Count(1))
	s, ok := r.texts[string(b)]
	if !ok {
		if s = string(b); r.texts == nil {
			r.texts = map[string]string{}
		}
		r.texts[s] = s
	}
	return s
}

// Count writes how many elements follow.
//
//	| varint |
func (w *Writer) Count(n int) { w.Uint(uint64(n)) }

// Count reads how many elements follow. Each takes at least size bytes, so there are no more than
// what is left of the index has room for: a list of so many may be allocated at once.
func (r *Reader) Count(size int) int {
	n := r.Uint(math.MaxInt)
	if room := r.Len() / size; n > uint64(room) {
		r.Fail("%d elements where there is room for %d", n, room)
		return 0
	}
	return int(n)
}

// Seal writes the seal of a file, of which a recording may have more than the one in the head.
//
//	| formats.Seal, 64 bytes |
func (w *Writer) Seal(s formats.Seal) { w.b = s.Append(w.b) }

// Seal reads the seal of a file.
func (r *Reader) Seal() formats.Seal {
	s, _, _ := formats.CutSeal(r.Bytes(formats.SealSize)) // if there are too few bytes, r has failed
	return s
}
