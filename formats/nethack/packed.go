package nethack

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// groupRows is how many rows a group has. With more of them the numbers of a group are further
// apart and take more bytes each; with fewer of them the heads take more.
const groupRows = 64

// A packed is a list of rows of some numbers, to which rows are only added. Each row is found
// without those before it.
//
// A group holds its columns one after the other. The numbers of a column count from the least of
// them, are little-endian, and each takes as many bytes as the greatest needs: none where all are
// the same.
//
//	| least u64 … | width u8 … | numbers of column 0 | … | padding, so that 8 bytes can be read of each |
type packed struct {
	groups [][]byte
	open   []uint64 // the rows behind the groups, one after the other
	rows   int
	size   int64 // of the groups
}

const packedPadding = 8

// add adds a row. All have the same number of columns.
func (p *packed) add(row ...uint64) {
	p.open = append(p.open, row...)
	if p.rows++; p.rows%groupRows == 0 {
		g := packGroup(p.open, len(row))
		p.groups, p.open = append(p.groups, g), p.open[:0]
		p.size += int64(cap(g))
	}
}

// packList returns a list of rows of one number.
func packList(list []int32) (p packed) {
	for _, v := range list {
		p.add(uint64(v))
	}
	return p
}

// packGroup returns the group of rows of so many columns.
func packGroup(rows []uint64, columns int) []byte {
	g := make([]byte, 9*columns, 9*columns+8*len(rows)+packedPadding)
	for c := range columns {
		least, most := rows[c], rows[c]
		for i := c; i < len(rows); i += columns {
			least, most = min(least, rows[i]), max(most, rows[i])
		}
		width := (bits.Len64(most-least) + 7) / 8
		binary.LittleEndian.PutUint64(g[8*c:], least)
		g[8*columns+c] = byte(width)
		for i := c; i < len(rows) && width > 0; i += columns {
			n := len(g) + width
			g = binary.LittleEndian.AppendUint64(g, rows[i]-least)[:n]
		}
	}
	return slices.Clone(append(g, make([]byte, packedPadding)...))
}

// row reads row i, which has as many columns as into has.
func (p *packed) row(i int, into []uint64) {
	columns := len(into)
	k, i := i/groupRows, i%groupRows
	if k == len(p.groups) {
		copy(into, p.open[i*columns:])
		return
	}
	g := p.groups[k]
	at := 9 * columns
	for c := range into {
		width := int(g[8*columns+c])
		into[c] = numberOf(g, c, at+i*width, width)
		at += groupRows * width
	}
}

// at returns a number of row i, which has so many columns.
func (p *packed) at(i, column, columns int) uint64 {
	k, i := i/groupRows, i%groupRows
	if k == len(p.groups) {
		return p.open[i*columns+column]
	}
	g := p.groups[k]
	at := 9 * columns
	for _, width := range g[8*columns : 8*columns+column] {
		at += groupRows * int(width)
	}
	width := int(g[8*columns+column])
	return numberOf(g, column, at+i*width, width)
}

// number returns that of row i, which has no other.
func (p *packed) number(i int) int { return int(p.at(i, 0, 1)) }

// numberOf returns the number of a column that is at an offset of a group.
func numberOf(g []byte, column, at, width int) uint64 {
	return binary.LittleEndian.Uint64(g[8*column:]) + binary.LittleEndian.Uint64(g[at:])&(1<<(8*width)-1)
}

// memory returns how many bytes the list keeps alive.
func (p *packed) memory() int64 { return p.size + int64(24*cap(p.groups)+8*cap(p.open)) }
