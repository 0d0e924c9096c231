package echo

import (
	"math"
	"slices"
	"strconv"
	"time"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// An Encoder appends the frames of one recording as JSON, with the keys of the game's API in its
// order.
type Encoder struct {
	has     Has // what all frames have
	session *object[Frame]
}

// NewEncoder returns an Encoder for the frames of m.
func NewEncoder(m *Match) *Encoder {
	e := &Encoder{session: &object[Frame]{sessionObject.shape, slices.Clone(sessionObject.members)}}
	for i := range e.session.members {
		if at := matchObject.place([]byte(e.session.keys[i]), 0); at >= 0 {
			text := matchObject.members[at].put(nil, m, frameContext{})
			e.session.members[i].put = func(b []byte, _ *Frame, _ frameContext) []byte { return append(b, text...) }
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
	return e.session.append(b, f, frameContext{has: has})
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

// appendMore appends numbers with a comma after each.
func appendMore(b []byte, v []float32) []byte {
	for _, x := range v {
		b = append(appendFloat(b, x), ',')
	}
	return b
}

// appendPoints appends the points of a team: a float on combat maps, elsewhere an integer.
func appendPoints(b []byte, f *Frame, team int) []byte {
	x := f.Points[team]
	whole := x == float32(math.Trunc(float64(x))) && x < 1<<53 && x > -1<<53
	switch {
	case f.Lacks.At(LacksPoints + team):
		return append(b, null...)
	case f.Kind == Combat || !whole:
		return appendFloat(b, x)
	}
	return strconv.AppendInt(b, int64(x), 10)
}

const null = "null"

// appendFloat appends a float32 as JSON.
func appendFloat(b []byte, x float32) []byte {
	if x-x != 0 {
		return append(appendNumber(append(b, '"'), x), '"')
	}
	return appendNumber(b, x)
}

// appendFloats appends a list of numbers.
func appendFloats(b []byte, v []float32) []byte {
	b = appendMore(append(b, '['), v)
	b[len(b)-1] = ']'
	return b
}

// putInt appends a small integer behind its key.
func putInt(b []byte, key string, lacks bool, n int64) []byte {
	if b = append(b, key...); lacks {
		return append(b, null...)
	}
	return strconv.AppendInt(b, n, 10)
}

// putLong appends an integer behind its key, a large one as a string.
func putLong(b []byte, key string, lacks bool, n int64) []byte {
	if b = append(b, key...); lacks {
		return append(b, null...)
	}
	return jsonenc.AppendInt64(b, n)
}

// appendMember appends a member with a string.
func appendMember(b []byte, key string, lacks bool, s string) []byte {
	if lacks {
		return append(jsonenc.AppendKey(b, key), null...)
	}
	return jsonenc.AppendText(b, key, s)
}

// appendNumber appends the shortest decimal that gives the same float32 again, always with a point
// or an exponent.
func appendNumber(b []byte, x float32) []byte {
	switch {
	case x == 0 && !math.Signbit(float64(x)):
		return append(b, `0.0`...)
	case x != x:
		return append(b, `NaN`...)
	case math.IsInf(float64(x), 1):
		return append(b, `Infinity`...)
	case math.IsInf(float64(x), -1):
		return append(b, `-Infinity`...)
	}
	return appendFinite(b, x)
}

// AppendTime appends a time as JSON, in RFC 3339 with three decimals.
func AppendTime(b []byte, ms int64) []byte {
	if !dated(ms) {
		return append(b, null...)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(b, `"2006-01-02T15:04:05.000Z"`)
}

// AppendStamp appends a time as .echoreplay has it.
func AppendStamp(b []byte, ms int64) []byte {
	if !dated(ms) {
		return append(b, '-')
	}
	return time.UnixMilli(ms).UTC().AppendFormat(b, "2006/01/02 15:04:05.000")
}

// dated reports whether a time lies in the years 1 to 9999.
func dated(ms int64) bool { return formats.HasDate(time.UnixMilli(ms).UTC()) }
