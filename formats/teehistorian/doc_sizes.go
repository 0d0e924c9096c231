package teehistorian

import (
	"context"
	"math/bits"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// docSizes returns the sizes of the documents of all ticks of chunk k, or of what stands behind time_ms in those of
// the states after them. Of the records only lengths are made.
func (r *recording) docSizes(ctx context.Context, k int, states bool) ([]int64, error) {
	if err := r.idx.enough(ctx, k, 0); err != nil {
		return nil, err
	}
	from, err := r.chunkStart(k)
	if err != nil {
		return nil, err
	}
	ticks := r.idx.ticksOf(k)
	held, err := formats.Charge(ctx, int64(8*len(ticks)))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	c := r.cursor(ctx, from, k, chunkSize)
	m := docMeter{render: &r.render, state: &c.state}
	if states {
		m.players = make([]int, 0, len(c.state.players))
		m.measureAll()
	}
	sizes := make([]int64, len(ticks))
	for i, t := range ticks {
		m.events, m.count = 0, 0
		for more := true; more; {
			if more, err = c.next(t); err != nil {
				return nil, err
			}
			switch {
			case !more:
			case states:
				m.follow(&c.event)
			default:
				m.events += m.eventLen(&c.event)
				m.count++
			}
		}
		if sizes[i] = m.stateSize(); !states {
			sizes[i] = m.tickSize(t)
		}
	}
	return sizes, nil
}

// A docMeter counts the bytes of documents.
type docMeter struct {
	render *renderer
	state  *state
	buf    []byte

	// Of a tick.
	events int64 // bytes of its events
	count  int64

	// Of a state: the bytes of each player that is shown, 0 for another one, and of all of them with the teams.
	players []int
	shown   int64
	sum     int64
	teams   int64
}

// tickSize returns the size of the document of tick t, which has an event at least.
func (m *docMeter) tickSize(t int32) int64 {
	m.buf = appendDocumentHead(m.buf[:0], t)
	return int64(len(m.buf)+len(eventsHead)+len(documentTail)-len(",")) + m.events + m.count*int64(len(",")+len(element))
}

// eventLen returns the length of an event that was applied. For the two kinds that nearly all records are it follows
// from their numbers, see account.
func (m *docMeter) eventLen(e *event) int64 {
	switch {
	case e.kind == playerDiff && e.known:
		return int64(playerDiffLen - len(",") + jsonenc.UintLen(uint64(e.offset)) + jsonenc.IntLen(e.cid) +
			jsonenc.ShortLen(e.x) + jsonenc.ShortLen(e.y) + jsonenc.IntLen(e.player.x) + jsonenc.IntLen(e.player.y))
	case e.kind == inputDiff && e.known:
		n := inputDiffLen - len(",") + jsonenc.UintLen(uint64(e.offset)) + jsonenc.IntLen(e.cid) + inputLen(&e.player.input)
		for c := e.changed; c != 0; c &= c - 1 {
			i := bits.TrailingZeros16(c)
			n += inputDiffLens[i] + jsonenc.ShortLen(e.input[i])
		}
		if e.changed != 0 {
			n -= len(",")
		}
		return int64(n)
	}
	m.buf = m.render.appendEvent(m.buf[:0], e)
	return int64(len(m.buf))
}

// stateSize returns the size of what appendState appends.
func (m *docMeter) stateSize() int64 {
	n := int64(len(",\n  \"players\": [")+len("]\n}\n")) + m.sum + m.teams
	if m.shown > 0 {
		n += m.shown*int64(len(",")+len(element)) - int64(len(",")) + int64(len("\n  "))
	}
	return n
}

// follow takes in an event that was applied.
func (m *docMeter) follow(e *event) {
	switch {
	case e.kind == playerDiff && e.known:
		m.grow(e.place, jsonenc.IntLen(e.player.x)-jsonenc.IntLen(e.player.x-e.x)+jsonenc.IntLen(e.player.y)-jsonenc.IntLen(e.player.y-e.y))
	case e.kind == inputDiff && e.known:
		n := 0
		for c := e.changed; c != 0; c &= c - 1 {
			i := bits.TrailingZeros16(c)
			n += jsonenc.ShortLen(e.player.input[i]) - jsonenc.ShortLen(e.player.input[i]-e.input[i])
		}
		m.grow(e.place, n)
	case e.kind == extension: // teams may be others, and a player who has no stay
		m.measureAll()
	case e.stay != noStay:
		m.measure(e.place)
	}
}

// grow counts that a player takes n bytes more.
func (m *docMeter) grow(place, n int) {
	m.players[place] += n
	m.sum += int64(n)
}

// measureAll measures all players and the teams.
func (m *docMeter) measureAll() {
	for i := range m.state.players {
		m.measure(i)
	}
	m.buf = appendTeams(m.buf[:0], m.state)
	m.teams = int64(len(m.buf))
}

// measure measures a player.
func (m *docMeter) measure(place int) {
	for len(m.players) <= place {
		m.players = append(m.players, 0)
	}
	n := 0
	if p := &m.state.players[place]; p.shown() {
		m.buf = appendPlayer(m.buf[:0], p)
		n = len(m.buf)
	}
	if m.players[place] > 0 {
		m.shown--
	}
	if n > 0 {
		m.shown++
	}
	m.grow(place, n-m.players[place])
}
