package echo

import (
	"bytes"
	"encoding/json"
	"time"

	"recfs/formats/internal/jsonenc"
)

const (
	stampLen   = 23  // yyyy/MM/dd HH:mm:ss.fff
	minSession = 800 // what is shorter is an error of the API
)

// A lineKind is what a line of the text is.
type lineKind uint8

const (
	frameLine lineKind = iota
	emptyLine          // blank, or the API had nothing to tell
	badLine
)

// line reads one line without its end.
func (r *lineParser) line(b []byte) (f replayFrame, kind lineKind) {
	stamp, rest, ok := bytes.Cut(b, []byte{'\t'})
	if !ok {
		return f, emptyLine
	}
	session, bones, _ := bytes.Cut(rest, []byte{'\t'})
	if len(session) < minSession {
		return f, emptyLine
	}
	if f.Time, ok = parseStamp(stamp); !ok || !r.sound && (!isObject(session) || len(bones) > 0 && !isObject(bones)) {
		return f, badLine
	}
	f.session, f.bones = bytes.TrimLeft(session, spaces), bytes.TrimLeft(bones, spaces)
	r.read(&f)
	return f, frameLine
}

// isObject reports whether b is a JSON object.
func isObject(b []byte) bool {
	b = bytes.TrimLeft(b, spaces)
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// parseStamp reads a timestamp by the places of its digits.
func parseStamp(b []byte) (ms int64, ok bool) {
	if len(b) != stampLen {
		return 0, false
	}
	var n [7]int
	for i, at := range [...][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}, {20, 23}} {
		for _, c := range b[at[0]:at[1]] {
			if c < '0' || c > '9' {
				return 0, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 60 {
		return 0, false
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1e6, time.UTC).UnixMilli(), true
}

// A replayFrame is a frame with the text of its documents. They are JSON, but may have bytes that
// are not UTF-8.
type replayFrame struct {
	Frame
	session, bones []byte
}

// read reads from the session what events, scores and tables are made of.
func (r *lineParser) read(f *replayFrame) {
	f.Kind, f.Lacks = Other, LacksFrame
	r.Walker = jsonenc.Walk(f.session)
	sessionObject.read(r, &f.Frame, &f.Lacks)
	for _, part := range frameParts {
		if f.Lacks.Of(part.first, part.n) != 1<<part.n-1 {
			f.Has |= part.has
		}
	}
	if f.Kind == Combat {
		f.Has &^= HasStatus | HasRestart | HasRules | HasScore
	}
	if !r.lean && hasBones(f.bones) {
		f.Has |= HasBones
	}
}

// frameParts are the parts that a frame has if it has any value of them.
var frameParts = [...]struct {
	has      Has
	first, n int
}{
	{HasStatus, LacksStatus, 1},
	{HasRestart, LacksRestart, 2},
	{HasPause, LacksPause, 3},
	{HasScore, LacksScore, 7},
	{HasThrow, LacksThrow, len(Throw{})},
	{HasRules, LacksRules, 2},
}

// hasBones reports whether a document has the bones of any player.
func hasBones(bones []byte) bool {
	w := jsonenc.Walk(bones)
	for key := range w.Members() {
		if string(key) == `"user_bones"` {
			for range w.Elements(1) {
				return true
			}
		} else {
			w.Value()
		}
	}
	return false
}
