package datafile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"recfs/formats"
)

const formatName = "datafile"

const (
	// defaultMaxData is the greatest data item that is inflated.
	defaultMaxData = 1 << 30

	// maxTables is the greatest length of everything before the data part, which is held in memory.
	// The largest known is below 1 MiB.
	maxTables = 16 << 20
)

// A Reader gives access to the items and data of a datafile.
type Reader struct {
	Header Header
	Types  []ItemType
	Items  []Item
	Data   []Data

	// MaxData bounds the size of a data item, and of a run-length layer when expanded.
	MaxData int64

	src    formats.ReaderAt
	size   int64
	tables []byte // the file up to the data part
	byType map[uint16]int
	uuids  map[uint16]uuidType

	repeats map[int]int // items that are not the first of their type and id: how many are before them
}

// NewReader reads the header and tables of the datafile of size bytes in src. A file cut inside the
// data part opens; see [Reader.Missing].
func NewReader(ctx context.Context, src formats.ReaderAt, size int64) (*Reader, error) {
	head, err := readFull(ctx, src, 0, min(size, headerSize))
	if err != nil {
		return nil, err
	}
	r := &Reader{MaxData: defaultMaxData, src: src, size: size}
	if r.Header, err = parseHeader(head); err != nil {
		return nil, err
	}
	end := r.Header.dataAt()
	if size < end {
		return nil, tooShort(size, r.Header.Total())
	}
	if end > maxTables {
		return nil, unsupported(headerSize, "header, tables and items take %d bytes, the limit is %d", end, maxTables)
	}
	if r.tables, err = readFull(ctx, src, 0, end); err != nil {
		return nil, err
	}
	if err := r.parseTables(r.tables); err != nil {
		return nil, err
	}
	r.uuids = r.readUUIDIndex()
	return r, nil
}

// Missing returns how many bytes the file is shorter than announced.
func (r *Reader) Missing() int64 { return max(0, r.Header.Total()-r.size) }

// Trailing returns how many bytes follow the announced end.
func (r *Reader) Trailing() int64 { return max(0, r.size-r.Header.Total()) }

// ItemData returns the bytes of item i without its header.
func (r *Reader) ItemData(i int) []byte {
	it := r.Items[i]
	start := it.Offset + itemHeadSize
	return r.tables[start : start+int64(it.Size) : start+int64(it.Size)]
}

// Ints returns the ints of item i.
func (r *Reader) Ints(i int) []int32 { return toInts(r.ItemData(i)) }

// ItemsOf returns the first item of a type and the one after its last.
func (r *Reader) ItemsOf(typ uint16) (start, end int) {
	k, ok := r.byType[typ]
	if !ok {
		return 0, 0
	}
	t := r.Types[k]
	return t.Start, t.Start + t.Num
}

// readFull reads n bytes of src, which is known to have them.
func readFull(ctx context.Context, src formats.ReaderAt, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(formats.At(ctx, src), off, n), b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d bytes at %d: %w", n, off, err)
	}
	return b, nil
}

// toInts decodes little-endian ints; a rest of less than one is left out.
func toInts(b []byte) []int32 {
	ints := make([]int32, len(b)/4)
	for i := range ints {
		ints[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return ints
}

func corrupt(offset int64, msg string, args ...any) error {
	return formats.Corrupt(formatName, offset, msg, args...)
}

func unsupported(offset int64, msg string, args ...any) error {
	return formats.Errorf(formatName, offset, errors.ErrUnsupported, msg, args...)
}

func tooShort(size, need int64) error {
	return formats.Errorf(formatName, size, io.ErrUnexpectedEOF, "the file has %d bytes, %d are needed", size, need)
}

func itoa(n int) string { return strconv.Itoa(n) }
