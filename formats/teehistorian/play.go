package teehistorian

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes/play"
)

// play declares how the recording plays.
func (t *tree) play() *views.Play[index] {
	return &views.Play[index]{
		Kind: play.Tee, About: t.about, Marks: t.marks, Players: t.took, Open: t.scene,
		Chunks: (*index).chunkCount,
		Chunk: func(x *index, i int) views.Stretch {
			c := &x.chunks[i]
			return views.Stretch{First: int64(c.First), Last: int64(c.Last), Bytes: c.Size}
		},
	}
}

// about tells what the header says, and of the map.
func (t *tree) about(ctx context.Context, _ *index) (*play.About, error) {
	a := &play.About{TickMS: new(tickMS), Unit: "tile"}
	if t.header.began.Time != nil {
		a.Start = new(t.header.began.Format(time.RFC3339Nano))
	}
	if m, at := t.mapFile(ctx); m != nil {
		a.Map = &play.Ground{Path: at, Width: m.Width, Height: m.Height}
	}
	return a, ctx.Err()
}

// marks are the finishes.
func (t *tree) marks(ctx context.Context, x *index) (int, func(i int) play.Mark, error) {
	r, err := t.named(ctx)
	return len(x.finishes), func(i int) play.Mark {
		f := &x.finishes[i]
		who, id := "team "+strconv.Itoa(int(f.ID)), play.ID("")
		if !f.Team {
			who = idText(f.ID)
		}
		if f.Stay != noStay {
			who, id = r.who(f.Stay, f.Tick), stayID(f.Stay)
		}
		return play.Mark{Tick: int64(f.Tick), Kind: "finish", Text: play.Cut(who + " finished in " + finishClock(f.Time)), ID: id}
	}, err
}

// took are the stays.
func (t *tree) took(_ context.Context, x *index) (int, func(i int) play.Player, error) {
	return len(x.stays), func(i int) play.Player {
		s := x.stays[i]
		p := play.Player{ID: stayID(int32(i)), First: int64(s.First), Last: x.leaves(i), Finishes: len(s.finishes)}
		if name := s.name(); name != nil {
			p.Name = play.Cut(*name)
		}
		if s.Clan != nil {
			p.Clan = play.Cut(*s.Clan)
		}
		return p
	}, nil
}

func stayID(stay int32) play.ID { return play.ID(strconv.Itoa(int(stay))) }

// A scene plays the records of a chunk.
type scene struct {
	r    *recording
	cur  *cursor
	text []byte // to use again
}

// scene opens a chunk at a point in it.
func (t *tree) scene(ctx context.Context, x *index, chunk int, at any) (views.Player, error) {
	r, err := t.named(ctx)
	if err == nil {
		err = x.enough(ctx, chunk, 0)
	}
	if err != nil {
		return nil, err
	}
	from, _ := at.(*point)
	cur, err := r.in(ctx, chunk, from, playWindow)
	return &scene{r: r, cur: cur}, err
}

// playWindow is how many bytes are read at a time for frames, of which a block may need no more
// than some hundred.
const playWindow = 4 << 10

// Play implements views.Player.
func (s *scene) Play(_ context.Context, tick int64, events *views.Events) error {
	last := int32(min(tick, math.MaxInt32))
	for {
		more, err := s.cur.next(last)
		if err != nil || !more {
			return stale(err)
		}
		if e := &s.cur.event; events != nil && e.kind != playerDiff && e.kind != inputDiff {
			s.tell(e, events)
		}
	}
}

// Point implements views.Player.
func (s *scene) Point() (at any, cost int64) {
	p := s.cur.point()
	return p, int64(cap(p.state.players)*playerSize + stateSize)
}

// Show implements views.Player: whoever has a character is there. From when on its input is known,
// it has another track.
func (s *scene) Show(_ context.Context, stage *views.Stage) error {
	list := s.cur.state.players
	for i := range list {
		p := &list[i]
		if !p.alive {
			continue
		}
		input := p.open && p.hasInput
		key := views.Key{ID: int64(p.stay), Part: int64(p.team) << 1}
		if input {
			key.Part |= 1
		}
		t, fresh := stage.Track(key)
		if fresh {
			t.ID, t.Kind, t.Team, t.Color = stayID(p.stay), "tee", strconv.Itoa(int(p.team)), p.look.color()
		}
		if t.Name == "" && p.named {
			t.Name = play.Cut(p.name)
		}
		t.X, t.Y = append(t.X, p.x), append(t.Y, p.y)
		if input {
			t.A, t.S = append(t.A, aim(p.input[1], p.input[2])), append(t.S, shownInput(&p.input))
		}
	}
	return nil
}

// aim is a direction of which 256 are a turn, 0 to the right and 64 down.
func aim(x, y int32) int32 {
	return int32(math.Round(math.Atan2(float64(y), float64(x))*(128/math.Pi))) & 0xff
}

// shownInput returns the bits of an input that are shown (docs/tree/page.md section 3).
func shownInput(in *[inputs]int32) (s int32) {
	const inMenu, chatting, weapons = 1 << 1, 1 << 2, 6
	if in[5] != 0 {
		s |= 1
	}
	if in[4]&1 != 0 {
		s |= 2
	}
	if in[6]&chatting != 0 {
		s |= 4
	}
	if in[6]&inMenu != 0 {
		s |= 8
	}
	if weapon := in[7]; 0 < weapon && weapon <= weapons {
		s |= weapon << 8
	}
	return s
}

// color returns the colour of the body that a client asked for as #rrggbb, "" if it asked for
// none.
func (l look) color() string {
	_, look := l.parse()
	if l == "" || !look.Custom {
		return ""
	}
	const darkest = 0.5 // no body is darker
	part := func(shift int) float64 { return float64(look.Body>>shift&0xff) / 255 }
	return hsl(360*part(16), part(8), darkest+(1-darkest)*part(0))
}

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
		l.Text, said = e.appendSaid(l.Text)
	}
	s.text = l.Text
	shown := play.Event{Tick: int64(e.tick), Kind: kind, ID: l.Who.id()}
	if l.With != nil {
		shown.To = l.With.id()
	}
	full := string(l.Text)
	l.Text = []byte(play.Cut(full))
	shown.Text = string(s.r.events.appendText(nil, &l)[1:])
	if open := hide(kind, full); open != full {
		l.Text = []byte(play.Cut(open))
		shown.Secret, shown.Text = shown.Text, string(s.r.events.appendText(nil, &l)[1:])
	}
	if said != "" {
		shown.Say = string(l.Text[len(full)-len(said):])
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
	if w.Stay == noStay {
		return ""
	}
	return stayID(w.Stay)
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
