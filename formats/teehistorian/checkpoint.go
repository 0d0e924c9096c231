package teehistorian

import (
	"encoding/binary"
	"math"
	"sort"

	"recfs/formats/internal/wire"
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
)

// texts are the strings that checkpoints refer to by number.
type texts struct {
	list []string
	ids  map[string]int
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

// appendPlayers appends what is known of all players. What is left out follows from the list of stays.
func appendPlayers(b []byte, s *state, t *texts) []byte {
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		p := &s.players[slot-1]
		flags := p.flags()
		if flags == 0 {
			continue
		}
		b = binary.AppendUvarint(b, uint64(p.cid))
		b = binary.AppendUvarint(b, uint64(flags))
		if flags&hasCharacter != 0 {
			b = appendInt(b, p.x)
			b = appendInt(b, p.y)
		}
		if flags&hasTeam != 0 {
			b = appendInt(b, p.team)
		}
		if flags&hasName != 0 {
			b = binary.AppendUvarint(b, uint64(t.id(p.name)))
		}
		if flags&hasClan != 0 {
			b = binary.AppendUvarint(b, uint64(t.id(p.clan)))
		}
		if flags&hasAuth != 0 {
			b = appendInt(b, p.auth.level)
			b = binary.AppendUvarint(b, uint64(t.id(p.auth.identity)))
		}
		if flags&hasInput != 0 {
			for _, v := range p.input {
				b = appendInt(b, v)
			}
		}
	}
	return b
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
	if p.open {
		set(true, hasStay)
		set(p.joined, hasJoined)
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
	r := indexReader{Cursor: wire.NewCursor(name, c.players, 0), texts: x.texts.list}
	for r.Len() > 0 {
		r.player(&s)
	}
	return s, r.Err()
}

// sortStays lists the stays of each client id.
func (x *index) sortStays() {
	x.byClient = map[int32][]int32{}
	for i := range x.stays {
		cid := x.stays[i].cid
		x.byClient[cid] = append(x.byClient[cid], int32(i))
	}
}

// player reads one player of a checkpoint into s.
func (r *indexReader) player(s *state) {
	cid := r.uint(maxClients - 1)
	if r.Err() == nil {
		r.fill(s.player(int32(cid)))
	}
}

// fill reads what is known of a player besides its id.
func (r *indexReader) fill(p *player) {
	flags := int(r.uint(math.MaxUint16))
	if r.Err() != nil {
		return
	}
	p.alive = flags&hasCharacter != 0
	p.open = flags&hasStay != 0
	p.joined = flags&hasJoined != 0
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
	if p.open && p.stay == noStay {
		r.Fail("an open stay that is not listed")
		return
	}
	if p.alive {
		p.x, p.y = r.int(), r.int()
	}
	if flags&hasTeam != 0 {
		p.team = r.int()
	}
	if p.named {
		p.name = r.text()
	}
	if p.hasClan {
		p.clan = r.text()
	}
	if p.hasAuth {
		p.auth.level = r.int()
		p.auth.identity = r.text()
	}
	if p.hasInput {
		for i := range p.input {
			p.input[i] = r.int()
		}
	}
}

// An indexReader reads the values of a stored index.
type indexReader struct {
	*wire.Cursor
	texts []string
}

// uint reads a number that is at most limit.
func (r *indexReader) uint(limit uint64) uint64 {
	v := r.Uvarint(binary.MaxVarintLen64)
	if v > limit {
		r.Fail("%d where at most %d is possible", v, limit)
		return 0
	}
	return v
}

// int reads an int as recordings have them.
func (r *indexReader) int() int32 {
	var b [maxInt]byte
	for i := range b {
		b[i] = r.U8()
		if b[i] < 0x80 {
			break
		}
	}
	v, _ := readInt(b[:], 0)
	return v
}

// text reads a number of a text.
func (r *indexReader) text() string {
	i := r.uint(math.MaxInt32)
	if r.Err() == nil && i >= uint64(len(r.texts)) {
		r.Fail("no text %d", i)
	}
	if r.Err() != nil {
		return ""
	}
	return r.texts[i]
}

// appendActivity appends what a chunk holds for its stays.
func appendActivity(b []byte, list []activity) []byte {
	last := int32(0)
	for i := range list {
		a := &list[i]
		b = binary.AppendUvarint(b, uint64(a.stay-last))
		last = a.stay
		for _, n := range a.bytes {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = binary.AppendUvarint(b, uint64(a.mentions))
	}
	return b
}

// decodeActivity reads it back.
func decodeActivity(b []byte) ([]activity, error) {
	r := indexReader{Cursor: wire.NewCursor(name, b, 0)}
	var list []activity
	last := uint64(0)
	for r.Len() > 0 {
		var a activity
		last += r.uint(math.MaxInt32)
		a.stay = int32(last)
		for i := range a.bytes {
			a.bytes[i] = int64(r.uint(math.MaxInt64))
		}
		a.mentions = int64(r.uint(math.MaxInt64))
		list = append(list, a)
	}
	return list, r.Err()
}
