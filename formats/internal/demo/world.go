package demo

import (
	"encoding/binary"
	"math"
)

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
