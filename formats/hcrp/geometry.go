package hcrp

import (
	"cmp"

	"recfs/formats/internal/jsonenc"
)

// A position is x, y, z, yaw and pitch; of a move, how far and whereto.
type position [5]float64

// A blockAt is where a block is.
type blockAt struct{ x, y, z int64 }

func (a blockAt) compare(b blockAt) int {
	return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y), cmp.Compare(a.z, b.z))
}

func appendBlockAt(dst []byte, at blockAt) []byte {
	dst = jsonenc.AppendInt(append(dst, `{"x":`...), at.x)
	dst = jsonenc.AppendInt(append(dst, `,"y":`...), at.y)
	dst = jsonenc.AppendInt(append(dst, `,"z":`...), at.z)
	return append(dst, '}')
}

// coordinates are the keys of a position.
var coordinates = [len(position{})]string{`{"x":`, `,"y":`, `,"z":`, `,"yaw":`, `,"pitch":`}

// appendPosition appends an object with as many of the coordinates as v has.
func appendPosition(dst []byte, v []float64, known *jsonenc.Floats) []byte {
	for i, x := range v {
		dst = append(dst, coordinates[i]...)
		dst = known.Append(dst, x)
	}
	return append(dst, '}')
}
