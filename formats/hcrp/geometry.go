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
	dst = append(dst, `{"x":`...)
	dst = jsonenc.Int(dst, at.x)
	dst = append(dst, `,"y":`...)
	dst = jsonenc.Int(dst, at.y)
	dst = append(dst, `,"z":`...)
	dst = jsonenc.Int(dst, at.z)
	return append(dst, '}')
}

func appendPosition(dst []byte, p *position) []byte {
	dst = append(dst, `{"x":`...)
	dst = jsonenc.Float64(dst, p[0])
	dst = append(dst, `,"y":`...)
	dst = jsonenc.Float64(dst, p[1])
	dst = append(dst, `,"z":`...)
	dst = jsonenc.Float64(dst, p[2])
	dst = append(dst, `,"yaw":`...)
	dst = jsonenc.Float64(dst, p[3])
	dst = append(dst, `,"pitch":`...)
	dst = jsonenc.Float64(dst, p[4])
	return append(dst, '}')
}
