package datafile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"

	"recfs/formats/internal/jsonenc"
)

var (
	_ json.Marshaler = tileCounts{}
	_ json.Marshaler = tileList{}
)

// Tiles are the records of a tile layer, row by row from the top left.
type Tiles struct {
	Kind          Kind
	Width, Height int
	Records       []byte

	size int // of a record
	main int // the byte of a record that is its index or type
}

func (r *Reader) tiles(l *Layer, data []byte) (*Tiles, error) {
	records, err := r.layerRecords(l, data)
	if err != nil {
		return nil, err
	}
	w, h := l.dimensions()
	t := &Tiles{Kind: l.Kind, Width: int(w), Height: int(h), Records: records, size: int(l.recordSize())}
	switch l.Kind {
	case KindTele, KindTune, KindSwitch:
		t.main = 1
	case KindSpeedup:
		t.main = 2
	}
	return t, nil
}

// numbered reports whether a tile has more to it than index and flags.
func (t *Tiles) numbered() bool { return t.main > 0 }

// nonZero is the number of tiles that are not all zero.
func (t *Tiles) nonZero() int {
	n := 0
	for record := range slices.Chunk(t.Records, t.size) {
		if !isZero(record) {
			n++
		}
	}
	return n
}

// A tileCounts says how often each index or type occurs.
type tileCounts [256]int

func (t *Tiles) count() (c tileCounts) {
	for i := t.main; i < len(t.Records); i += t.size {
		c[t.Records[i]]++
	}
	return c
}

// nonAir is the number of tiles with an index or type other than 0.
func (c *tileCounts) nonAir() int {
	sum := 0
	for _, n := range c[1:] {
		sum += n
	}
	return sum
}

// MarshalJSON implements json.Marshaler: an object from index to number, without 0 and those that
// do not occur.
func (c tileCounts) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, n := range c {
		if i == 0 || n == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = jsonenc.AppendInt(b, i)
		b = append(b, `":`...)
		b = jsonenc.AppendInt(b, n)
	}
	return append(b, '}'), nil
}

// tileList is the JSON list of the tiles that are not all zero.
type tileList struct{ *Tiles }

// MarshalJSON implements json.Marshaler.
func (t tileList) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i := 0; i < len(t.Records); i += t.size {
		record := t.Records[i : i+t.size]
		if isZero(record) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		n := i / t.size
		b = appendField(append(b, '{'), "x", n%t.Width)
		b = appendField(append(b, ','), "y", n/t.Width)
		b = t.appendRecord(append(b, ','), record)
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

func (t *Tiles) appendRecord(b, record []byte) []byte {
	if t.Kind == KindSpeedup {
		b = appendField(b, "force", int(record[0]))
		b = appendField(append(b, ','), "max_speed", int(record[1]))
		b = appendField(append(b, ','), "type", int(record[2]))
		return appendField(append(b, ','), "angle", int(int16(binary.LittleEndian.Uint16(record[4:]))))
	}
	b = appendField(b, "number", int(record[0]))
	b = appendField(append(b, ','), "type", int(record[1]))
	if t.Kind == KindSwitch {
		b = appendField(append(b, ','), "flags", int(record[2]))
		b = appendField(append(b, ','), "delay", int(record[3]))
	}
	return b
}

func appendField(b []byte, key string, v int) []byte {
	b = append(b, '"')
	b = append(b, key...)
	b = append(b, `":`...)
	return jsonenc.AppendInt(b, v)
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Widths of the cells of a text grid.
const (
	plainCell    = 7
	numberedCell = 8
)

// gridSize is the size of the text grid of a layer that passed checkContent.
func gridSize(l *Layer) int64 {
	w, h := l.dimensions()
	cell := int64(plainCell)
	if l.Kind.physics() && l.Kind != KindFront {
		cell = numberedCell
	}
	return h * (w*cell + 1)
}

// A grid shows tiles as text, a row a line. It makes the rows that are read.
type grid struct{ *Tiles }

func (g grid) cell() int {
	if g.numbered() {
		return numberedCell
	}
	return plainCell
}

func (g grid) rowSize() int { return g.Width*g.cell() + 1 }

// Size implements nodes.Content.
func (g grid) Size() int64 { return int64(g.Height) * int64(g.rowSize()) }

// ReadAt implements nodes.Content.
func (g grid) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off >= g.Size() {
		return 0, io.EOF
	}
	n, cell, rowSize := 0, g.cell(), int64(g.rowSize())
	var text [numberedCell]byte
	for n < len(p) && off < g.Size() {
		y, column := int(off/rowSize), int(off%rowSize)
		part := []byte{'\n'}
		if x := column / cell; x < g.Width {
			part = g.appendCell(text[:0], y*g.Width+x)[column%cell:]
		}
		k := copy(p[n:], part)
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// appendCell appends the text of tile i.
func (g grid) appendCell(b []byte, i int) []byte {
	record := g.Records[i*g.size : (i+1)*g.size]
	switch {
	case g.numbered():
		if isZero(record) {
			return append(b, "   .    "...)
		}
		b = append(appendRight(append(b, ' '), record[g.main]), '#')
		return appendLeft(b, record[0])
	case record[0] == 0 && record[1] == 0:
		return append(b, "   .   "...)
	case record[1] == 0:
		return append(appendRight(append(b, ' '), record[0]), "   "...)
	}
	const hexDigits = "0123456789abcdef"
	b = appendRight(append(b, ' '), record[0])
	return append(b, '/', hexDigits[record[1]>>4], hexDigits[record[1]&15])
}

// appendRight appends v in three columns with blanks before it.
func appendRight(b []byte, v byte) []byte {
	for limit := byte(100); limit > 1 && v < limit; limit /= 10 {
		b = append(b, ' ')
	}
	return jsonenc.AppendUint(b, v)
}

// appendLeft appends v in three columns with blanks after it.
func appendLeft(b []byte, v byte) []byte {
	b = jsonenc.AppendUint(b, v)
	for limit := byte(100); limit > 1 && v < limit; limit /= 10 {
		b = append(b, ' ')
	}
	return b
}
