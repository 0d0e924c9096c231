package datafile

import (
	"context"
	"io"

	"recfs/formats/internal/jsonenc"
)

// A grid shows tiles as text for less and diff: a cell of so many bytes a tile, a row a line
// (docs/tree/datafile.md sections 8 and 9). It makes the rows that are read.
type grid struct {
	*Tiles
	cell   int
	append func(b, record []byte) []byte
}

// grid shows index and flags, or type and number, of each tile.
func (t *Tiles) grid() grid {
	if t.numbered() {
		return grid{t, len("   .    "), t.appendNumbered}
	}
	return grid{t, len("   .   "), t.appendPlain}
}

// chars shows a character for each tile of a layer that says what tiles do.
func (t *Tiles) chars() grid {
	return grid{t, 1, func(b, record []byte) []byte { return append(b, t.char(record)) }}
}

func (t grid) rowSize() int64 { return int64(t.Width)*int64(t.cell) + 1 }

// Size implements nodes.Content.
func (t grid) Size() int64 { return int64(t.Height) * t.rowSize() }

// ReadAt implements nodes.Content.
func (t grid) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off >= t.Size() {
		return 0, io.EOF
	}
	end := min(off+int64(len(p)), t.Size())
	first := t.tileAt(off)
	records, err := t.at(ctx, nil, first, t.tileAt(end-1)+1-first)
	if err != nil {
		return 0, err
	}
	n := 0
	var text [16]byte
	for off < end {
		part, column := []byte{'\n'}, off%t.rowSize()
		if column < t.rowSize()-1 {
			record := records[(t.tileAt(off)-first)*t.size:][:t.size]
			part = t.append(text[:0], record)[int(column)%t.cell:]
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

// tileAt returns which tile the byte at off shows; the one before if it ends a row.
func (t grid) tileAt(off int64) int {
	column := int(off%t.rowSize()) / t.cell
	return int(off/t.rowSize())*t.Width + min(column, t.Width-1)
}

func (t *Tiles) appendNumbered(b, record []byte) []byte {
	if t.isDot(record) {
		return append(b, "   .    "...)
	}
	b = append(appendRight(append(b, ' '), record[t.main]), '#')
	return appendLeft(b, record[0])
}

func (t *Tiles) appendPlain(b, record []byte) []byte {
	const hexDigits = "0123456789abcdef"
	if t.isDot(record) {
		return append(b, "   .   "...)
	}
	b = appendRight(append(b, ' '), record[0])
	if flags := record[1]; flags != 0 {
		return append(b, '/', hexDigits[flags>>4], hexDigits[flags&15])
	}
	return append(b, "   "...)
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

// char is the character of a tile: in a game or front layer one for what it does, else the last
// digit of its number.
func (t *Tiles) char(record []byte) byte {
	switch {
	case !t.numbered():
		return gameChar(record[0])
	case isZero(record):
		return ' '
	}
	return '0' + record[0]%10
}

// gameChar is the character for an index of the game layer.
func gameChar(index byte) byte {
	switch index {
	case 9:
		return '~'
	case 12: // deep freeze
		return '='
	}
	return " #x%~-SFc*?"[collisionColor(index)]
}
