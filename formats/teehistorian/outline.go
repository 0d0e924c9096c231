package teehistorian

import (
	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// appendOutline appends the solid tiles of m, each stretch of a row as one rectangle.
func appendOutline(b []byte, m *formats.Outline) []byte {
	if m == nil {
		return b
	}
	b = append(b, "<path fill=\"#ccc\" d=\""...)
	for y := range m.Height {
		row := m.Solid[y*m.Width : (y+1)*m.Width]
		for x := 0; x < len(row); x++ {
			start := x
			for x < len(row) && row[x] {
				x++
			}
			if x > start {
				b = appendRectangle(b, start*tile, y*tile, (x-start)*tile)
			}
		}
	}
	return append(b, "\"/>\n"...)
}

// appendRectangle appends a rectangle of the height of a tile as part of a path.
func appendRectangle(b []byte, x, y, width int) []byte {
	b = jsonenc.AppendInt(append(b, 'M'), x)
	b = jsonenc.AppendInt(append(b, ' '), y)
	b = jsonenc.AppendInt(append(b, 'h'), width)
	b = jsonenc.AppendInt(append(b, 'v'), tile)
	b = jsonenc.AppendInt(append(b, 'h'), -width)
	return append(b, 'z')
}
