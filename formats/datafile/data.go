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

var _ io.Writer = (*runCounter)(nil)

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

// recordSize is the length of a tile, quad or sound source.
func (l *Layer) recordSize() int64 {
	switch l.Kind {
	case KindTele, KindTune:
		return 2
	case KindSpeedup:
		return 6
	case KindQuads:
		return quadSize
	case KindSounds:
		return sourceSize
	case KindOldSounds:
		return oldSourceSize
	}
	return 4
}

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

// runs reports whether the tiles are stored as run lengths. The physics layers of DDNet never are.
func (l *Layer) runs() bool {
	return l.Tiles != nil && *l.Tiles.Version >= tilesRuns && !l.Kind.physics()
}

// empty reports whether l announces no quads or sources, so that its data reference means nothing.
func (l *Layer) empty() bool { return (l.Quads != nil || l.Sounds != nil) && l.count() == 0 }

// layerRecords cuts the content of a layer out of its data item, for a layer that passed
// checkContent. Run lengths are expanded.
func (r *Reader) layerRecords(ctx context.Context, l *Layer, data []byte) ([]byte, error) {
	n := l.tiles().length()
	if !l.runs() {
		return data[:n], nil
	}
	var runs runCounter
	_, _ = runs.Write(data)
	if err := r.checkRuns(l, runs.tiles()); err != nil {
		return nil, err
	}
	records := make([]byte, n)
	_, err := newRunStream(formats.BytesReader(data), int64(len(data))).ReadAt(ctx, records, 0)
	return records, err
}

// checkRuns checks that run lengths of n tiles end exactly with the last tile of a layer.
func (r *Reader) checkRuns(l *Layer, n int64) error {
	w, h := l.dimensions()
	if n == w*h {
		return nil
	}
	return fault("tiles_run_length", r.Items[l.Item].Offset,
		"layer %d has %dx%d tiles, its %d bytes of run lengths make %d", l.Index, w, h, r.Data[*l.Data].Size, max(n, 0))
}

// A runCounter counts the tiles that the run lengths written to it make.
type runCounter struct{ bytes, repeats int64 }

// Write implements io.Writer. The third byte of a tile is how often it is repeated.
func (c *runCounter) Write(p []byte) (int, error) {
	for i := (6 - c.bytes%4) % 4; i < int64(len(p)); i += 4 {
		c.repeats += int64(p[i])
	}
	c.bytes += int64(len(p))
	return len(p), nil
}

// tiles returns how many there are, -1 if the run lengths do not end with a whole one.
func (c *runCounter) tiles() int64 {
	if c.bytes%4 != 0 {
		return -1
	}
	return c.bytes/4 + c.repeats
}
