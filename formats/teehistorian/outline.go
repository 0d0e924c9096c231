package teehistorian

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	iofs "io/fs"
	"strings"

	"recfs/formats/internal/jsonenc"
)

// A Map is the part of a map file that paths.svg shows.
type Map struct {
	Width, Height int    // in tiles
	Solid         []bool // a character cannot be there; row by row
}

// maxMap bounds the map file that is looked at.
const maxMap = 64 << 20

// findMap returns the map file of a recording that was found in fsys, nil if it is not there: the one with the name
// and the SHA-256 of the header, beside the recording or in the folder maps.
func findMap(fsys iofs.FS, h *header) []byte {
	name, sum := h.text("map_name"), strings.ToLower(h.text("map_sha256"))
	if fsys == nil || name == "" || sum == "" || strings.Contains(name, "/") {
		return nil
	}
	for _, dir := range []string{"", "maps/"} {
		for _, file := range []string{name + ".map", name + "_" + sum + ".map"} {
			b, err := readMap(fsys, dir+file)
			if err != nil {
				continue
			}
			if got := sha256.Sum256(b); hex.EncodeToString(got[:]) == sum {
				return b
			}
		}
	}
	return nil
}

// mapFile returns the map of the recording, nil if it is not there or cannot be read.
func (t *tree) mapFile(ctx context.Context) *Map {
	if t.readMap == nil {
		return nil
	}
	file := findMap(t.src.FS, t.header)
	if file == nil {
		return nil
	}
	m, err := t.readMap(ctx, file)
	if err != nil {
		return nil
	}
	return m
}

func readMap(fsys iofs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxMap))
}

// appendOutline appends the solid tiles of m, each stretch of a row as one rectangle.
func appendOutline(b []byte, m *Map) []byte {
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
