package echo

import (
	"math/bits"

	"recfs/formats/internal/indexfile"
)

// A carry is what one chunk hands to the next: bones and pause timers, the only values that key
// frames do not hold (docs/formats/butter.md section 9).
type carry struct {
	timers [2]float32 // paused, unpaused
	lost   bool       // the bones of the frame before are not known
	count  int        // of players with bones in the frame before; unknownCount if not even that is known
	bones  []Bones    // of these players, unless lost
	since  int64      // bytes of chunks since the last checkpoint with bones; 0: this checkpoint has them
}

const unknownCount = -1

// afterDamage is what a chunk starts from if the one before cannot be trusted.
var afterDamage = carry{lost: true, count: unknownCount}

func (c carry) clone() carry {
	c.bones = append([]Bones(nil), c.bones...)
	return c
}

// bones reads the bone section (docs/formats/butter.md section 8) and returns the bones to show.
func (d *decoder) bones() []Bones {
	n := d.U8()
	count := 0
	if n&1 != 0 {
		count = int(n >> 1)
	}
	if d.lean {
		for range count {
			d.passBones()
		}
		return nil
	}
	d.carry.rebase(count)
	if count == 0 {
		return nil
	}
	if d.carry.lost {
		var unused Bones
		for range count {
			d.bonePlayer(&unused)
		}
		return nil
	}
	for i := range d.carry.bones {
		d.bonePlayer(&d.carry.bones[i])
	}
	if d.reuse {
		return d.carry.bones
	}
	return d.keep(d.carry.bones)
}

// rebase makes the carry ready for a frame with count bone players: they start anew unless the
// frame before had as many.
func (c *carry) rebase(count int) {
	known := c.count != unknownCount
	switch {
	case count == 0:
		c.lost = false
		c.bones = c.bones[:0]
	case known && count != c.count:
		c.lost = false
		c.bones = c.bones[:0]
		for range count {
			b := Bones{}
			for i := range b.Rotations {
				b.Rotations[i] = Identity
			}
			c.bones = append(c.bones, b)
		}
	}
	c.count = count
}

func (d *decoder) bonePlayer(b *Bones) {
	positions, rotations := d.mask(), d.mask()
	for ; positions != 0 && d.Err() == nil; positions &= positions - 1 {
		p := &b.Positions[bits.TrailingZeros32(positions)]
		*p = p.Add(Vec3{fixed(d.Cursor), fixed(d.Cursor), fixed(d.Cursor)})
	}
	for ; rotations != 0 && d.Err() == nil; rotations &= rotations - 1 {
		r := &b.Rotations[bits.TrailingZeros32(rotations)]
		*r = quat(d.Cursor).Mul(*r)
	}
}

// passBones passes over the bones of a player.
func (d *decoder) passBones() {
	positions, rotations := d.mask(), d.mask()
	d.Skip(uvarintsLen(d.Left(), 3*bits.OnesCount32(positions)) + quatSize*bits.OnesCount32(rotations))
}

// mask reads the 23 bits that say which bones follow.
func (d *decoder) mask() uint32 {
	b := d.Bytes(3)
	if b == nil {
		return 0
	}
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) & (1<<NumBones - 1)
}

// keep returns a copy that stays when the state moves on.
func (d *decoder) keep(bones []Bones) []Bones {
	if len(d.boneSlab)+len(bones) > cap(d.boneSlab) {
		d.boneSlab = make([]Bones, 0, slab(cap(d.boneSlab), len(bones)))
	}
	start := len(d.boneSlab)
	d.boneSlab = append(d.boneSlab, bones...)
	return d.boneSlab[start:len(d.boneSlab):len(d.boneSlab)]
}

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
	x.Whole(&c.timers)
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
		x.Whole(&c.bones[i])
	}
}

// complete reports whether the bones are there, if there are any.
func (c carry) complete() bool { return c.lost || c.count == len(c.bones) }
