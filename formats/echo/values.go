package echo

import (
	"slices"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

// A frameValues is what a row of frames has of a session: its values as JSON, nil where it has none.
type frameValues struct {
	status, clock, bluePoints, orangePoints, blueRounds, orangeRounds []byte
	position, velocity                                                [3][]byte
	bounces, pausedState                                              []byte
	possession                                                        [2][]byte
}

// frameKeys are the keys of a session that frames has something of.
var frameKeys = [...]string{
	`"game_status"`, `"game_clock"`, `"blue_points"`, `"orange_points"`, `"blue_round_score"`, `"orange_round_score"`, `"disc"`,
	`"possession"`, `"pause"`,
}

// A Session takes from the members of a session what a row of frames has of it, in parts of it. Where a key is there again, it is
// read behind all that are there for the first time, as the tree shows it, and no more are read than there are keys. The zero value
// has none.
type Session struct {
	values frameValues
	seen   [len(frameKeys)]bool
	known  int // how many were seen
	again  []member
}

type member struct {
	key   string
	value []byte
}

// Member takes a member, whose key has its quotes.
func (s *Session) Member(key, value []byte) {
	switch i := slices.Index(frameKeys[:], string(key)); {
	case i < 0, s.known == len(frameKeys):
	case !s.seen[i]:
		s.seen[i] = true
		s.known++
		s.values.set(frameKeys[i], value)
	case len(s.again) < len(frameKeys):
		s.again = append(s.again, member{frameKeys[i], value})
	}
}

// end returns the values once all members were taken, or as many as there are keys.
func (s *Session) end() *frameValues {
	for _, m := range s.again[:min(len(s.again), len(frameKeys)-s.known)] {
		s.values.set(m.key, m.value)
	}
	return &s.values
}

// ReadSession takes the members of a session.
func ReadSession(session []byte) (s Session) {
	w := jsonenc.Walk(session)
	for key := range w.Members() {
		if s.Member(key, w.Value()); s.known == len(frameKeys) {
			break
		}
	}
	return s
}

// set takes the value of one of frameKeys.
func (v *frameValues) set(key string, value []byte) {
	switch key {
	case `"game_status"`:
		v.status = value
	case `"game_clock"`:
		v.clock = value
	case `"blue_points"`:
		v.bluePoints = value
	case `"orange_points"`:
		v.orangePoints = value
	case `"blue_round_score"`:
		v.blueRounds = value
	case `"orange_round_score"`:
		v.orangeRounds = value
	case `"disc"`:
		v.disc(value)
	case `"possession"`:
		readList(v.possession[:], value)
	case `"pause"`:
		v.pausedState = memberOf(value, `"paused_state"`)
	}
}

func (v *frameValues) disc(disc []byte) {
	of := membersOf(disc, `"position"`, `"velocity"`, `"bounce_count"`)
	readList(v.position[:], of[0])
	readList(v.velocity[:], of[1])
	v.bounces = of[2]
}

// memberOf returns the value of a key, which has its quotes, of an object; nil if it is not there.
func memberOf(object []byte, key string) []byte { return membersOf(object, key)[0] }

// membersOf returns the values of up to three keys as memberOf does.
func membersOf(object []byte, keys ...string) (values [3][]byte) {
	w := jsonenc.Walk(object)
	missing := len(keys)
	for key := range w.Members() {
		value := w.Value()
		if i := slices.Index(keys, string(key)); i >= 0 && values[i] == nil {
			values[i] = value
			missing--
		}
		if missing == 0 {
			break
		}
	}
	return values
}

// readList takes as many elements of a list.
func readList(to [][]byte, list []byte) {
	w := jsonenc.Walk(list)
	for i := range w.Elements(len(to)) {
		to[i] = w.Value()
	}
}

// row adds what frames has of a session.
func (v *frameValues) row(b *columnar.Batch) {
	addText(b, v.status)
	for _, x := range [...][]byte{v.clock, v.bluePoints, v.orangePoints} {
		addFloat(b, x)
	}
	addInt(b, v.blueRounds)
	addInt(b, v.orangeRounds)
	for _, list := range [...]*[3][]byte{&v.position, &v.velocity} {
		for _, x := range list {
			addFloat(b, x)
		}
	}
	for _, x := range [...][]byte{v.bounces, v.possession[0], v.possession[1]} {
		addInt(b, x)
	}
	addText(b, v.pausedState)
}
