package echo

import (
	"slices"
)

// An Encoder appends the frames of one recording as JSON, in the keys and their order of the game's
// API.
type Encoder struct {
	has     Has // what all frames have
	session *object[Frame]
}

// NewEncoder returns an Encoder for the frames of m.
func NewEncoder(m *Match) *Encoder {
	e := &Encoder{session: &object[Frame]{sessionObject.shape, slices.Clone(sessionObject.members)}}
	for i := range e.session.members {
		if at := matchObject.place([]byte(e.session.keys[i]), 0); at >= 0 {
			text := matchObject.members[at].put(nil, m, writing{})
			e.session.members[i].put = func(b []byte, _ *Frame, _ writing) []byte { return append(b, text...) }
		}
	}
	if m.Emotes {
		e.has = hasEmotes
	}
	return e
}

// Session appends the document /session of a frame.
func (e *Encoder) Session(b []byte, f *Frame) []byte {
	has := e.has | f.Has&(inArena-1)
	if f.Kind == Combat {
		has |= inCombat
	} else {
		has |= inArena
	}
	if f.Kind != Combat || f.Clock != 0 {
		has |= hasClock
	}
	return e.session.append(b, f, writing{has: has})
}

// AppendBones appends the document /player_bones.
func AppendBones(b []byte, bones []Bones) []byte {
	b = append(b, `{"user_bones":[`...)
	for i := range bones {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"bone_t":[`...)
		for j := range bones[i].Positions {
			b = appendMore(b, bones[i].Positions[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, `,"bone_o":[`...)
		for j := range bones[i].Rotations {
			b = appendMore(b, bones[i].Rotations[j][:])
		}
		b[len(b)-1] = ']'
		b = append(b, '}')
	}
	return append(b, `],"err_code":0}`...)
}
