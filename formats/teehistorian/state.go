package teehistorian

import "maps"

// maxClients bounds the client ids that have a state. Servers use those from 0 to 127.
const maxClients = 1024

// noStay is the stay of a record that counts for none.
const noStay = -1

// A player is what is known of one client id. The fields below stay are forgotten when the next
// stay begins.
type player struct {
	cid   int32
	alive bool // has a character, at x, y
	x, y  int32
	team  int32

	stay     int32 // the open stay or else the latest, noStay before the first
	open     bool
	joined   bool // the stay has its JOIN
	started  bool // the stay has its Cl_StartInfo
	accepted bool // the name is that of a PLAYER_NAME
	named    bool
	hasClan  bool
	hasInput bool
	hasAuth  bool
	protocol protocol
	input    [inputs]int32
	name     string
	clan     string
	look     look
	auth     auth
}

// auth is a login to the remote console.
type auth struct {
	level    int32
	identity string
}

// An event is a record with what it means for the state.
type event struct {
	record
	player *player // of its stay, nil if it counts for none
	place  int     // of player in state.players
	stay   int32   // the stay it counts for, or noStay
	effect
	message message
	payload payload
}

// An effect is what an event does.
type effect struct {
	began   bool // its stay began with it
	renamed bool // the name of the stay has changed
	started bool // it is the first Cl_StartInfo of the stay
	known   bool // the position or input after it is known, and in player
	anomaly anomaly
}

// An anomaly is something that does not happen in a recording that began cleanly.
type anomaly uint8

const (
	noAnomaly anomaly = iota
	diffWithoutCharacter
	oldWithoutCharacter
	newOutOfRange
	newWithCharacter
	diffWithoutInput
)

func (a anomaly) String() string {
	return [...]string{
		noAnomaly:            "",
		diffWithoutCharacter: "PLAYER_DIFF of an id without a character",
		oldWithoutCharacter:  "PLAYER_OLD of an id without a character",
		newOutOfRange:        "PLAYER_NEW of an id out of range",
		newWithCharacter:     "PLAYER_NEW of an id that has a character",
		diffWithoutInput:     "INPUT_DIFF without a known input",
	}[a]
}

// A state is what the records up to some point add up to (docs/tree/teehistorian.md section 6).
type state struct {
	players  []player           // in the order in which their ids appear
	slots    [maxClients]uint16 // index in players + 1 by client id
	practice map[int32]bool     // teams that have it on
	stays    int32              // how many have begun
}

func (s *state) clone() state {
	c := *s
	c.players = append([]player(nil), s.players...)
	c.practice = maps.Clone(s.practice)
	return c
}

// lookup returns the player of a client id, nil if nothing is known of it.
func (s *state) lookup(cid int32) *player {
	if uint32(cid) >= maxClients || s.slots[cid] == 0 {
		return nil
	}
	return &s.players[s.slots[cid]-1]
}

// player returns the player of a client id, nil only if it is out of range.
func (s *state) player(cid int32) *player {
	if p := s.lookup(cid); p != nil {
		return p
	}
	if uint32(cid) >= maxClients {
		return nil
	}
	s.players = append(s.players, player{cid: cid, stay: noStay})
	s.slots[cid] = uint16(len(s.players))
	return &s.players[len(s.players)-1]
}

// touch finds the stay that an event of a client id counts for (docs/tree/teehistorian.md
// section 7). opens says that its kind begins one if none is open.
func (s *state) touch(e *event, cid int32, opens bool) *player {
	p := s.player(cid)
	if p == nil {
		return nil
	}
	e.player, e.place = p, int(s.slots[cid])-1
	if p.stay == noStay || opens && !p.open {
		s.begin(e, p, unknownProtocol)
	}
	e.stay = p.stay
	return p
}

// follow is touch for the kinds that begin a stay only if the id never had one.
func (s *state) follow(e *event) *player {
	if uint32(e.cid) < maxClients {
		if place := int(s.slots[e.cid]) - 1; place >= 0 {
			if p := &s.players[place]; p.stay != noStay {
				e.player, e.place, e.stay = p, place, p.stay
				return p
			}
		}
	}
	return s.touch(e, e.cid, false)
}

// begin begins a stay of p.
func (s *state) begin(e *event, p *player, proto protocol) {
	*p = player{
		cid: p.cid, alive: p.alive, x: p.x, y: p.y, team: p.team,
		stay: s.stays, open: true, protocol: proto,
	}
	s.stays++
	e.stay, e.began = p.stay, true
}

// latest makes e count for the open or else the latest stay of a client id, if it ever had one.
func (s *state) latest(e *event, cid int32) *player {
	p := s.lookup(cid)
	if p == nil || p.stay == noStay {
		return nil
	}
	e.player, e.place, e.stay = p, int(s.slots[cid])-1, p.stay
	return p
}

// apply follows the record of e and fills in the rest of e.
func (s *state) apply(e *event) {
	e.player, e.stay, e.effect = nil, noStay, effect{} // not those of the record before
	switch e.kind {
	case playerDiff:
		p := s.follow(e)
		if p == nil || !p.alive {
			e.anomaly = diffWithoutCharacter
			return
		}
		p.x += e.x
		p.y += e.y
		e.known = true
	case inputDiff:
		p := s.follow(e)
		if p == nil || !p.open || !p.hasInput {
			e.anomaly = diffWithoutInput
			return
		}
		p.input[0] += e.input[0]
		p.input[1] += e.input[1]
		p.input[2] += e.input[2]
		if e.changed>>3 != 0 { // seldom
			for i := 3; i < inputs; i++ {
				p.input[i] += e.input[i]
			}
		}
		e.known = true
	case inputNew:
		if p := s.touch(e, e.cid, true); p != nil {
			p.input, p.hasInput = e.input, true
		}
		e.known = true
	case playerNew:
		s.applyNew(e)
	case playerOld:
		p := s.touch(e, e.cid, false)
		if p == nil || !p.alive {
			e.anomaly = oldWithoutCharacter
			return
		}
		p.alive, p.x, p.y = false, 0, 0
	case netMessage:
		s.applyMessage(e)
	case join:
		if p := s.touch(e, e.cid, true); p != nil {
			if p.joined {
				s.begin(e, p, p.protocol)
			}
			p.joined = true
		}
	case drop:
		if p := s.latest(e, e.cid); p != nil {
			p.open = false
		}
	case consoleCommand:
		s.touch(e, e.cid, false)
	case extension:
		s.applyExtension(e)
	}
}

func (s *state) applyNew(e *event) {
	p := s.touch(e, e.cid, true)
	switch {
	case p == nil:
		e.anomaly = newOutOfRange
		return
	case p.alive:
		e.anomaly = newWithCharacter
	}
	p.alive, p.x, p.y = true, e.x, e.y
	e.known = true
}

func (s *state) applyMessage(e *event) {
	p := s.touch(e, e.cid, true)
	if p == nil {
		e.message.decode(e.data, unknownProtocol)
		return
	}
	e.message.decode(e.data, p.protocol)
	p.protocol = e.message.protocol
	if e.message.isInfo() {
		if !p.accepted {
			e.rename(cleanText(find(e.message.values, "name").bytes))
		}
		p.clan, p.hasClan = cleanText(find(e.message.values, "clan").bytes), true
	}
	p.setLook(&e.message)
	if e.message.ok && e.message.typ.name == "Cl_StartInfo" {
		e.started, p.started = !p.started, true
	}
}

// rename gives the stay of e a name.
func (e *event) rename(name string) {
	p := e.player
	e.renamed = !p.named || p.name != name
	p.name, p.named = name, true
}

// applyExtension follows an EX record. One with missing fields changes nothing.
func (s *state) applyExtension(e *event) {
	x := &e.payload
	x.decode(&e.record)
	if x.short {
		return
	}
	cid := x.num("cid")
	switch x.typ.event {
	case "joinver6":
		if p := s.touch(e, cid, true); p != nil {
			p.protocol = protocol6
		}
	case "joinver7":
		if p := s.touch(e, cid, true); p != nil {
			p.protocol = protocol7
		}
	case "player_ready", "player_rejoin", "ddnetver", "ddnetver_old":
		s.touch(e, cid, true)
	case "player_finish":
		s.touch(e, cid, false)
	case "player_name":
		if p := s.touch(e, cid, true); p != nil {
			e.rename(cleanText(find(x.values, "name").bytes))
			p.accepted = true
		}
	case "auth_init", "auth_login":
		if p := s.touch(e, cid, true); p != nil {
			p.auth, p.hasAuth = auth{x.num("level"), cleanText(find(x.values, "identity").bytes)}, true
		}
	case "auth_logout":
		if p := s.latest(e, cid); p != nil {
			p.auth, p.hasAuth = auth{}, false
		}
	case "player_team":
		if p := s.player(cid); p != nil {
			p.team = x.num("team")
		}
		s.latest(e, cid)
	case "team_practice":
		s.setPractice(x.num("team"), x.num("practice") != 0)
	case "player_switch":
		s.latest(e, x.num("cid1"))
	}
}

func (s *state) setPractice(team int32, on bool) {
	if !on {
		delete(s.practice, team)
		return
	}
	if s.practice == nil {
		s.practice = map[int32]bool{}
	}
	s.practice[team] = true
}
