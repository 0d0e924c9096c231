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

// Tables are what lies before the data part of a datafile: the header, the tables and the items.
type Tables struct {
	Header Header
	Types  []ItemType
	Items  []Item
	Data   []Data

	// MaxData bounds the size of a data item, and of a run-length layer when expanded.
	MaxData int64

	size   int64  // of the file
	stored []byte // the file up to the data part
	byType map[uint16]int
	uuids  map[uint16]uuidType
}

// A Reader gives access to the items and data of a datafile.
type Reader struct {
	*Tables
	src formats.ReaderAt
}

// NewReader reads the header and tables of the datafile of size bytes in src. A file cut inside the
// data part opens; see [Reader.Missing].
func NewReader(ctx context.Context, src formats.ReaderAt, size int64) (*Reader, error) {
	head, err := readFull(ctx, src, 0, min(size, headerSize))
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(head)
	if err != nil {
		return nil, err
	}
	end := h.dataAt()
	if size < end {
		return nil, tooShort(size, h.Total())
	}
	if end > maxTables {
		return nil, unsupported(headerSize, "header, tables and items take %d bytes, the limit is %d", end, maxTables)
	}
	if err := formats.Claim(ctx, end); err != nil { // whoever keeps the Reader is to have it
		return nil, err
	}
	stored, err := readFull(ctx, src, 0, end)
	if err != nil {
		return nil, err
	}
	t, err := parseTables(h, stored, size)
	if err != nil {
		return nil, err
	}
	return &Reader{t, src}, nil
}

// parseTables parses what lies before the data part of a file of size bytes.
func parseTables(h Header, stored []byte, size int64) (*Tables, error) {
	t := &Tables{Header: h, MaxData: defaultMaxData, size: size, stored: stored}
	if err := t.parse(stored); err != nil {
		return nil, err
	}
	t.uuids = t.readUUIDIndex()
	return t, nil
}

// Missing returns how many bytes the file is shorter than announced.
func (t *Tables) Missing() int64 { return max(0, t.Header.Total()-t.size) }

// Trailing returns how many bytes follow the announced end.
func (t *Tables) Trailing() int64 { return max(0, t.size-t.Header.Total()) }

// ItemData returns the bytes of item i without its header.
func (t *Tables) ItemData(i int) []byte {
	it := t.Items[i]
	start := it.Offset + itemHeadSize
	return t.stored[start : start+int64(it.Size) : start+int64(it.Size)]
}

// Ints returns the ints of item i.
func (t *Tables) Ints(i int) []int32 { return toInts(t.ItemData(i)) }

// ItemsOf returns the first item of a type and the one after its last.
func (t *Tables) ItemsOf(typ uint16) (start, end int) {
	k, ok := t.byType[typ]
	if !ok {
		return 0, 0
	}
	items := t.Types[k]
	return items.Start, items.Start + items.Num
}

// fields returns the ints that item i begins with, among them all that its fields have.
func (t *Tables) fields(i int) []int32 {
	b := t.ItemData(i)
	return toInts(b[:min(len(b), 4*maxFields)])
}

// maxFields is more ints than the fields of any item have.
const maxFields = 64

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

func (t *Tables) formatVersion() string { return strconv.Itoa(int(t.Header.Version)) }
