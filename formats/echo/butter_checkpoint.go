package echo

import (
	"recfs/formats/internal/indexfile"
)

// boneFloats is how many numbers the bones of one player have: a position and a rotation each.
const boneFloats = NumBones * (3 + 4)

// boneShare is how many bytes of chunks there are for each byte of bones in checkpoints. With 8
// players a checkpoint has bones every 80 KiB, which are 60 frames: real chunks are longer, so each
// has its own. To learn the bones of a chunk without them, the frames since the last checkpoint
// with bones must be decoded.
const boneShare = 16

// pass counts a chunk of n bytes. The checkpoint of the next one has the bones if they are due.
func (c *carry) pass(n int64) {
	c.since += n
	if c.since >= int64(boneShare*4*boneFloats*len(c.bones)) {
		c.since = 0
	}
}

// encode returns the carry as the checkpoint of a chunk in the saved index, with the bones in any
// case if all is set.
//
//	| lost bool | count zigzag | paused f32 | unpaused f32 | since | bones of a player … to the end |
//
// bones: | x, y, z f32 | × NumBones, | x, y, z, w f32 | × NumBones
func (c carry) encode(all bool) []byte {
	return indexfile.Append(nil, func(x indexfile.Codec) { c.code(x, all) })
}

func decodeCarry(b []byte) (c carry, err error) {
	err = indexfile.Read(butterName, b, func(x indexfile.Codec) {
		c.code(x, true)
		if c.count < unknownCount || !c.complete() && (c.since == 0 || len(c.bones) > 0) {
			x.R.Fail("%d players with bones, %d are there", c.count, len(c.bones))
		}
	})
	return c, err
}

// code writes the carry, with the bones if they are due or all is set, or reads it.
func (c *carry) code(x indexfile.Codec, all bool) {
	count := int32(c.count)
	x.Values(&c.lost, &count)
	x.F32s(c.timers[:])
	x.Values(&c.since)
	switch {
	case x.R != nil:
		c.count = int(count)
		if x.R.Len()%(4*boneFloats) != 0 {
			x.R.Fail("%d bytes of bones", x.R.Len())
		}
		c.bones = make([]Bones, x.R.Len()/(4*boneFloats))
	case !all && c.since > 0:
		return
	}
	for i := range c.bones {
		for j := range c.bones[i].Positions {
			x.F32s(c.bones[i].Positions[j][:])
		}
		for j := range c.bones[i].Rotations {
			x.F32s(c.bones[i].Rotations[j][:])
		}
	}
}

// complete reports whether the bones are there, if there are any.
func (c carry) complete() bool { return c.lost || c.count == len(c.bones) }
