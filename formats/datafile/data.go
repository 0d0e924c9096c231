package datafile

import (
	"bufio"
	"cmp"
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
	s, err := r.openItem(ctx, i)
	if err != nil {
		return nil, err
	}
	defer s.Free()
	b, err := wire.ReadExactly(s, r.Data[i].Size)
	return b, cmp.Or(s.err, err)
}

// CheckData reads data item i to its end into w, which may get some of what turns out to be
// damaged. It returns the number of bytes after the zlib stream.
func (r *Reader) CheckData(ctx context.Context, i int, w io.Writer) (trailing int64, err error) {
	s, err := r.openItem(ctx, i)
	if err != nil {
		return 0, err
	}
	defer s.Free()
	for err == nil {
		if err = ctx.Err(); err == nil {
			_, err = io.CopyN(w, s, checkBlock)
		}
	}
	if err != io.EOF {
		return 0, err
	}
	return s.source.left + int64(s.in.Buffered()), nil
}

// openItem opens data item i for an operation.
func (r *Reader) openItem(ctx context.Context, i int) (*itemReader, error) {
	if err := r.checkStored(i); err != nil {
		return nil, err
	}
	d := r.Data[i]
	return r.newItemReader(i, io.NewSectionReader(formats.At(ctx, r.src), d.Offset, d.Stored))
}

// inflaterCost is about what an open zlib reader takes, with its input.
const inflaterCost = 256 << 10

// An itemReader gives the content of a data item from its start to its end.
type itemReader struct {
	i       int
	d       Data
	source  *sourceReader
	in      *bufio.Reader
	zlib    *wire.ZlibReader // nil: the content is stored as it is
	content io.Reader
	size    int64 // of what came so far
	err     error // that of the last Read, but for io.EOF
}

// storedBlock is how much of a data item is read at once, at most.
const storedBlock = 64 << 10

// newItemReader returns a reader of data item i, whose stored bytes are those of in.
func (r *Reader) newItemReader(i int, in io.Reader) (_ *itemReader, err error) {
	d := r.Data[i]
	s := &itemReader{i: i, d: d, source: &sourceReader{in: in, left: d.Stored}}
	s.in = bufio.NewReaderSize(s.source, int(min(d.Stored, storedBlock)))
	if s.content = s.in; r.compressed(i) {
		s.zlib, err = wire.NewZlibReader(s.in)
		s.content = s.zlib
	}
	return s, s.failure(err)
}

// Free lets the next reader have the memory of s, which must not be used any more.
func (s *itemReader) Free() {
	if s.zlib != nil {
		s.zlib.Free()
	}
}

// Read implements io.Reader. If the stream does not end with the last bytes, they come with an
// error.
func (s *itemReader) Read(p []byte) (int, error) {
	n, err := s.content.Read(p[:min(int64(len(p)), s.d.Size-s.size)])
	s.size += int64(n)
	switch {
	case s.size == s.d.Size && (err == nil || err == io.EOF):
		err = s.end()
	case err == io.EOF:
		err = s.mismatch("holds %d", s.size)
	default:
		err = s.failure(err)
	}
	if s.err = err; err == io.EOF {
		s.err = nil
	}
	return n, err
}

// end looks for what comes after the announced bytes, of which there should be none: that is
// io.EOF.
func (s *itemReader) end() error {
	more, err := io.CopyN(io.Discard, s.content, (s.d.Size/checkBlock+1)*checkBlock-s.d.Size)
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

// A sourceReader reads what is stored of a data item. It keeps the error of a read, which tells a
// source that cannot be read, or has no such bytes, from damage.
type sourceReader struct {
	in   io.Reader
	left int64 // bytes to come
	err  error
}

// Read implements io.Reader.
func (r *sourceReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.left -= int64(n)
	switch {
	case err == io.EOF && r.left > 0:
		err = io.ErrUnexpectedEOF
		fallthrough
	case err != nil && err != io.EOF:
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

// checkContent finds what the items and tables alone say about whether a layer's content can be
// shown. It does not look into data items, and does not judge the length of those that are faulty.
func (r *Reader) checkContent(l *Layer, faulty map[int32]bool) error {
	offset := r.Items[l.Item].Offset
	if l.Short {
		return fault("item_short", offset, "layer %d has %d ints, %d are needed", l.Index, r.Items[l.Item].Size/4, l.Need)
	}
	if l.Kind == KindUnknown || l.empty() {
		return nil
	}
	ref := *l.Data
	if err := r.checkRef(ref, offset, "layer "+itoa(l.Index)); err != nil {
		return err
	}
	there, record := r.Data[ref].Size, l.recordSize()
	w, h := l.dimensions()
	if l.Tiles != nil {
		switch {
		case w < 1 || h < 1 || w*h >= 1<<31:
			return fault("layer_size", offset, "layer %d has %dx%d tiles, its data %d bytes", l.Index, w, h, there)
		case w*h*record > r.MaxData:
			return fault("layer_size", offset, "layer %d has %dx%d tiles of %d bytes, the limit is %d bytes", l.Index, w, h, record, r.MaxData)
		case !faulty[ref] && !l.runs() && there < w*h*record:
			return fault("tiles_size", offset, "layer %d has %dx%d tiles of %d bytes, data %d has %d bytes", l.Index, w, h, record, ref, there)
		}
		return nil
	}
	if faulty[ref] || w >= 0 && there >= w*record {
		return nil
	}
	code := "sources_size"
	if l.Kind == KindQuads {
		code = "quads_size"
	}
	return fault(code, offset, "layer %d has %d records of %d bytes, data %d has %d bytes", l.Index, w, record, ref, there)
}

// maxPicture bounds a picture made of one layer. No map of a game comes near.
const maxPicture = 256 << 20

// About what a record takes in JSON.
const (
	tileText = 50
	quadText = 400
)

// recordsOf are the length of a record by kind, and which byte of it is the index or type of a
// tile. Of other kinds they are 4 and the first.
var recordsOf = map[Kind]struct{ size, main int }{
	KindTele: {2, 1}, KindTune: {2, 1}, KindSwitch: {4, 1}, KindSpeedup: {6, 2},
	KindQuads: {quadSize, 0}, KindSounds: {sourceSize, 0}, KindOldSounds: {oldSourceSize, 0},
}

// recordSize is the length of a tile, quad or sound source.
func (l *Layer) recordSize() int64 { return int64(cmp.Or(recordsOf[l.Kind].size, 4)) }

// dimensions are the width and height of a tile layer that is not short. Other layers are a row of
// records.
func (l *Layer) dimensions() (w, h int64) {
	if l.Tiles == nil {
		return l.count(), 1
	}
	return int64(*l.Tiles.Width), int64(*l.Tiles.Height)
}

// count is the number of quads or sources of such a layer that is not short.
func (l *Layer) count() int64 {
	if l.Quads != nil {
		return int64(*l.Quads.NumQuads)
	}
	return int64(*l.Sounds.NumSources)
}

// empty reports whether l announces no quads or sources, so that its data reference means nothing.
func (l *Layer) empty() bool { return (l.Quads != nil || l.Sounds != nil) && l.count() == 0 }
