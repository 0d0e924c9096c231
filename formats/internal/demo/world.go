package demo

import (
	"encoding/binary"
	"math"
	"slices"
)

// Types of items (docs/formats/demo.md section 5). Types from 16384 on are free to choose: an item
// of type 0 tells by a UUID what they stand for.
const (
	typeUUID           = 0
	typeGameInfo       = 6
	typeCharacter      = 9
	typePlayerInfo     = 10
	typeClientInfo     = 11
	typeGameInfoEx     = 32766
	typeDDNetCharacter = 32767

	firstExtended = 1 << 14
)

// A Snapshot is the world in one tick: items of ints, sorted by their keys. The zero value is
// empty.
type Snapshot struct {
	keys []uint32 // type and id
	ends []int    // of each item in ints
	ints []int32
}

func (s *Snapshot) reset() {
	s.keys, s.ends, s.ints = s.keys[:0], s.ends[:0], s.ints[:0]
}

// add adds an item, whose key must be greater than those before.
func (s *Snapshot) add(kind, id int32, ints ...int32) {
	s.keys = append(s.keys, uint32(kind)<<16|uint32(id))
	s.ints = append(s.ints, ints...)
	s.ends = append(s.ends, len(s.ints))
}

func (s *Snapshot) item(i int) []int32 {
	if i == 0 {
		return s.ints[:s.ends[0]]
	}
	return s.ints[s.ends[i-1]:s.ends[i]]
}

// append appends the ints of the body of a snapshot (docs/formats/demo.md section 4).
func (s *Snapshot) append(b []byte) []byte {
	b = AppendInt(b, int32(4*(len(s.keys)+len(s.ints))))
	b = AppendInt(b, int32(len(s.keys)))
	offset := 0
	for i := range s.keys {
		b = AppendInt(b, int32(offset))
		offset += 4 * (1 + len(s.item(i)))
	}
	for i, key := range s.keys {
		b = AppendInt(b, int32(key))
		for _, v := range s.item(i) {
			b = AppendInt(b, v)
		}
	}
	return b
}

// A delta collects what is different between two snapshots.
type delta struct {
	gone, new   []byte // the ints of both lists
	goneN, newN int32
}

// between sets d to what makes s out of old.
func (d *delta) between(old, s *Snapshot) {
	*d = delta{gone: d.gone[:0], new: d.new[:0]}
	i := 0
	for j, key := range s.keys {
		for ; i < len(old.keys) && old.keys[i] < key; i++ {
			d.drop(old.keys[i])
		}
		var was []int32
		if i < len(old.keys) && old.keys[i] == key {
			was = old.item(i)
			i++
		}
		d.update(key, was, s.item(j))
	}
	for ; i < len(old.keys); i++ {
		d.drop(old.keys[i])
	}
}

func (d *delta) drop(key uint32) {
	d.gone = AppendInt(d.gone, int32(key))
	d.goneN++
}

// update notes an item that is new, if was is nil, or may have changed.
func (d *delta) update(key uint32, was, is []int32) {
	if was != nil && slices.Equal(was, is) {
		return
	}
	d.newN++
	kind := int32(key >> 16)
	d.new = AppendInt(d.new, kind)
	d.new = AppendInt(d.new, int32(key&0xffff))
	if kind == typeUUID || kind >= firstExtended {
		d.new = AppendInt(d.new, int32(len(is)))
	}
	for i, v := range is {
		if was != nil {
			v -= was[i] // an item of a type has always the same size
		}
		d.new = AppendInt(d.new, v)
	}
}

// empty reports whether nothing changed.
func (d *delta) empty() bool { return d.goneN == 0 && d.newN == 0 }

// append appends the ints of the body of a delta.
func (d *delta) append(b []byte) []byte {
	b = AppendInt(b, d.goneN)
	b = AppendInt(b, d.newN)
	b = AppendInt(b, 0)
	b = append(b, d.gone...)
	return append(b, d.new...)
}

// MaxClients is how many client ids a demo shows.
const MaxClients = 128

// A World is what a snapshot shows.
type World struct {
	Players []Player // by rising ID
	Race    bool     // the clock shows a race
	Began   int32    // the tick in which it began
	Server  Server
}

// A Server is what clients must know of the server.
type Server struct {
	ManyTeams bool // there are teams up to 127, as since 20.0
}

// A Player is a client in the game.
type Player struct {
	ID    int32 // below MaxClients
	Local bool  // the camera follows it
	Info  *Info
	Tee   *Tee // nil: it has none
}

// A Tee is the character of a player.
type Tee struct {
	X, Y     int32
	VX, VY   int32 // distance since the tick before
	Input    Input
	Practice bool // is on in the team
}

// An Input is what a player did, as in recordings.
type Input struct {
	Direction, TargetX, TargetY, Jump, Flags int32
}

// An Info is a ClientInfo: name, clan, country, skin, and colours.
type Info [17]int32

// NewInfo returns the Info of a client.
func NewInfo(name, clan string, country int32, look Look) *Info {
	var v Info
	putText(v[0:4], name)
	putText(v[4:7], clan)
	v[7] = country
	putText(v[8:14], look.Skin)
	if look.Custom {
		v[14] = 1
	}
	v[15], v[16] = look.Body, look.Feet
	return &v
}

// NameSize is how many bytes of a name are shown.
const NameSize = 4*4 - 1

// putText fills ints with a text (docs/formats/demo.md section 5.1): 128 is added to each byte, and
// the last byte is 0.
func putText(ints []int32, s string) {
	s = Cut(s, 4*len(ints)-1)
	for i := range ints {
		b := [4]byte{0x80, 0x80, 0x80, 0x80}
		for k := range b {
			if at := 4*i + k; at < len(s) {
				b[k] += s[at]
			}
		}
		ints[i] = int32(binary.BigEndian.Uint32(b[:]))
	}
	ints[len(ints)-1] &^= 0xff
}

// Values of GameInfo and GameInfoEx (docs/formats/demo.md sections 5.1 and 5.2).
const (
	raceTime     = 8
	gameFlags    = 247983155
	gameVersion  = 13
	gameFlags2   = 64 | 512
	manyTeams    = 2048
	noTime       = -9999
	practice     = 1 << 22
	noWeapon     = -1
	maxWay       = 1024
	velocityUnit = 256
)

// Show sets s to what is in w.
func (s *Snapshot) Show(w *World) {
	s.reset()
	s.add(typeUUID, typeGameInfoEx, -1824658838, -629591830, -1450210576, 914991429)
	s.add(typeUUID, typeDDNetCharacter, 1993229659, -102024632, -1378361269, -1810037668)
	if w.Race {
		s.add(typeGameInfo, 0, 0, raceTime, 0, -w.Began, 0, 0, 0, 1)
	} else {
		s.add(typeGameInfo, 0, 0, 0, 0, 0, 0, 0, 0, 1)
	}
	for i := range w.Players {
		if p := &w.Players[i]; p.Tee != nil {
			s.character(p.ID, p.Tee)
		}
	}
	for i := range w.Players {
		p := &w.Players[i]
		s.add(typePlayerInfo, p.ID, oneIf(p.Local), p.ID, 0, noTime, 0)
	}
	for i := range w.Players {
		p := &w.Players[i]
		s.add(typeClientInfo, p.ID, p.Info[:]...)
	}
	flags := int32(gameFlags2)
	if w.Server.ManyTeams {
		flags |= manyTeams
	}
	s.add(typeGameInfoEx, 0, gameFlags, gameVersion, flags)
	for i := range w.Players {
		if p := &w.Players[i]; p.Tee != nil {
			s.ddnetCharacter(p.ID, p.Tee)
		}
	}
}

func oneIf(on bool) int32 {
	if on {
		return 1
	}
	return 0
}

func (s *Snapshot) character(id int32, t *Tee) {
	vx, vy := t.VX*velocityUnit, t.VY*velocityUnit
	if isFar(t.VX) || isFar(t.VY) {
		vx, vy = 0, 0
	}
	in := &t.Input
	s.add(typeCharacter, id,
		0, t.X, t.Y, vx, vy, angle(in.TargetX, in.TargetY), min(max(in.Direction, -1), 1), min(max(in.Jump, 0), 1),
		-1, 0, 0, 0, 0, 0, 0, // no hook
		in.Flags&0xff, 0, 0, 0, noWeapon, 0, 0)
}

// isFar reports whether a distance in one tick is that of a teleport.
func isFar(way int32) bool { return way > maxWay || way < -maxWay }

func (s *Snapshot) ddnetCharacter(id int32, t *Tee) {
	s.add(typeDDNetCharacter, id, practice*oneIf(t.Practice), 0, 0, -1, 0, 0, -1, -1, t.Input.TargetX, t.Input.TargetY, -1)
}

// angle returns the direction of a target in 1/256 radians (docs/formats/demo.md section 5.3), by
// the same steps in 32 bits as the game.
func angle(x, y int32) int32 {
	if x == 0 && y == 0 {
		y = -1
	}
	a := float32(math.Atan2(float64(y), float64(x)))
	const half = float32(math.Pi) / 2
	if a < -half {
		a += 2 * float32(math.Pi)
	}
	return int32(a * 256)
}
