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
	for _, x := range c.timers {
		w.F32(x)
	}
	for i := range c.bones {
		for _, v := range c.bones[i].Positions {
			writeFloats(&w, v[:])
		}
		for _, q := range c.bones[i].Rotations {
			writeFloats(&w, q[:])
		}
	}
	return w.Bytes()
}

func decodeCarry(b []byte) (carry, error) {
	r := indexfile.NewReader(name, b)
	c := carry{lost: r.Bool(), count: int(r.Int32())}
	readFloats(r, c.timers[:])
	if r.Len()%(4*boneFloats) != 0 {
		r.Fail("%d bytes of bones", r.Len())
	}
	c.bones = make([]echovr.Bones, r.Len()/(4*boneFloats))
	for i := range c.bones {
		for j := range c.bones[i].Positions {
			readFloats(r, c.bones[i].Positions[j][:])
		}
		for j := range c.bones[i].Rotations {
			readFloats(r, c.bones[i].Rotations[j][:])
		}
	}
	if c.count < unknownCount || !c.lost && c.count != len(c.bones) {
		r.Fail("%d players with bones, %d are there", c.count, len(c.bones))
	}
	return c, r.Close()
}

func writeFloats(w *indexfile.Writer, list []float32) {
	for _, x := range list {
		w.F32(x)
	}
}

func readFloats(r *indexfile.Reader, list []float32) {
	for i := range list {
		list[i] = r.F32()
	}
}
