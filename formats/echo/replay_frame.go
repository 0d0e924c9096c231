package echo

import "recfs/formats/internal/jsonenc"

// maxPlayers bounds the players of a team that events and tables know, as in butter. A match has at
// most 15.
const maxPlayers = 255

// read takes from the session what events, scores and tables are made of.
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

// frameParts are those of a frame that is there if one of its values is.
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

// take sets a value to what v is, or says that it is lacking.
func take[T any](to *T, l *Lacks, bit int, v []byte, parse func([]byte) (T, bool)) {
	x, ok := parse(v)
	*to = x
	l.Set(bit, !ok)
}

// hasBones reports whether the bones of anyone are in a document.
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
