package teehistorian

import (
	"regexp"
	"strings"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes/play"
)

// messageKinds are the kinds in which the page shows messages (docs/tree/page.md section 3).
var messageKinds = map[string]string{
	"Cl_Say": "chat", "Cl_Command": "chat", "Cl_Kill": "kill", "Cl_Emoticon": "emote", "Cl_Vote": "vote", "Cl_CallVote": "vote",
}

// playKind returns the kind that an event is shown as, "" if it is not.
func (e *event) playKind() string {
	switch e.kind {
	case finish:
		return "other"
	case join:
		return "join"
	case drop:
		return "leave"
	case consoleCommand:
		return "command"
	case netMessage:
		if e.renamed {
			return "name"
		}
		if e.message.ok {
			return messageKinds[e.message.typ.name]
		}
	case extension:
		if e.tells() {
			return e.payload.typ.kind
		}
	}
	return ""
}

// tell tells of an event, as events.txt does if that has a line of it.
func (s *scene) tell(e *event, events *views.Events) {
	kind := e.playKind()
	if kind == "" || !events.Wants(int64(e.tick), kind) {
		return
	}
	l, ok := s.cur.state.logLine(e, s.text)
	said := ""
	if !ok {
		l.text, said = e.appendSaid(l.text)
	}
	s.text = l.text
	shown := play.Event{Tick: int64(e.tick), Kind: kind, ID: l.who.id()}
	if l.with != nil {
		shown.To = l.with.id()
	}
	full := string(l.text)
	l.text = []byte(play.Cut(full))
	shown.Text = string(s.r.events.appendText(nil, &l)[1:])
	if open := hide(kind, full); open != full {
		l.text = []byte(play.Cut(open))
		shown.Secret, shown.Text = shown.Text, string(s.r.events.appendText(nil, &l)[1:])
	}
	if said != "" {
		shown.Say = string(l.text[len(full)-len(said):])
	}
	events.Put(shown)
}

// appendSaid appends what stands behind the name of who sent a message that events.txt leaves out,
// and returns what is said in it.
func (e *event) appendSaid(b []byte) (text []byte, said string) {
	values := e.message.values
	word := func(name string) string { return cleanText(find(values, name).bytes) }
	switch e.message.typ.name {
	case "Cl_Say":
		said = word("text")
	case "Cl_Command":
		said = "/" + word("name") + " " + word("arguments")
	case "Cl_Kill":
		b = append(b, " kills itself"...)
	case "Cl_Emoticon":
		b = append(b, " shows "...)
		if n := find(values, "emoticon").num; uint32(n) < uint32(len(emoticons)) {
			b = append(b, emoticons[n]...)
		} else {
			b = jsonenc.AppendInt(append(b, "emoticon "...), n)
		}
	case "Cl_Vote":
		switch n := find(values, "vote").num; {
		case n > 0:
			b = append(b, " votes yes"...)
		case n < 0:
			b = append(b, " votes no"...)
		default:
			b = append(b, " takes back a vote"...)
		}
	case "Cl_CallVote":
		b = append(append(b, " calls a vote to "...), strings.TrimSpace(word("type")+" "+word("value"))...)
		if reason := word("reason"); reason != "" {
			b = append(append(append(b, " ("...), reason...), ')')
		}
	}
	if said != "" {
		b = append(append(b, ": "...), said...)
	}
	return b, said
}

// id is the ID of the Track of a stay, "" of what is none.
func (w who) id() play.ID {
	if w.stay == noStay {
		return ""
	}
	return stayID(w.stay)
}

var (
	typedSecret = regexp.MustCompile(`(?is)((?:^ ran |[/;"])\s*(?:timeout|save|load)[\s"]+).+`)
	slashSecret = regexp.MustCompile(`(?is)([/;"\s](?:timeout|save|load)[\s"]+).+`)
)

// hide returns the text of an event without secrets: what follows certain commands, with which a
// stranger could take over a game or a save, and how somebody logged in.
func hide(kind, text string) string {
	switch kind {
	case "login":
		const as = " logged in as "
		if level := strings.LastIndex(text, " level "); strings.HasPrefix(text, as) && level > 0 {
			return as + "…" + text[level:]
		}
	case "chat", "command":
		if strings.HasPrefix(strings.TrimLeft(text, ": "), "/") || strings.HasPrefix(text, " ran /") {
			return slashSecret.ReplaceAllString(text, "$1…")
		}
		if kind == "command" {
			return typedSecret.ReplaceAllString(text, "$1…")
		}
	}
	return text
}
