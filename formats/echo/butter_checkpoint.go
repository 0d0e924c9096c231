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
	var w indexfile.Writer
	w.Bool(c.lost)
	w.Int(int64(c.count))
	w.F32s(c.timers[:])
	w.Size(c.since)
	if !all && c.since > 0 {
		return w.Bytes()
	}
	for i := range c.bones {
		for _, v := range c.bones[i].Positions {
			w.F32s(v[:])
		}
		for _, q := range c.bones[i].Rotations {
			w.F32s(q[:])
		}
	}
	return w.Bytes()
}

func decodeCarry(b []byte) (carry, error) {
	r := indexfile.NewReader(butterName, b)
	c := carry{lost: r.Bool(), count: int(r.Int32())}
	r.F32s(c.timers[:])
	c.since = r.Size()
	if r.Len()%(4*boneFloats) != 0 {
		r.Fail("%d bytes of bones", r.Len())
	}
	c.bones = make([]Bones, r.Len()/(4*boneFloats))
	for i := range c.bones {
		for j := range c.bones[i].Positions {
			r.F32s(c.bones[i].Positions[j][:])
		}
		for j := range c.bones[i].Rotations {
			r.F32s(c.bones[i].Rotations[j][:])
		}
	}
	if c.count < unknownCount || !c.complete() && (c.since == 0 || len(c.bones) > 0) {
		r.Fail("%d players with bones, %d are there", c.count, len(c.bones))
	}
	return c, r.Close()
}

// complete reports whether the bones are there, if there are any.
func (c carry) complete() bool { return c.lost || c.count == len(c.bones) }
