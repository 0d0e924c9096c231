package echo

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"recfs/formats/internal/wire"
)

// refer notes a reference that no intact file has.
func (d *decoder) refer(ref uint8) {
	d.badRef = d.badRef || int(ref) >= len(d.users.of)
}

// teams reads the three teams (docs/formats/butter.md section 7).
func (d *decoder) teams() {
	for i := len(d.players) - 1; i >= 0; i-- {
		d.base[d.users.same[d.courses[i].ref]] = uint16(i + 1)
	}
	d.next = d.room()
	mask := d.U8()
	for t := range d.frame.Teams {
		team := &d.frame.Teams[t]
		team.Possession = t < 2 && mask>>t&1 != 0
		if mask>>(2+t)&1 != 0 {
			d.stats(&team.Stats)
		}
		for range d.U8() {
			d.player(t)
		}
	}
	for i := range d.players {
		d.base[d.users.same[d.courses[i].ref]] = 0
	}
}

// player reads one player of a team.
func (d *decoder) player(team int) {
	ref := d.U8()
	d.refer(ref)
	p, c := d.addPlayer(int(d.base[d.users.same[ref]]) - 1)
	u := d.users.at(ref)
	p.Name, p.UserID, p.Number, p.Level = u.name, u.id, u.number, u.level
	c.ref, c.team = ref, team
	p.ID = int32(d.U8())
	mask := d.U8()
	p.Possession, p.Blocking = mask&1 != 0, mask&2 != 0
	p.Stunned, p.Invulnerable = mask&4 != 0, mask&8 != 0
	p.Emote = d.layout.emotes && mask&16 != 0
	if mask&d.layout.stats != 0 {
		d.stats(&p.Stats)
		p.HasStats = true
	}
	if mask&d.layout.ping != 0 {
		p.Ping += int32(int16(d.U16()))
		p.Loss += half(d.Cursor)
	}
	if mask&d.layout.holding != 0 && d.layout.holdingOn(d.kind) {
		left, right := d.U8(), d.U8()
		if d.kind != combat { // where the game does not tell
			p.Holding = [2]string{holdings[left], holdings[right]}
		}
	}
	if mask&128 != 0 {
		p.Velocity = p.Velocity.Add(vec3(d.Cursor))
	}
	d.poses(p, c)
	if d.kind == combat && d.layout.loadouts {
		p.Loadout = &loadouts[d.U8()&0x7f]
	}
}

// addPlayer adds a player that goes on from player base of the frame before; -1: a new player.
func (d *decoder) addPlayer(base int) (*Player, *course) {
	if base >= 0 {
		d.next, d.nextCourses = append(d.next, d.players[base]), append(d.nextCourses, d.courses[base])
		return &d.next[len(d.next)-1], &d.nextCourses[len(d.nextCourses)-1]
	}
	d.next, d.nextCourses = append(d.next, Player{}), append(d.nextCourses, course{})
	p := &d.next[len(d.next)-1]
	for i := range p.Poses {
		p.Poses[i].Rotation = Identity
	}
	if d.kind == combat { // where the game does not tell
		p.Lacks = LacksAllFlags
	}
	return p, &d.nextCourses[len(d.nextCourses)-1]
}

func (d *decoder) poses(p *Player, c *course) {
	mask := d.U8()
	for i := range p.Poses {
		if mask>>(2*i)&1 != 0 {
			c.steps[i] = vec3(d.Cursor)
		}
		p.Poses[i].Position = p.Poses[i].Position.Add(c.steps[i])
		switch {
		case mask>>(2*i+1)&1 == 0:
		case d.lean:
			d.Skip(quatSize)
		default:
			p.Poses[i].Rotation = quat(d.Cursor)
		}
	}
}

// statsSize is how many bytes a stats block has.
const statsSize = 14

// The indexes in Stats.Counts of the bytes of a stats block, in the order stored.
var (
	statsBefore = [...]int{9, 7, 5, 2, 8, 4, 0, 1, 6, 10} // assists, blocks, catches, goals, interceptions, passes, points, saves, steals, shots_taken
	statsStuns  = 3
)

// stats adds the differences of a stats block. Counters wrap around as they did when the recorder
// subtracted them.
func (d *decoder) stats(s *Stats) {
	if d.lean {
		d.Skip(statsSize)
		return
	}
	for _, i := range statsBefore {
		s.Counts[i] = int32(uint8(s.Counts[i]) + d.U8())
	}
	s.PossessionTime += half(d.Cursor)
	s.Counts[statsStuns] = int32(uint16(s.Counts[statsStuns]) + d.U16())
}

// holdings says what a hand holds, by the stored byte; empty: the recorder did not know.
var holdings = func() (t [256]string) {
	for i := range t {
		t[i] = strconv.Itoa(i)
	}
	t[252], t[253], t[254], t[255] = "", "disc", "geo", "none"
	return t
}()

// loadouts has all loadouts by their byte.
var loadouts = func() (t [128]Loadout) {
	weapons := [4]string{"rocket", "blaster", "scout", "assault"}
	ordnances := [4]string{"stun", "det", "burst", "arc"}
	tacMods := [4]string{"sensor", "wraith", "heal", "shield"}
	arms := [2]string{"Left", "Right"}
	for i := range t {
		t[i] = Loadout{Weapon: weapons[i&3], Ordnance: ordnances[i>>2&3], TacMod: tacMods[i>>4&3], Arm: arms[i>>6]}
	}
	return t
}()

// half reads an IEEE 754 binary16.
func half(c *wire.Cursor) float32 { return fromHalf(c.U16()) }

func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exponent == 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	case exponent == 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

func vec3(c *wire.Cursor) Vec3 {
	if b := c.Left(); len(b) >= 6 {
		c.Skip(6)
		return Vec3{
			fromHalf(binary.LittleEndian.Uint16(b)), fromHalf(binary.LittleEndian.Uint16(b[2:])), fromHalf(binary.LittleEndian.Uint16(b[4:])),
		}
	}
	return Vec3{half(c), half(c), half(c)} // one of which fails
}

// quatSize is how many bytes a packed rotation has.
const quatSize = 4

// quat reads a rotation packed as the three smaller of its components (docs/formats/butter.md
// section 2).
func quat(c *wire.Cursor) Quat { return fromPacked(c.U32()) }

func fromPacked(w uint32) Quat {
	return Unpack(int(w&3), component(w>>2), component(w>>12), component(w>>22))
}

// component returns the meaning of the lowest ten bits.
func component(n uint32) float32 {
	return float32(float64(float64(float32(n&0x3ff)/1023)*1.41421356) - 0.70710678)
}

// varint reads a signed integer of variable length (docs/formats/butter.md section 2).
func varint(c *wire.Cursor) int64 {
	u := uvarint(c)
	return int64(u>>1) ^ -int64(u&1)
}

func uvarint(c *wire.Cursor) uint64 {
	first := c.U8()
	switch {
	case first <= 240:
		return uint64(first)
	case first <= 248:
		return 240 + 256*uint64(first-241) + uint64(c.U8())
	case first == 249:
		high := uint64(c.U8())
		return 2288 + 256*high + uint64(c.U8())
	}
	var u uint64
	for i, b := range c.Bytes(int(first) - 247) {
		u |= uint64(b) << (8 * i)
	}
	return u
}

// uvarintLen is how many bytes a number has by its first one.
var uvarintLen = func() (t [256]uint8) {
	for first := range t {
		switch {
		case first <= 240:
			t[first] = 1
		case first <= 248:
			t[first] = 2
		default:
			t[first] = uint8(first - 246)
		}
	}
	return t
}()

// uvarintsLen returns how many bytes the first n numbers of b have. It is more than len(b) if they
// do not end in b.
func uvarintsLen(b []byte, n int) (at int) {
	const each, high, over = 0x0101010101010101, 0x80, 0x80 - 241&0x7f // which makes a high bit of the others of 241 and more
	for n >= 8 && at+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[at:])
		long := (x&(^uint64(high*each)) + over*each) & x & (high * each)
		single := bits.TrailingZeros64(long) / 8
		if at, n = at+single, n-single; long != 0 {
			at += int(uvarintLen[b[at]])
			n--
		}
	}
	for ; n > 0 && at < len(b); n-- {
		at += int(uvarintLen[b[at]])
	}
	return at + n
}

// fixed reads a component of a bone's position.
func fixed(c *wire.Cursor) float32 {
	return float32(float64((float64(varint(c))+8192)/16384*4) - 2)
}
