package butter

import (
	"recfs/formats/internal/echovr"
	"recfs/formats/internal/indexfile"
)

// boneFloats is how many numbers the bones of one player have: a position and a rotation each.
const boneFloats = echovr.NumBones * (3 + 4)

// encode returns the carry as the checkpoint of a chunk in the saved index.
//
//	| lost bool | count zigzag | paused f32 | unpaused f32 | bones of a player … to the end |
//
// bones: | x, y, z f32 | × NumBones, | x, y, z, w f32 | × NumBones
func (c carry) encode() []byte {
	var w indexfile.Writer
	w.Bool(c.lost)
	w.Int(int64(c.count))
	w.F32s(c.timers[:])
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
	r := indexfile.NewReader(name, b)
	c := carry{lost: r.Bool(), count: int(r.Int32())}
	r.F32s(c.timers[:])
	if r.Len()%(4*boneFloats) != 0 {
		r.Fail("%d bytes of bones", r.Len())
	}
	c.bones = make([]echovr.Bones, r.Len()/(4*boneFloats))
	for i := range c.bones {
		for j := range c.bones[i].Positions {
			r.F32s(c.bones[i].Positions[j][:])
		}
		for j := range c.bones[i].Rotations {
			r.F32s(c.bones[i].Rotations[j][:])
		}
	}
	if c.count < unknownCount || !c.lost && c.count != len(c.bones) {
		r.Fail("%d players with bones, %d are there", c.count, len(c.bones))
	}
	return c, r.Close()
}
