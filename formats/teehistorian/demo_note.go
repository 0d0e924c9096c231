package teehistorian

import (
	"strconv"

	"recfs/formats/internal/demo"
)

// A note is what a record tells the players (docs/formats/demo.md section 7).
type note struct {
	stay int32 // that it is about, or noStay
	team int32 // that it is about, 0: none
	text string
	kind noteKind
	cid  int32
	num  int32 // emoticon, or time in ticks
}

type noteKind uint8

const (
	lineNote     noteKind = iota // text only
	finishNote                   // text, then the time
	emoticonNote                 // the emoticon only
)

// isFor reports whether the note belongs to a demo.
func (n *note) isFor(s *shot) bool {
	if n.team != 0 && n.team == s.team {
		return true
	}
	return s.shown == nil || n.stay != noStay && s.shown[n.stay]
}

func (n *note) write(w *demo.Writer) {
	if n.kind == emoticonNote {
		w.Emoticon(n.cid, n.num)
		return
	}
	w.Chat(n.text)
	if n.kind == finishNote {
		w.Finish(n.cid, n.num*tickMS)
	}
}

// note returns what e, which was applied, tells the players.
func (f *film) note(e *event) (note, bool) {
	switch e.kind {
	case drop:
		text := " left"
		if reason := cleanText(e.data); reason != "" {
			text += " (" + reason + ")"
		}
		return f.line(e.cid, text)
	case netMessage:
		switch {
		case e.started && f.h.isBefore16():
			return f.line(e.cid, " joined")
		case e.message.ok && e.message.typ.name == "Cl_Emoticon":
			return f.emoticon(e)
		}
	case extension:
		if !e.payload.short {
			return f.extension(e)
		}
	}
	return note{}, false
}

func (f *film) extension(e *event) (note, bool) {
	switch e.payload.typ.event {
	case "player_ready":
		if !f.h.isBefore16() {
			return f.line(e.payload.num("cid"), " joined")
		}
	case "player_finish":
		time := e.payload.num("time_ticks")
		n, ok := f.line(e.payload.num("cid"), " finished in "+finishClock(time))
		n.kind, n.num = finishNote, time
		return n, ok
	case "team_finish":
		team := e.payload.num("team")
		text := "team " + strconv.Itoa(int(team)) + " finished in " + finishClock(e.payload.num("time_ticks"))
		return note{stay: noStay, team: team, text: text}, true
	}
	return note{}, false
}

// finishClock returns a time as messages have it.
func finishClock(ticks int32) string { return string(appendClock(nil, int64(max(ticks, 0)))) }

// line returns a note that begins with the name of the player of a client id.
func (f *film) line(cid int32, text string) (note, bool) {
	if uint32(cid) >= demo.MaxClients {
		return note{}, false
	}
	n := note{stay: noStay, cid: cid, text: idName(cid) + text}
	if p := f.cur.state.lookup(cid); p != nil {
		n.stay, n.text = p.stay, p.shownName()+text
	}
	return n, true
}

// emoticon returns the note of an emoticon, which only a character shows.
func (f *film) emoticon(e *event) (note, bool) {
	num := find(e.message.values, "emoticon").num
	p := e.player
	if p == nil || !p.alive || p.cid >= demo.MaxClients || uint32(num) >= demo.Emoticons {
		return note{}, false
	}
	return note{stay: p.stay, kind: emoticonNote, cid: p.cid, num: num}, true
}

// shownName returns the name of p as the game shows it.
func (p *player) shownName() string {
	if p.named {
		if name := demo.Cut(p.name, demo.NameSize); name != "" {
			return name
		}
	}
	return idName(p.cid)
}

// idName stands for a player without a name.
func idName(cid int32) string { return "(" + strconv.Itoa(int(cid)) + ")" }
