package teehistorian

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
)

// appendClock appends a number of ticks as H:MM:SS.cc.
func appendClock(b []byte, ticks int64) []byte {
	if ticks < 0 {
		return appendClock(append(b, '-'), -ticks)
	}
	b = jsonenc.AppendInt(b, ticks/(3600*ticksPerSecond))
	b = appendTwoDigits(append(b, ':'), ticks/(60*ticksPerSecond)%60)
	b = appendTwoDigits(append(b, ':'), ticks/ticksPerSecond%60)
	return appendTwoDigits(append(b, '.'), ticks%ticksPerSecond*(tickMS/10))
}

func appendTwoDigits(b []byte, n int64) []byte {
	return append(b, byte('0'+n/10), byte('0'+n%10))
}

// A logLine is a line of events.txt. It lacks the names of its stays, which are known only at the
// end.
type logLine struct {
	Tick int32
	Who  who
	Text []byte // after a space, without a newline
	With *who   // with whom the text ends; nil: nobody
}

// A who stands for the directory of a stay, or for a word in its place.
type who struct {
	Stay int32 // noStay: word
	Word string
}

// nobody is for lines about no client.
var nobody = who{Stay: noStay}

// A logWriter writes lines of events.txt.
type logWriter struct {
	start startTime
	who   func(stay, tick int32) string
}

// append appends a line.
func (w *logWriter) append(b []byte, l *logLine) []byte {
	b = jsonenc.AppendInt(b, l.Tick)
	b = append(b, ' ')
	b = appendClock(b, int64(l.Tick))
	b = append(b, ' ')
	b = w.appendTime(b, l.Tick)
	return append(w.appendText(b, l), '\n')
}

// appendText appends the part of a line after the times, with a space before it.
func (w *logWriter) appendText(b []byte, l *logLine) []byte {
	if l.Who != nobody {
		b = w.appendWho(append(b, ' '), l.Who, l.Tick)
	}
	b = append(b, l.Text...)
	if l.With != nil {
		b = w.appendWho(append(b, ' '), *l.With, l.Tick)
	}
	return b
}

// appendTime appends the time of a tick in UTC, to the hundredth of a second, or - if it has none.
func (w *logWriter) appendTime(b []byte, tick int32) []byte {
	at, ok := w.start.at(tick)
	if !ok {
		return append(b, '-')
	}
	return at.AppendFormat(b, "2006-01-02T15:04:05.00Z")
}

func (w *logWriter) appendWho(b []byte, of who, tick int32) []byte {
	if of.Stay == noStay {
		return append(b, of.Word...)
	}
	return append(b, w.who(of.Stay, tick)...)
}

// nameDelay is how many ticks after a line of events.txt its stay may still get the name for that
// line (docs/tree/teehistorian.md section 9). Without a bound, no line of a growing recording would
// ever be certain.
const nameDelay = 1500

// who returns the stay that e counts for, or the id.
func (e *event) who(cid int32) who {
	if e.stay != noStay {
		return who{Stay: e.stay}
	}
	return who{noStay, idText(cid)}
}

// idText returns a client id with at least two digits, or the word for an id that is no client.
func idText(cid int32) string {
	if word, ok := commandSources[cid]; ok {
		return word
	}
	return fmt.Sprintf("%02d", cid)
}

var commandSources = map[int32]string{-1: "server", -2: "map", -3: "config"}

// who returns the latest stay of a client id, or the id.
func (s *state) who(cid int32) who {
	if p := s.lookup(cid); p != nil && p.stay != noStay {
		return who{Stay: p.stay}
	}
	return who{noStay, idText(cid)}
}

// logLine returns the line of e in events.txt (docs/tree/teehistorian.md section 9), if it has one.
// No record has two. The text reuses buf.
func (s *state) logLine(e *event, buf []byte) (logLine, bool) {
	l := logLine{Tick: e.tick, Who: e.who(e.cid), Text: buf[:0]}
	switch e.kind {
	case finish:
		l.Who, l.Text = nobody, append(l.Text, " end"...)
	case join:
		l.Text = append(l.Text, " joined"...)
	case drop:
		l.Text = append(l.Text, " left"...)
		if len(e.data) > 0 {
			l.Text = appendQuoted(append(l.Text, ' '), cleanText(e.data))
		}
	case consoleCommand:
		l.Text = appendTyped(append(l.Text, " ran "...), e)
	case netMessage:
		if e.renamed {
			l.Text = appendQuoted(append(l.Text, " is called "...), e.player.name)
		}
	case extension:
		s.extensionLine(&l, e)
	}
	return l, len(l.Text) > 0
}

// tells reports whether an EX record is worth a line. One with missing fields is only if it is a
// team save that can be named.
func (e *event) tells() bool {
	p := &e.payload
	return (p.typ.event != "player_name" || e.renamed) && (!p.short || find(p.values, "save_id").bytes != nil)
}

// extensionLine completes l for an EX record.
func (s *state) extensionLine(l *logLine, e *event) {
	p := &e.payload
	switch line := p.typ.line; {
	case line == "" || !e.tells():
		return
	case strings.HasPrefix(line, " team "):
		l.Who = nobody
	case p.typ.event == "player_switch":
		l.Who, l.With = e.who(p.num("cid1")), new(s.who(p.num("cid2")))
	default:
		l.Who = e.who(p.num("cid"))
	}
	for word := range strings.SplitSeq(p.typ.line[1:], " ") {
		l.Text = append(l.Text, ' ')
		if field, ok := strings.CutPrefix(word, "$"); ok {
			l.Text = appendLogged(l.Text, find(p.values, field))
		} else {
			l.Text = append(l.Text, word...)
		}
	}
}

// appendLogged appends a value as events.txt has it.
func appendLogged(b []byte, v value) []byte {
	switch {
	case v.typ == textField:
		return appendQuoted(b, cleanText(v.bytes))
	case v.typ == uuidField:
		return append(b, uuid.UUID(v.bytes).String()...)
	case v.name == "time_ticks":
		return appendClock(b, int64(v.num))
	case v.name == "practice" && v.num != 0:
		return append(b, "on"...)
	case v.name == "practice":
		return append(b, "off"...)
	}
	return jsonenc.AppendInt(b, v.num)
}
