package teehistorian

import (
	"context"
	"encoding/hex"
	"math"
	"regexp"
	"strconv"

	"recfs/formats/internal/demo"
)

// A film is a stretch of a recording that becomes demos block by block (docs/formats/demo.md
// section 7). It stands after all records of a tick.
type film struct {
	h    *header
	cur  *cursor
	shot *shot

	now    [demo.MaxClients]known // before the records of the tick that is played
	infos  [demo.MaxClients]shownInfo
	tees   [demo.MaxClients]demo.Tee
	world  demo.World
	drawn  [2]demo.Snapshot
	notes  []note
	writer demo.Writer
}

// A known is what the snapshot of a tick needs of the state before it.
type known struct {
	alive bool
	x, y  int32
	input demo.Input
}

// A shownInfo is an Info with what it was made from.
type shownInfo struct {
	name, clan string
	look       look
	info       *demo.Info
}

// A shot says what a demo shows.
type shot struct {
	follow int32          // the stay that is followed, or noStay
	shown  map[int32]bool // the stays that are there; nil: all
	team   int32          // of a run, 0: none
	race   bool           // the clock shows a race
	began  int64          // the tick in which it began
}

// shows reports whether a stay is there.
func (s *shot) shows(stay int32) bool { return s.shown == nil || s.shown[stay] }

// film returns a film of the recording that stands after all records of a tick.
func (r *recording) film(ctx context.Context, h *header, s *shot, tick int32) (*film, error) {
	if len(r.idx.chunks) == 0 {
		return nil, errBad
	}
	k := 0
	if r.idx.spans(int64(tick)) {
		k = r.idx.chunkOf(tick)
	}
	cur, err := r.cursor(ctx, nil, k, r.idx.bytes, tableWindow)
	if err != nil {
		return nil, err
	}
	f := &film{h: h, cur: cur, shot: s}
	f.world.Server.ManyTeams = h.serverMajor() >= manyTeams
	return f, cur.skip(tick + 1)
}

// manyTeams is the first server version with more than 63 teams.
const manyTeams = 20

// tick returns the tick of the next record, the greatest int32 if there is none.
func (f *film) tick() (int32, error) {
	t, err := f.cur.tick()
	if err == errEnd {
		return math.MaxInt32, nil
	}
	return t, err
}

// A span is a part of a demo between two key frames.
type span struct {
	first, last int32
	end         bool // the demo ends with it
}

// block returns the chunks of a demo in a span. The film stands before its first tick, and then
// after its last.
func (f *film) block(p span) ([]byte, error) {
	f.writer.Reset()
	var teams [demo.MaxClients]int32
	old, now := &f.drawn[0], &f.drawn[1]
	quiet := false // there was no record in the tick before
	for tick := p.first; tick <= p.last; tick++ {
		next, err := f.tick()
		if err != nil {
			return nil, err
		}
		last := p.end && tick == p.last
		if quiet && next > tick && !(f.shot.race && f.shot.began == int64(tick)) {
			if last {
				f.writer.Next(old, old, true)
			} else {
				f.writer.Idle()
			}
			continue
		}
		quiet = next > tick
		if err := f.play(tick); err != nil {
			return nil, err
		}
		before := teams
		f.show(tick, &teams)
		now.Show(&f.world)
		if tick == p.first {
			f.writer.Key(tick, now)
			f.writer.Teams(&teams)
		} else {
			f.writer.Next(old, now, last)
			if teams != before {
				f.writer.Teams(&teams)
			}
		}
		for i := range f.notes {
			f.notes[i].write(&f.writer)
		}
		old, now = now, old
	}
	return f.writer.Bytes(), nil
}

// play applies the records of a tick. It keeps what was known before them, and what they tell the
// players.
func (f *film) play(tick int32) error {
	f.notes = f.notes[:0]
	st := &f.cur.state
	for id := range f.now {
		f.now[id] = known{}
		if p := st.lookup(int32(id)); p != nil {
			f.now[id].set(p)
		}
	}
	for {
		more, err := f.cur.next(tick)
		if err != nil || !more {
			return err
		}
		if n, ok := f.note(&f.cur.event); ok && n.isFor(f.shot) {
			f.notes = append(f.notes, n)
		}
	}
}

func (k *known) set(p *player) {
	k.alive, k.x, k.y = p.alive, p.x, p.y
	if p.open && p.hasInput {
		k.input = demo.Input{
			Direction: p.input[0], TargetX: p.input[1], TargetY: p.input[2], Jump: p.input[3], Flags: p.input[6],
		}
	}
}

// show sets the world and the teams to the state after a tick.
func (f *film) show(tick int32, teams *[demo.MaxClients]int32) {
	st, s := &f.cur.state, f.shot
	f.world.Players = f.world.Players[:0]
	f.world.Race, f.world.Began = s.race && int64(tick) >= s.began, int32(s.began)
	*teams = [demo.MaxClients]int32{}
	for id := range int32(demo.MaxClients) {
		p := st.lookup(id)
		if p == nil || !p.open && !p.alive || !s.shows(p.stay) {
			continue
		}
		if p.team > 0 && p.team <= demo.MaxTeam {
			teams[id] = p.team
		}
		shown := demo.Player{ID: id, Local: p.stay == s.follow, Info: f.info(p)}
		if p.alive {
			shown.Tee = f.tee(p, st.practice[p.team])
		}
		f.world.Players = append(f.world.Players, shown)
	}
}

// tee returns the character of p.
func (f *film) tee(p *player, practice bool) *demo.Tee {
	before, t := &f.now[p.cid], &f.tees[p.cid]
	*t = demo.Tee{X: p.x, Y: p.y, Input: before.input, Practice: practice}
	if before.alive {
		t.VX, t.VY = p.x-before.x, p.y-before.y
	}
	return t
}

// info returns the name and the look of p.
func (f *film) info(p *player) *demo.Info {
	v := shownInfo{name: p.shownName(), look: p.look}
	if p.hasClan {
		v.clan = p.clan
	}
	was := &f.infos[p.cid]
	if v.info = was.info; v != *was || v.info == nil {
		country, l := p.look.parse()
		v.info = demo.NewInfo(v.name, v.clan, country, l)
		*was = v
	}
	return v.info
}

// minor16 is the version_minor of the first servers that record PLAYER_READY, those of 16.0.
const minor16 = 3

// isBefore16 reports whether the recording is of a server before 16.0.
func (h *header) isBefore16() bool {
	minor, err := strconv.Atoi(h.values.plain("version_minor"))
	return err != nil || minor < minor16
}

var majorVersion = regexp.MustCompile(`^[^,]*, *(\d{1,9})`)

// serverMajor returns the version of the server, 20 for "0.6 …, 20.0.1", 0 if it is not known.
func (h *header) serverMajor() int {
	m := majorVersion.FindStringSubmatch(h.values.text("server_version"))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // up to nine digits
	return n
}

// demoHeader returns the header of a demo.
func (h *header) demoHeader(id demoID, markers []int32) []byte {
	v := h.values
	d := &demo.Header{
		Map: v.text("map_name"), Follows: id.follow != noStay, First: id.first, Last: id.last,
		Start: h.began.Time, Markers: markers,
	}
	if crc := v.text("map_crc"); len(crc) <= 8 {
		n, err := strconv.ParseUint(crc, 16, 32)
		if err == nil {
			d.CRC = uint32(n)
		}
	}
	if sum, err := hex.DecodeString(v.text("map_sha256")); err == nil && len(sum) == 32 {
		d.SHA256 = sum
	}
	return d.Append(nil)
}

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
