package datafile

import (
	"context"
	"io"
)

// chars shows a layer that says what tiles do as text, a character a tile and a row a line, for less
// and diff (docs/tree/datafile.md section 9). It makes the rows that are read.
type chars struct{ *Tiles }

// charsSize is the size of the text of a layer that passed checkContent.
func charsSize(l *Layer) int64 {
	w, h := l.dimensions()
	return h * (w + 1)
}

// Size returns the number of bytes.
func (c chars) Size() int64 { return int64(c.Height) * int64(c.Width+1) }

// ReadAt implements nodes.ReaderAt.
func (c chars) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off >= c.Size() {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), c.Size()-off))
	row := int64(c.Width + 1)
	tileAt := func(off int64) int { return int(off/row)*c.Width + min(int(off%row), c.Width-1) }
	first := tileAt(off)
	records, err := c.at(ctx, nil, first, tileAt(off+int64(n)-1)+1-first)
	if err != nil {
		return 0, err
	}
	for i := range p[:n] {
		p[i] = '\n'
		if at := off + int64(i); at%row < int64(c.Width) {
			p[i] = c.char(records[(tileAt(at)-first)*c.size:][:c.size])
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// char is the character of a tile: in a game or front layer one for what it does, else the last
// digit of its number.
func (c chars) char(record []byte) byte {
	switch {
	case !c.numbered():
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
