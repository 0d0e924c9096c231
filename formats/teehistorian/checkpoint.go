package teehistorian

import (
	"math"
	"sort"

	"recfs/formats/internal/indexfile"
)

// What is known of a player, as bits in a checkpoint.
const (
	hasCharacter = 1 << iota
	hasStay      // it is open
	hasJoined
	hasAccepted
	hasName
	hasClan
	hasInput
	hasAuth
	hasTeam
	speaks6
	speaks7
	hasLook
	hasStarted
)

// texts are the strings that checkpoints refer to by number.
type texts struct {
	list    []string
	ids     map[string]int
	settled int // how many those of the chunks refer to; the tail may refer to more
}

func (t *texts) id(s string) int {
	i, ok := t.ids[s]
	if !ok {
		i = len(t.list)
		t.list = append(t.list, s)
		if t.ids == nil {
			t.ids = map[string]int{}
		}
		t.ids[s] = i
	}
	return i
}

// drop forgets the texts that only the tail refers to.
func (t *texts) drop() {
	for _, s := range t.list[t.settled:] {
		delete(t.ids, s)
	}
	t.list = t.list[:t.settled]
}

func (p *player) flags() int {
	flags := 0
	set := func(on bool, bit int) {
		if on {
			flags |= bit
		}
	}
	set(p.alive, hasCharacter)
	set(p.team != 0, hasTeam)
	set(p.look != "" && (p.open || p.alive), hasLook) // a character may outlive its stay
	if p.open {
		set(true, hasStay)
		set(p.joined, hasJoined)
		set(p.started, hasStarted)
		set(p.accepted, hasAccepted)
		set(p.named, hasName)
		set(p.hasClan, hasClan)
		set(p.hasInput, hasInput)
		set(p.hasAuth, hasAuth)
		set(p.protocol == protocol6, speaks6)
		set(p.protocol == protocol7, speaks7)
	}
	return flags
}

// setFlags is the inverse of flags, but for the team.
func (p *player) setFlags(flags int) {
	p.alive = flags&hasCharacter != 0
	p.open = flags&hasStay != 0
	p.joined = flags&hasJoined != 0
	p.started = flags&hasStarted != 0
	p.accepted = flags&hasAccepted != 0
	p.named = flags&hasName != 0
	p.hasClan = flags&hasClan != 0
	p.hasInput = flags&hasInput != 0
	p.hasAuth = flags&hasAuth != 0
	switch {
	case flags&speaks6 != 0:
		p.protocol = protocol6
	case flags&speaks7 != 0:
		p.protocol = protocol7
	}
}

// restore returns the state of a checkpoint before the record at offset.
func (x *index) restore(c *checkpoint, offset int64) (state, error) {
	s := state{stays: c.stays}
	for i := range x.practice {
		if ch := &x.practice[i]; ch.offset < offset {
			s.setPractice(ch.team, ch.on)
		}
	}
	for cid, list := range x.byClient {
		if n := sort.Search(len(list), func(i int) bool { return list[i] >= c.stays }); n > 0 {
			p := s.player(cid)
			p.stay = list[n-1]
		}
	}
	r := c.reader(x.texts.list)
	for r.Len() > 0 {
		if cid := r.cid(); r.Err() == nil {
			r.fill(s.player(cid))
		}
	}
	for i := range s.players {
		if p := &s.players[i]; p.stay != noStay && !p.open {
			p.recall(x.stays[p.stay])
		}
	}
	return s, r.Err()
}

// recall sets the name and the clan of p, whose latest stay s is closed: they are the last that s
// had.
func (p *player) recall(s *stay) {
	if n := len(s.names); n > 0 {
		p.name, p.named = s.names[n-1], true
	}
	if s.clan != nil {
		p.clan, p.hasClan = *s.clan, true
	}
}

// sortStays lists the stays of each client id.
func (x *index) sortStays() {
	x.byClient = map[int32][]int32{}
	for i := range x.stays {
		cid := x.stays[i].cid
		x.byClient[cid] = append(x.byClient[cid], int32(i))
	}
}

// writePlayers writes what is known of all players. What is left out follows from the list of
// stays.
//
// Each player, up to the end of the checkpoint:
//
//	| cid varint | flags varint | [x, y zigzag] | [team zigzag] | [name] | [clan] |
//	| [look] | [auth level zigzag, identity] | [input zigzag × inputs] |
//
// What is in brackets is there if its flag is set; a text is a varint, its number among the texts
// of the index.
func writePlayers(w *indexfile.Writer, s *state, t *texts) {
	text := func(s string) { w.Uint(uint64(t.id(s))) }
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		p := &s.players[slot-1]
		flags := p.flags()
		if flags == 0 {
			continue
		}
		w.Uint(uint64(p.cid))
		w.Uint(uint64(flags))
		if flags&hasCharacter != 0 {
			w.Int(int64(p.x))
			w.Int(int64(p.y))
		}
		if flags&hasTeam != 0 {
			w.Int(int64(p.team))
		}
		if flags&hasName != 0 {
			text(p.name)
		}
		if flags&hasClan != 0 {
			text(p.clan)
		}
		if flags&hasLook != 0 {
			text(string(p.look))
		}
		if flags&hasAuth != 0 {
			w.Int(int64(p.auth.level))
			text(p.auth.identity)
		}
		if flags&hasInput != 0 {
			for _, v := range p.input {
				w.Int(int64(v))
			}
		}
	}
}

// A playersReader reads what writePlayers wrote.
type playersReader struct {
	*indexfile.Reader
	texts []string // of the index
}

func (c *checkpoint) reader(texts []string) playersReader {
	return playersReader{indexfile.NewReader(name, c.players), texts}
}

// cid reads the client id of the next player.
func (r playersReader) cid() int32 { return int32(r.Uint(maxClients - 1)) }

// fill reads what is known of a player besides its id.
func (r playersReader) fill(p *player) {
	flags := int(r.Uint(math.MaxUint16))
	if r.Err() != nil {
		return
	}
	p.setFlags(flags)
	if p.open && p.stay == noStay {
		r.Fail("an open stay that is not listed")
		return
	}
	if p.alive {
		p.x, p.y = r.Int32(), r.Int32()
	}
	if flags&hasTeam != 0 {
		p.team = r.Int32()
	}
	if p.named {
		p.name = r.text()
	}
	if p.hasClan {
		p.clan = r.text()
	}
	if flags&hasLook != 0 {
		p.look = look(r.text())
	}
	if p.hasAuth {
		p.auth.level = r.Int32()
		p.auth.identity = r.text()
	}
	if p.hasInput {
		for i := range p.input {
			p.input[i] = r.Int32()
		}
	}
}

// text reads the number of a text.
func (r playersReader) text() string {
	i := r.Uint(math.MaxInt32)
	if r.Err() == nil && i >= uint64(len(r.texts)) {
		r.Fail("no text %d", i)
	}
	if r.Err() != nil {
		return ""
	}
	return r.texts[i]
}
