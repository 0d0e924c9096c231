package teehistorian

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
)

// A table is one of the files of a stay.
type table int

const (
	positionTable table = iota
	inputTable
	commandTable
	tables = 3
)

var tableNames = [tables]string{"positions.csv", "inputs.csv", "commands.txt"}

// tableHeads are the first lines.
var tableHeads = [tables]string{"tick,x,y\n", "tick," + strings.Join(inputNames[:], ",") + "\n", ""}

// tableOf returns the table that events of a kind are rows of.
func tableOf(k kind) (table, bool) {
	switch k {
	case playerDiff, playerNew, playerOld:
		return positionTable, true
	case inputDiff, inputNew:
		return inputTable, true
	case consoleCommand:
		return commandTable, true
	}
	return 0, false
}

// appendRow appends the row of e, which counts for a stay, in its table.
func appendRow(b []byte, e *event) []byte {
	b = jsonenc.Int(b, e.tick)
	switch e.kind {
	case playerDiff, playerNew, playerOld:
		b = append(b, ',')
		if e.known {
			b = jsonenc.Int(b, e.player.x)
			b = append(b, ',')
			b = jsonenc.Int(b, e.player.y)
		} else {
			b = append(b, ',')
		}
	case inputDiff, inputNew:
		for i := range e.player.input {
			b = append(b, ',')
			if e.known {
				b = jsonenc.Int(b, e.player.input[i])
			}
		}
	case consoleCommand:
		b = append(b, ' ')
		b = appendTyped(b, e)
	}
	return append(b, '\n')
}

// slashCommand is the flag of a command typed in chat.
const slashCommand = 1 << 7

// appendTyped appends a command with its arguments (tree section 8).
func appendTyped(b []byte, e *event) []byte {
	if e.flags&slashCommand != 0 {
		b = append(b, '/')
	}
	b = appendWord(b, e.data)
	for arg := range e.arguments() {
		b = append(b, ' ')
		b = appendWord(b, arg)
	}
	return b
}

func appendWord(b, word []byte) []byte {
	quote := func(c byte) bool { return c <= ' ' || c == '"' || c == '\\' || c == 0x7f }
	if len(word) == 0 || slices.ContainsFunc(word, quote) {
		return appendQuoted(b, cleanText(word))
	}
	return append(b, cleanText(word)...)
}

// appendQuoted appends s as a JSON string for people: only what has to be is escaped. encoding/json, and so jsonenc,
// also escapes the line separators U+2028 and U+2029.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		n := strings.IndexAny(s, "\u2028\u2029")
		if n < 0 {
			n = len(s)
		}
		quoted := jsonenc.String(nil, s[:n])
		b = append(b, quoted[1:len(quoted)-1]...)
		_, size := utf8.DecodeRuneInString(s[n:])
		b = append(b, s[n:n+size]...)
		s = s[n+size:]
	}
	return append(b, '"')
}

// appendClock appends a number of ticks as H:MM:SS.cc.
func appendClock(b []byte, ticks int32) []byte {
	const second = 1000 / tickMS
	h, rest := floorDiv(ticks, 3600*second)
	b = jsonenc.Int(b, h)
	b = appendTwoDigits(append(b, ':'), rest/(60*second))
	b = appendTwoDigits(append(b, ':'), rest/second%60)
	return appendTwoDigits(append(b, '.'), rest%second*(tickMS/10))
}

// floorDiv divides, rounding down.
func floorDiv(a, n int32) (q, r int32) {
	q, r = a/n, a%n
	if r < 0 {
		return q - 1, r + n
	}
	return q, r
}

func appendTwoDigits(b []byte, n int32) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10))
}

// A logLine is a line of events.txt without the names of the stays in it, which are known only in the end.
type logLine struct {
	tick int32
	who  who
	text []byte // with its space before, without its newline
	with *who   // whom the text ends with
}

// who stands for a stay's directory, or for what is there in its place.
type who struct {
	stay int32 // noStay: word
	word string
}

func (w who) append(b []byte, dir func(stay int32) string) []byte {
	if w.stay == noStay {
		return append(b, w.word...)
	}
	return append(b, dir(w.stay)...)
}

// append appends the line.
func (l *logLine) append(b []byte, dir func(stay int32) string) []byte {
	b = jsonenc.Int(b, l.tick)
	b = append(b, ' ')
	b = appendClock(b, l.tick)
	if l.who.stay != noStay || l.who.word != "" {
		b = append(b, ' ')
		b = l.who.append(b, dir)
	}
	b = append(b, l.text...)
	if l.with != nil {
		b = append(b, ' ')
		b = l.with.append(b, dir)
	}
	return append(b, '\n')
}

// who returns the stay that e counts for, or the id.
func (e *event) who(cid int32) who {
	if e.stay != noStay {
		return who{stay: e.stay}
	}
	return who{noStay, fmt.Sprintf("%02d", cid)}
}

// who returns the latest stay of a client id, or the id.
func (s *state) who(cid int32) who {
	if p := s.lookup(cid); p != nil && p.stay != noStay {
		return who{stay: p.stay}
	}
	return who{noStay, fmt.Sprintf("%02d", cid)}
}

// logLine returns the line of e in events.txt (tree section 9), if it has one. No record has two.
func (s *state) logLine(e *event) (logLine, bool) {
	line := func(w who, format string, args ...any) (logLine, bool) {
		return logLine{tick: e.tick, who: w, text: fmt.Appendf(nil, " "+format, args...)}, true
	}
	switch e.kind {
	case finish:
		return line(who{stay: noStay}, "end")
	case join:
		if e.stay != noStay {
			return line(e.who(e.cid), "joined")
		}
	case drop:
		if len(e.data) == 0 {
			return line(e.who(e.cid), "left")
		}
		return line(e.who(e.cid), "left %s", appendQuoted(nil, cleanText(e.data)))
	case consoleCommand:
		w := e.who(e.cid)
		if name, ok := commandSources[e.cid]; ok {
			w.word = name
		}
		return line(w, "ran %s", appendTyped(nil, e))
	case netMessage:
		if e.renamed {
			return line(e.who(e.cid), "is called %s", appendQuoted(nil, e.player.name))
		}
	case extension:
		return s.extensionLine(e, line)
	}
	return logLine{}, false
}

func (s *state) extensionLine(e *event, line func(who, string, ...any) (logLine, bool)) (logLine, bool) {
	p, nobody := &e.payload, who{stay: noStay}
	saved := find(p.values, "save_id").bytes
	if p.short && saved == nil {
		return logLine{}, false
	}
	cid, team := p.num("cid"), p.num("team")
	switch p.typ.event {
	case "player_name":
		if e.renamed {
			return line(e.who(cid), "is called %s", appendQuoted(nil, e.player.name))
		}
	case "player_rejoin":
		return line(e.who(cid), "reconnected")
	case "player_team":
		return line(e.who(cid), "enters team %d", team)
	case "auth_init", "auth_login":
		identity := appendQuoted(nil, cleanText(find(p.values, "identity").bytes))
		return line(e.who(cid), "logged in as %s level %d", identity, p.num("level"))
	case "auth_logout":
		return line(e.who(cid), "logged out")
	case "player_finish":
		return line(e.who(cid), "finished in %s", appendClock(nil, p.num("time_ticks")))
	case "player_switch":
		l, ok := line(e.who(p.num("cid1")), "swaps with")
		with := s.who(p.num("cid2"))
		l.with = &with
		return l, ok
	case "team_practice":
		if p.num("practice") != 0 {
			return line(nobody, "team %d practice on", team)
		}
		return line(nobody, "team %d practice off", team)
	case "team_finish":
		return line(nobody, "team %d finished in %s", team, appendClock(nil, p.num("time_ticks")))
	case "save_success":
		return line(nobody, "team %d saved %s", team, uuid.UUID(saved))
	case "load_success":
		return line(nobody, "team %d loaded %s", team, uuid.UUID(saved))
	case "save_failure":
		return line(nobody, "team %d save failed", team)
	case "load_failure":
		return line(nobody, "team %d load failed", team)
	}
	return logLine{}, false
}

var commandSources = map[int32]string{-1: "server", -2: "map", -3: "config"}
