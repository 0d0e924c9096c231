package echovr

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

// The tables of a recording and their columns (docs/tree/tables.md section 3).
const (
	framesTable  = "frames"
	playersTable = "players"
	eventsTable  = "events"
)

var framesColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "chunk"), columnar.Required(columnar.Time, "time"),
	columnar.Optional(columnar.Text, "game_status"), columnar.Optional(columnar.Float, "game_clock", "blue_points", "orange_points"),
	columnar.Optional(columnar.Int32, "blue_round_score", "orange_round_score"),
	columnar.Optional(columnar.Float, "disc_x", "disc_y", "disc_z", "disc_vx", "disc_vy", "disc_vz"),
	columnar.Optional(columnar.Int32, "disc_bounces", "possession_team", "possession_player"),
	columnar.Optional(columnar.Text, "paused_state"),
)

var playersColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Time, "time"), columnar.OneOf("team", false, TeamNames[:]...),
	columnar.Required(columnar.Text, "name"), columnar.Required(columnar.Int64, "userid"), columnar.Required(columnar.Int32, "playerid"),
	columnar.Optional(columnar.Float, "x", "y", "z", "vx", "vy", "vz", "body_x", "body_y", "body_z", "lhand_x", "lhand_y", "lhand_z",
		"rhand_x", "rhand_y", "rhand_z"),
	columnar.Required(columnar.Int32, "ping"), columnar.Optional(columnar.Bool, "possession", "blocking", "stunned", "invulnerable"),
	columnar.Optional(columnar.Text, "holding_left", "holding_right"),
)

var eventsColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Time, "time"), columnar.Required(columnar.Text, "event"),
	columnar.Optional(columnar.Int64, "userid"), columnar.Optional(columnar.Text, "name"), columnar.Required(columnar.Text, "data"),
)

// micros is a time of a frame as tables have it.
func micros(ms int64) int64 { return ms * 1000 }

// A sessionOf is what the session of a frame is made by, or where there is none what the one has that is stored, or its text.
type sessionOf struct {
	*Encoder
	stored *Session
	text   []byte
}

// frameRow adds frame i to frames.
func (c *Chunk) frameRow(b *columnar.Batch, i int) {
	c.session(i).frameRow(b, c.FirstTick+int64(i), c.Number, &c.Frames[i])
}

// session returns the session of frame i.
func (c *Chunk) session(i int) sessionOf {
	if c.Encoder != nil {
		return sessionOf{Encoder: c.Encoder}
	}
	return sessionOf{text: c.Stored(c.base + i)}
}

// frameRow adds a frame to frames, from its session where that is not made of the frame itself.
func (s sessionOf) frameRow(b *columnar.Batch, tick int64, chunk int, f *Frame) {
	if s.Encoder != nil {
		s.Encoder.frameRow(b, tick, chunk, f)
		return
	}
	frameHead(b, tick, chunk, f)
	if s.stored == nil {
		stored := ReadSession(s.text)
		s.stored = &stored
	}
	s.stored.end().row(b)
}

// frameHead adds what frames has of each frame.
func frameHead(b *columnar.Batch, tick int64, chunk int, f *Frame) {
	b.Int64(tick)
	b.Int32(int32(chunk))
	b.Int64(micros(f.Time))
}

// frameRow adds a frame to frames, by the session that Session makes of it.
func (e *Encoder) frameRow(b *columnar.Batch, tick int64, chunk int, f *Frame) {
	frameHead(b, tick, chunk, f)
	combat := f.Kind == Combat
	if combat {
		b.Null()
	} else {
		b.Text(f.Status)
	}
	addFloats(b, !combat || f.Clock != 0, f.Clock)
	for _, x := range f.Points {
		if !combat {
			x = float32(float64(int64(x))) // written as an integer
		}
		addFloats(b, true, x)
	}
	for _, n := range e.scores {
		b.FitInt32(int64(n))
	}
	disc := !combat && f.Has&HasDisc != 0
	addFloats(b, disc, f.Disc.Position[:]...)
	addFloats(b, disc, f.Disc.Velocity[:]...)
	addInts(b, disc, 0)
	team, player := f.possession()
	addInts(b, !combat, team, player)
	b.Text(f.Pause.State)
}

// addFloats adds numbers, or as many nulls. Each NaN is that of JSON, which has but one.
func addFloats(b *columnar.Batch, known bool, list ...float32) {
	for _, x := range list {
		switch {
		case !known:
			b.Null()
		case x != x:
			b.Float(float32(math.NaN()))
		default:
			b.Float(x)
		}
	}
}

// addInts adds small integers, or as many nulls.
func addInts(b *columnar.Batch, known bool, list ...int) {
	for _, n := range list {
		if known {
			b.Int32(int32(n))
		} else {
			b.Null()
		}
	}
}

// unquote returns the text of a JSON string.
func unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if !slices.Contains(value, '\\') {
		return ValidString(value[1 : len(value)-1]), true
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

func addText(b *columnar.Batch, value []byte) {
	if s, ok := unquote(value); ok {
		b.Text(s)
		return
	}
	b.Null()
}

// addFloat adds a number, or one of the words that stand for what is no number in JSON.
func addFloat(b *columnar.Batch, value []byte) {
	text, ok := unquote(value)
	if !ok {
		text = string(value)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(float64(float32(x)), 0) && !math.IsInf(x, 0) {
		b.Null()
		return
	}
	b.Float(float32(x))
}

func addInt(b *columnar.Batch, value []byte) {
	n, err := strconv.ParseInt(string(value), 10, 32)
	if err != nil {
		b.Null()
		return
	}
	b.Int32(int32(n))
}

// playerRows adds the players of a frame to players.
func playerRows(b *columnar.Batch, tick int64, f *Frame, each func()) {
	for team := range f.Teams {
		for i := range f.Teams[team].Players {
			playerRow(b, tick, f, team, &f.Teams[team].Players[i])
			each()
		}
	}
}

func playerRow(b *columnar.Batch, tick int64, f *Frame, team int, p *Player) {
	b.Int64(tick)
	b.Int64(micros(f.Time))
	b.Word(team)
	b.Text(p.Name)
	b.Int64(p.UserID)
	b.Int32(int32(p.ID))
	head, v, body, left, right := &p.Poses[Head].Position, &p.Velocity, &p.Poses[Body].Position, &p.Poses[LeftHand].Position, &p.Poses[RightHand].Position
	b.Floats(head[0], head[1], head[2], v[0], v[1], v[2], body[0], body[1], body[2], left[0], left[1], left[2], right[0], right[1], right[2])
	b.Int32(p.Ping)
	if f.Kind == Combat {
		b.Nulls(4)
	} else {
		b.Bools(p.Possession, p.Blocking, p.Stunned, p.Invulnerable)
	}
	for _, hand := range p.Holding {
		if hand == "" {
			b.Null()
		} else {
			b.Text(hand)
		}
	}
}

// eventRow adds a line of events.jsonl. buf is memory for the further keys.
func eventRow(b *columnar.Batch, line []byte, buf *[]byte) {
	var tick, at, user int64
	var event, name string
	var hasUser, hasName bool
	rest := append((*buf)[:0], '{')
	w := jsonenc.Walk(line)
	for w.Enter(); w.More(); {
		key, value := w.Value(), w.Value()
		switch string(key) {
		case `"tick"`:
			tick = integerOf(value)
		case `"time"`:
			at = timeOf(value)
		case `"event"`:
			event, _ = unquote(value)
		case `"userid"`:
			user, hasUser = integerOf(value), string(value) != "null"
		case `"name"`:
			name, hasName = unquote(value)
		default:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			rest = append(append(append(rest, key...), ':'), value...)
		}
	}
	*buf = append(rest, '}')
	b.Int64(tick)
	b.Int64(at)
	b.Text(event)
	if hasUser {
		b.Int64(user)
	} else {
		b.Null()
	}
	if hasName {
		b.Text(name)
	} else {
		b.Null()
	}
	b.Bytes(*buf)
}

// timeOf returns a time as AppendTime writes it, in microseconds.
func timeOf(value []byte) int64 {
	text, _ := unquote(value)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0 // a year that no recorder has lived in
	}
	return t.UnixMicro()
}

// integerOf returns an integer of JSON; a large one is a string.
func integerOf(value []byte) int64 {
	text, ok := unquote(value)
	if !ok {
		text = string(value)
	}
	n, _ := strconv.ParseInt(text, 10, 64) // what is written there is one
	return n
}
