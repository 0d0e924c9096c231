package datafile

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

// checkBlock is a size: a stream is inflated up to its next multiple behind the announced size.
// That tells a broken stream from a long one, and a slightly wrong size from a bomb.
const checkBlock = 1 << 20

// fault says why one object of a datafile cannot be shown. The code is that of its problem in
// index.json.
func fault(code string, offset int64, msg string, args ...any) error {
	e := formats.Corrupt(formatName, offset, msg, args...)
	e.Code = code
	return e
}

// isFault reports whether err is damage of the file, not a failure to read it.
func isFault(err error) bool {
	_, ok := formats.Coded(err)
	return ok
}

// ReadData returns the content of data item i.
func (r *Reader) ReadData(ctx context.Context, i int) ([]byte, error) {
	stored, err := r.readStored(ctx, i)
	if err != nil || !r.compressed(i) {
		return stored, err
	}
	content, _, err := wire.Zlib(stored, r.Data[i].Size)
	if err == nil {
		return content, nil
	}
	if _, err := r.inflate(ctx, i, bytes.NewReader(stored), io.Discard); err != nil {
		return nil, err
	}
	return nil, zlibFault(i, r.Data[i], err)
}

// CheckData inflates data item i to w, which may get some of what turns out to be damaged. It
// returns the number of bytes after the zlib stream.
func (r *Reader) CheckData(ctx context.Context, i int, w io.Writer) (trailing int64, err error) {
	if err := r.checkStored(i); err != nil || !r.compressed(i) && w == io.Discard {
		return 0, err
	}
	d := r.Data[i]
	section := io.NewSectionReader(formats.At(ctx, r.src), d.Offset, d.Stored)
	if !r.compressed(i) {
		_, err := io.Copy(w, section)
		return 0, err
	}
	buffered, err := r.inflate(ctx, i, section, w)
	if err != nil {
		return 0, err
	}
	at, err := section.Seek(0, io.SeekCurrent)
	return d.Stored - at + int64(buffered), err
}

// inflate inflates data item i to w. It reads from in, and returns how many bytes it read behind
// the end of the zlib stream.
func (r *Reader) inflate(ctx context.Context, i int, in io.Reader, w io.Writer) (buffered int, err error) {
	s, err := newItemReader(i, r.Data[i], in)
	if err != nil {
		return 0, err
	}
	defer s.zlib.Free()
	for err == nil {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(w, s, checkBlock)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return s.in.Buffered(), err
}

// inflaterCost is about what an open zlib reader takes, with its input.
const inflaterCost = 256 << 10

// An itemReader inflates a data item from its start to its end.
type itemReader struct {
	i      int
	d      Data
	source *sourceReader
	in     *bufio.Reader
	zlib   *wire.ZlibReader
	size   int64 // of what came so far
}

// storedBlock is how much of a data item is read at once, at most.
const storedBlock = 64 << 10

func newItemReader(i int, d Data, in io.Reader) (*itemReader, error) {
	s := &itemReader{i: i, d: d, source: &sourceReader{Reader: in}}
	s.in = bufio.NewReaderSize(s.source, int(min(d.Stored, storedBlock)))
	var err error
	s.zlib, err = wire.NewZlibReader(s.in)
	return s, s.failure(err)
}

// Read implements io.Reader. If the stream does not end with the last bytes, they come with an
// error.
func (s *itemReader) Read(p []byte) (int, error) {
	n, err := s.zlib.Read(p[:min(int64(len(p)), s.d.Size-s.size)])
	s.size += int64(n)
	switch {
	case s.size == s.d.Size && (err == nil || err == io.EOF):
		err = s.end()
	case err == io.EOF:
		err = s.mismatch("holds %d", s.size)
	default:
		err = s.failure(err)
	}
	return n, err
}

// end looks for what comes after the announced bytes, of which there should be none: that is
// io.EOF.
func (s *itemReader) end() error {
	more, err := io.CopyN(io.Discard, s.zlib, (s.d.Size/checkBlock+1)*checkBlock-s.d.Size)
	switch size := s.size + more; {
	case more > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)):
		return s.mismatch("holds at least %d", size)
	case more > 0 && err == io.EOF:
		return s.mismatch("holds %d", size)
	case err == io.EOF:
		return err
	}
	return s.failure(err)
}

func (s *itemReader) mismatch(holds string, size int64) error {
	return fault("data_size_mismatch", s.d.Offset, "data %d announces %d bytes and "+holds, s.i, s.d.Size, size)
}

// failure tells damage from a failed read.
func (s *itemReader) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case s.source.err != nil:
		return fmt.Errorf("reading %d bytes at %d: %w", s.d.Stored, s.d.Offset, s.source.err)
	}
	return zlibFault(s.i, s.d, err)
}

// A sourceReader keeps the error of a read: it tells a source that cannot be read from damage.
type sourceReader struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func zlibFault(i int, d Data, err error) error {
	return fault("data_zlib", d.Offset, "data %d of %d stored bytes: %v", i, d.Stored, wire.Explain(err))
}

// checkStored checks that data item i can be read at all.
func (r *Reader) checkStored(i int) error {
	d := r.Data[i]
	if end := d.Offset + d.Stored; d.Stored > 0 && end > r.size {
		return fault("truncated", d.Offset, "data %d ends at %d, the file at %d", i, end, r.size)
	}
	if d.Size > r.MaxData {
		return fault("data_too_large", d.Offset, "data %d announces %d bytes, the limit is %d", i, d.Size, r.MaxData)
	}
	return nil
}

// compressed reports whether data item i is a zlib stream; an empty one may be stored as nothing.
func (r *Reader) compressed(i int) bool {
	d := r.Data[i]
	return r.Header.Version >= 4 && (d.Stored > 0 || d.Size > 0)
}

// readStored returns the bytes of data item i as they lie in the file.
func (r *Reader) readStored(ctx context.Context, i int) ([]byte, error) {
	if err := r.checkStored(i); err != nil {
		return nil, err
	}
	return readFull(ctx, r.src, r.Data[i].Offset, r.Data[i].Stored)
}

// checkRef checks that ref is the index of a data item.
func (r *Reader) checkRef(ref int32, offset int64, what string) error {
	if ref < 0 || int(ref) >= len(r.Data) {
		return fault("data_index", offset, "%s refers to data %d, there are %d", what, ref, len(r.Data))
	}
	return nil
}

// Limits of texts, far above what editors allow. They bound what a map can make of one data item
// that many items refer to.
const (
	maxName     = 4 << 10
	maxInfo     = 1 << 20
	maxSettings = 16 << 20
)

// checkText checks that ref is the index of a data item of at most limit bytes.
func (r *Reader) checkText(ref int32, offset int64, what string, limit int64) error {
	if err := r.checkRef(ref, offset, what); err != nil {
		return err
	}
	if size := r.Data[ref].Size; size > limit {
		return fault("data_too_large", offset, "%s refers to data %d of %d bytes, the limit is %d", what, ref, size, limit)
	}
	return nil
}

// sums are the checksums by which the games identify a map of so many bytes.
func sums(ctx context.Context, src io.ReaderAt, size int64) (crc, sha string, err error) {
	const block = 1 << 18
	c, s := crc32.NewIEEE(), sha256.New()
	r, both := io.NewSectionReader(src, 0, size), io.MultiWriter(c, s)
	for left := size; left > 0; left -= block {
		if err := ctx.Err(); err != nil {
			return "", "", err
		}
		if _, err := io.CopyN(both, r, min(block, left)); err != nil {
			return "", "", fmt.Errorf("reading the file for its sums: %w", err)
		}
	}
	return fmt.Sprintf("%08x", c.Sum32()), hex.EncodeToString(s.Sum(nil)), nil
}
