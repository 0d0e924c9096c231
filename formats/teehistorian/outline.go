package teehistorian

import "fmt"

// A Map is the part of a map file that paths.svg shows.
type Map struct {
	Width, Height int    // in tiles
	Solid         []bool // a character cannot be there; row by row
}

// appendOutline appends the solid tiles of m, each stretch of a row as one rectangle.
func appendOutline(b []byte, m *Map) []byte {
	if m == nil {
		return b
	}
	b = append(b, "<path fill=\"#ddd\" d=\""...)
	for y := range m.Height {
		row := m.Solid[y*m.Width : (y+1)*m.Width]
		for x := 0; x < len(row); x++ {
			start := x
			for x < len(row) && row[x] {
				x++
			}
			if x > start {
				b = fmt.Appendf(b, "M%d %dh%dv%dh%dz", start*tile, y*tile, (x-start)*tile, tile, -(x-start)*tile)
			}
		}
	}
	return append(b, "\"/>\n"...)
}
