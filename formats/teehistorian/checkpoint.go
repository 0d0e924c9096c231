package teehistorian

import (
	"math"
	"sort"

	"recfs/formats/internal/indexfile"
)

// Bits in a checkpoint that tell what is known of a player: those of the method bits, then these.
const (
	hasTeam = 1 << (playerBits + iota)
	hasLook
	protocolBit // the protocol, a number

	playerBits = 9
	openBits   = 1 << 1 // the first bit that is that of an open stay
)

// bits are what a checkpoint has one bit of.
func (p *player) bits() [playerBits]*bool {
	return [...]*bool{
		&p.alive, &p.open, &p.joined, &p.started, &p.accepted, &p.named, &p.hasClan, &p.hasInput, &p.hasAuth,
	}
}

// texts are the strings that checkpoints and finishes refer to by number.
type texts struct {
	List    []string
	ids     map[string]int // nil: to be made of the list
	Settled int            // how many of them the chunks refer to; the tail may refer to more
}

func (t *texts) id(s string) int {
	if t.ids == nil {
		t.ids = make(map[string]int, len(t.List))
		for i, s := range t.List {
			t.ids[s] = i
		}
	}
	i, ok := t.ids[s]
	if !ok {
		i = len(t.List)
		t.List, t.ids[s] = append(t.List, s), i
	}
	return i
}

// drop forgets the texts that only the tail refers to.
func (t *texts) drop() { t.List, t.ids = t.List[:t.Settled], nil }

func (p *player) flags() int {
	flags := 0
	for i, on := range p.bits() {
		if *on {
			flags |= 1 << i
		}
	}
	if p.open {
		flags |= int(p.protocol) * protocolBit
	} else {
		flags &= openBits - 1
	}
	if p.team != 0 {
		flags |= hasTeam
	}
	if p.look != "" && (p.open || p.alive) { // a character may outlive its stay
		flags |= hasLook
	}
	return flags
}

// restore returns the state of a checkpoint before the record at offset.
func (x *index) restore(c *checkpoint, offset int64) (state, error) {
	s := state{stays: c.Stays}
	for i := range x.practice {
		if ch := &x.practice[i]; ch.Offset < offset {
			s.setPractice(ch.Team, ch.On)
		}
	}
	for cid, list := range x.byClient {
		if n := sort.Search(len(list), func(i int) bool { return list[i] >= c.Stays }); n > 0 {
			p := s.player(cid)
			p.stay = list[n-1]
		}
	}
	r := indexfile.NewReader(name, c.Players)
	for r.Len() > 0 {
		s.player(int32(r.Uint(maxClients-1))).code(indexfile.Codec{R: r}, &x.texts)
	}
	for i := range s.players {
		if p := &s.players[i]; p.stay != noStay && !p.open {
			p.recall(x.stays[p.stay])
		}
	}
	return s, r.Err()
}

// recall sets the name and the clan of p to the last that its latest stay had. That stay, s, is
// closed.
func (p *player) recall(s *stay) {
	if n := len(s.Names); n > 0 {
		p.name, p.named = s.Names[n-1], true
	}
	if s.Clan != nil {
		p.clan, p.hasClan = *s.Clan, true
	}
}

// sortStays lists the stays of each client id.
func (x *index) sortStays() {
	x.byClient = map[int32][]int32{}
	for i := range x.stays {
		cid := x.stays[i].CID
		x.byClient[cid] = append(x.byClient[cid], int32(i))
	}
}

// writePlayers writes what is known of all players. What is left out follows from the list of
// stays.
//
// Each player, up to the end of the checkpoint: | cid | what code has |
func writePlayers(w *indexfile.Writer, s *state, t *texts) {
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		if p := &s.players[slot-1]; p.flags() != 0 {
			w.Uint(uint64(p.cid))
			p.code(indexfile.Codec{W: w}, t)
		}
	}
}

// code writes or reads what is known of a player besides its id:
//
//	| flags varint | [x, y zigzag] | [team zigzag] | [look] | [name] | [clan] |
//	| [auth level zigzag, identity] | [input zigzag × inputs] |
//
// Values in brackets are there if their flags are set. A text is a varint: its number among the
// texts of the index.
func (p *player) code(c indexfile.Codec, t *texts) {
	flags := p.flags()
	if indexfile.Uint(c, &flags, math.MaxUint16); c.R != nil {
		for i, on := range p.bits() {
			*on = flags>>i&1 != 0
		}
		p.protocol = protocol(flags / protocolBit)
		if p.open && p.stay == noStay {
			c.R.Fail("an open stay that is not listed")
		}
	}
	if p.alive {
		c.Values(&p.x, &p.y)
	}
	if flags&hasTeam != 0 {
		c.Values(&p.team)
	}
	if flags&hasLook != 0 {
		t.code(c, (*string)(&p.look))
	}
	if !p.open { // the rest is that of its stay
		return
	}
	if p.named {
		t.code(c, &p.name)
	}
	if p.hasClan {
		t.code(c, &p.clan)
	}
	if p.hasAuth {
		c.Values(&p.auth.level)
		t.code(c, &p.auth.identity)
	}
	if p.hasInput {
		for i := range p.input {
			c.Values(&p.input[i])
		}
	}
}

// code writes or reads the number of a text.
func (t *texts) code(c indexfile.Codec, s *string) {
	if c.W != nil {
		c.W.Count(t.id(*s))
		return
	}
	if i := c.R.Uint(math.MaxInt32); i < uint64(len(t.List)) {
		*s = t.List[i]
	} else {
		c.R.Fail("no text %d", i)
	}
}
