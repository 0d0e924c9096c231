package datafile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"recfs/formats"
)

// smallMap is a map of one kind of everything that the header and the tables know.
func smallMap() *mapWriter {
	w := &mapWriter{}
	w.item(typeVersion, 1)
	w.item(typeImage, 1, 16, 16, 1, w.text("grass_main"), -1)
	w.item(typeImage, 1, 16, 16, 1, w.text("snow"), -1)
	w.tileLayer("Game", 2, 2, 1, -1, []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})
	w.group("Game", 100, 0, 1)
	return w
}

// Offsets in the file of smallMap.
const (
	smallTypes       = headerSize
	smallItemOffsets = smallTypes + 4*typeSize
	smallDataOffsets = smallItemOffsets + 4*5
	smallDataSizes   = smallDataOffsets + 4*3
	smallItems       = smallDataSizes + 4*3
)

func TestWhatDoesNotOpen(t *testing.T) {
	sound := smallMap().bytes()
	for _, c := range []struct {
		name    string
		change  func(b []byte) []byte
		offset  int64
		kind    error
		mention []string
	}{
		{"nothing", cut(0), 0, io.ErrUnexpectedEOF, []string{"0", "36"}},
		{"half a header", cut(35), 35, io.ErrUnexpectedEOF, []string{"35", "36"}},
		{"cut in the tables", cut(100), 100, io.ErrUnexpectedEOF, []string{"100", itoa(len(sound))}},
		{"magic", put(0, 0x41544144+1), 0, formats.ErrCorrupt, []string{"EATA"}},
		{"version", put(4, 5), 4, errors.ErrUnsupported, []string{"5"}},
		{"big-endian", put(4, 4<<24), 4, errors.ErrUnsupported, []string{"67108864", "big-endian"}},
		{"negative size", put(8, -1), 8, formats.ErrCorrupt, []string{"size", "-1"}},
		{"negative data_size", put(32, -2), 32, formats.ErrCorrupt, []string{"data_size", "-2"}},
		{"too many types", put(16, 65537), 16, formats.ErrCorrupt, []string{"num_item_types", "65537"}},
		{"crooked item_size", put(28, 2), 28, formats.ErrCorrupt, []string{"item_size", "2"}},
		{"huge count", put(20, 1<<31-1), int64(len(sound)), io.ErrUnexpectedEOF, []string{itoa(len(sound))}},
		{"type_id", put(smallTypes, 65536), smallTypes, formats.ErrCorrupt, []string{"type 0", "65536"}},
		{"type twice", put(smallTypes+typeSize, 0), smallTypes + typeSize, formats.ErrCorrupt, []string{"0 and 1"}},
		{"start", put(smallTypes+typeSize+4, 9), smallTypes + typeSize + 4, formats.ErrCorrupt, []string{"start 9", "expected 1"}},
		{"num", put(smallTypes+typeSize+8, 9), smallTypes + typeSize + 8, formats.ErrCorrupt, []string{"num 9"}},
		{"items without type", put(smallTypes+3*typeSize+8, 0), 20, formats.ErrCorrupt, []string{"5", "4"}},
		{"item offset", put(smallItemOffsets+4, 4), smallItemOffsets + 4, formats.ErrCorrupt, []string{"item 1", "4", "12"}},
		{"item size", put(smallItems+4, -4), smallItems + 4, formats.ErrCorrupt, []string{"item 0", "-4"}},
		{"crooked item", put(smallItems+4, 5), smallItems + 4, formats.ErrCorrupt, []string{"item 0", "5"}},
		{"item type", put(smallItems+12, 7<<16), smallItems + 12, formats.ErrCorrupt, []string{"item 1", "7", "2"}},
		{"data offset", put(smallDataOffsets+4, 1<<20), smallDataOffsets + 4, formats.ErrCorrupt, []string{"data 1", "1048576"}},
		{"data descending", put(smallDataOffsets+8, 1), smallDataOffsets + 8, formats.ErrCorrupt, []string{"data 2", "1"}},
		{"data size", put(smallDataSizes, -1), smallDataSizes, formats.ErrCorrupt, []string{"data 0", "-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.change(bytes.Clone(sound))
			_, err := NewReader(t.Context(), formats.BytesReader(b), int64(len(b)))
			var e *formats.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a *formats.Error", err)
			}
			if e.Offset != c.offset || !errors.Is(err, c.kind) {
				t.Errorf("%v: offset %d, want %d, and %v", err, e.Offset, c.offset, c.kind)
			}
			for _, word := range c.mention {
				if !strings.Contains(e.Err.Error(), word) {
					t.Errorf("%q does not say %q", e.Err, word)
				}
			}
		})
	}
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }

func put(at int, v int32) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b[at:], uint32(v))
		return b
	}
}

// TestTablesTooLong opens a file whose length is only announced.
func TestTablesTooLong(t *testing.T) {
	b := appendInts([]byte("DATA"), 4, 0, 0, 0, 0, 0, maxTables, 0)
	size := int64(headerSize + maxTables)
	_, err := NewReader(t.Context(), readerFunc(func(p []byte, off int64) (int, error) {
		clear(p)
		if off < int64(len(b)) {
			copy(p, b[off:])
		}
		return len(p), nil
	}), size)
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want errors.ErrUnsupported", err)
	}
}

type readerFunc func(p []byte, off int64) (int, error)

func (f readerFunc) ReadAt(_ context.Context, p []byte, off int64) (int, error) { return f(p, off) }

func TestReadErrorsPass(t *testing.T) {
	gone := errors.New("gone")
	_, err := NewReader(t.Context(), readerFunc(func([]byte, int64) (int, error) { return 0, gone }), 1000)
	var e *formats.Error
	if !errors.Is(err, gone) || errors.As(err, &e) {
		t.Errorf("got %v, want the error of the read", err)
	}
}

func TestMatch(t *testing.T) {
	sound := smallMap().bytes()
	other := put(4, 7)(bytes.Clone(sound))
	for _, c := range []struct {
		name         string
		head         []byte
		named, alone bool
	}{
		{"sound", sound, true, true},
		{"other version", other, true, false},
		{"magic only", []byte("ATAD"), true, false},
		{"no whole header", sound[:8], true, true},
		{"empty", nil, false, false},
		{"text", []byte("DATE: today, and more than a header long"), false, false},
	} {
		f := New(Options{})
		if got := f.MatchNamed(c.head); got != c.named {
			t.Errorf("%s: MatchNamed = %v", c.name, got)
		}
		if got := f.Match(c.head); got != c.alone {
			t.Errorf("%s: Match = %v", c.name, got)
		}
	}
}

func TestUUIDIndex(t *testing.T) {
	auto := toInts([]byte{0x16, 0x27, 0x1b, 0x3e, 0x78, 0x39, 0x8c, 0x17, 0x1a, 0xb1, 0xd9, 0x9b, 0xd8, 0x0d, 0x41, 0xe0})
	other := []int32{1, 2, 3, 4}
	w := &mapWriter{}
	w.items = []writtenItem{
		{0x9000, 0, nil},
		{0x9001, 0, nil},
		{0x9002, 0, nil},
		{0x9003, 0, nil},
		{typeUUIDIndex, 0x9001, auto},
		{typeUUIDIndex, 0x9001, other}, // not the first for its number
		{typeUUIDIndex, 0x9000, auto},  // not the first for its UUID
		{typeUUIDIndex, 0x9002, other},
		{typeUUIDIndex, 0x9003, other[:3]},   // too short
		{typeUUIDIndex, typeUUIDIndex, auto}, // of the index itself
		{typeUUIDIndex, 5, auto},             // a number that has a meaning
	}
	r := mustRead(t, w.bytes())
	for typ, want := range map[uint16]string{
		0x9000: "36864", 0x9001: nameAutoMapper, 0x9002: "00000001-0000-0002-0000-000300000004", 0x9003: "36867",
		typeUUIDIndex: "uuid-index", 5: "layer", 6000: "6000",
	} {
		if got := r.TypeName(typ); got != want {
			t.Errorf("type %d is %q, want %q", typ, got, want)
		}
	}
	repeated := 0
	for _, it := range r.Items {
		repeated += int(it.before)
	}
	if repeated != 1 {
		t.Errorf("%d repeated items, want 1", repeated)
	}
}
