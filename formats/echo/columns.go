package echo

import (
	"math"
	"slices"
	"unicode/utf8"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

var framesColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "chunk"), columnar.Optional(columnar.Time, "time"),
	columnar.Optional(columnar.Text, "game_status"), columnar.Optional(columnar.Float, "game_clock", "blue_points", "orange_points"),
	columnar.Optional(columnar.Int32, "blue_round_score", "orange_round_score"),
	columnar.Optional(columnar.Float, "disc_x", "disc_y", "disc_z", "disc_vx", "disc_vy", "disc_vz"),
	columnar.Optional(columnar.Int32, "disc_bounces", "possession_team", "possession_player"),
	columnar.Optional(columnar.Text, "paused_state"),
)

// The columns of players. A text may lack values that .butter always has.
var (
	bitsPlayers = playersColumns(columnar.Required)
	textPlayers = playersColumns(columnar.Optional)
)

func playersColumns(number func(t columnar.ColumnType, names ...string) []columnar.Column) []columnar.Column {
	return slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Time, "time"), columnar.OneOf("team", false, TeamNames[:]...),
		columnar.Required(columnar.Text, "name"), number(columnar.Int64, "userid"), number(columnar.Int32, "playerid"),
		columnar.Optional(columnar.Float, "x", "y", "z", "vx", "vy", "vz", "body_x", "body_y", "body_z", "lhand_x", "lhand_y", "lhand_z",
			"rhand_x", "rhand_y", "rhand_z"),
		number(columnar.Int32, "ping"), columnar.Optional(columnar.Bool, "possession", "blocking", "stunned", "invulnerable"),
		columnar.Optional(columnar.Text, "holding_left", "holding_right"),
	)
}

// playersOf returns the columns of players; text says that sessions are stored as text.
func playersOf(text bool) []columnar.Column {
	if text {
		return textPlayers
	}
	return bitsPlayers
}

var eventsColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Time, "time"), columnar.Required(columnar.Text, "event"),
	columnar.Optional(columnar.Int64, "userid"), columnar.Optional(columnar.Text, "name"), columnar.Required(columnar.Text, "data"),
)

// datedEvents is the table events of a recording whose frames all have dates.
var datedEvents = columnar.Table{Name: "events", Columns: withDates(eventsColumns)}

// withDates returns columns with a time that is not null.
func withDates(list []columnar.Column) []columnar.Column {
	list = slices.Clone(list)
	list[slices.IndexFunc(list, isTime)].Nullable = false
	return list
}

func isTime(c columnar.Column) bool { return c.Name == "time" }

// columns returns the columns of a table. Their time can be null if a frame has no date.
func (x *Index) columns(list []columnar.Column) []columnar.Column {
	at := slices.IndexFunc(framesColumns, isTime)
	if slices.ContainsFunc(x.Frames.Groups(), func(g columnar.Group) bool { return g.Columns[at].Nulls > 0 }) {
		return list
	}
	return withDates(list)
}

// addTime adds a time of a frame.
func addTime(b *columnar.Batch, ms int64) { columnar.AddIf(b, dated(ms), b.Int64, ms*1000) }

// frameRow adds a frame to frames.
func frameRow(b *columnar.Batch, tick int64, chunk int, f *Frame) {
	l := f.Lacks
	b.Int64(tick)
	b.Int32(int32(chunk))
	addTime(b, f.Time)
	columnar.AddIf(b, !l.At(LacksStatus), b.Text, f.Status)
	addFloats(b, l.Of(LacksClock, 1), f.Clock)
	addFloats(b, l.Of(LacksPoints, 2), f.Points[0]+0, f.Points[1]+0) // an integer has no sign at 0
	addInts(b, l.Of(LacksRounds, 2), f.Rounds[:]...)
	addFloats(b, l.Of(LacksDisc, 3), f.Disc.Position[:]...)
	addFloats(b, l.Of(LacksDisc+3, 3), f.Disc.Velocity[:]...)
	addInts(b, l.Of(LacksBounces, 1), f.Bounces)
	addInts(b, l.Of(LacksHolder, 2), f.Holder[:]...)
	columnar.AddIf(b, !l.At(LacksPause), b.Text, f.Pause.State)
}

// addFloats adds numbers, and nulls for those that are lacking. JSON has one NaN only, so each NaN
// becomes that one.
func addFloats(b *columnar.Batch, lacks Lacks, list ...float32) {
	for i, x := range list {
		if x != x {
			x = float32(math.NaN())
		}
		columnar.AddIf(b, !lacks.At(i), b.Float, x)
	}
}

// addInts adds integers, and nulls for those that are lacking.
func addInts(b *columnar.Batch, lacks Lacks, list ...int64) {
	for i, n := range list {
		columnar.AddIf(b, !lacks.At(i), b.FitInt32, n)
	}
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
	addTime(b, f.Time)
	b.Word(team)
	b.Text(p.Name)
	columnar.AddIf(b, !p.Lacks.At(LacksUserID), b.Int64, p.UserID)
	columnar.AddIf(b, !p.Lacks.At(LacksID), b.Int32, p.ID)
	head, v, body, left, right := &p.Poses[Head].Position, &p.Velocity, &p.Poses[Body].Position, &p.Poses[LeftHand].Position, &p.Poses[RightHand].Position
	if p.Lacks == 0 {
		b.Floats(head[0], head[1], head[2], v[0], v[1], v[2], body[0], body[1], body[2], left[0], left[1], left[2], right[0], right[1], right[2])
		b.Int32(p.Ping)
		b.Bools(p.Possession, p.Blocking, p.Stunned, p.Invulnerable)
	} else {
		p.addRest(b)
	}
	for _, hand := range p.Holding {
		columnar.AddIf(b, hand != "", b.Text, hand)
	}
}

// addRest adds the columns of a player from places to flags, some of which are null.
func (p *Player) addRest(b *columnar.Batch) {
	for i, place := range p.places() {
		for k, x := range place {
			columnar.AddIf(b, !p.Lacks.At(LacksPlaces+3*i+k), b.Float, x)
		}
	}
	columnar.AddIf(b, !p.Lacks.At(LacksPing), b.Int32, p.Ping)
	for i, x := range p.flags() {
		columnar.AddIf(b, !p.Lacks.At(LacksFlags+i), b.Bool, x)
	}
}

// row adds a line of events.jsonl.
func (e *Event) row(b *columnar.Batch) {
	b.Int64(e.Tick)
	addTime(b, e.Time)
	b.Text(e.Kind)
	p := e.Player
	if p == nil {
		p = &PlayerKey{Lacks: LacksIdentity}
	}
	columnar.AddIf(b, !p.Lacks.At(LacksUserID), b.Int64, p.ID)
	columnar.AddIf(b, !p.Lacks.At(LacksName), b.Text, p.Name)
	var hex []byte
	if !utf8.ValidString(p.Name) {
		hex = jsonenc.AppendHex(append(hex, `,"name_hex":`...), []byte(p.Name))
	}
	b.Bytes(e.members(hex))
}

// members returns more members and the Rest as an object.
func (e *Event) members(more []byte) []byte {
	b := append(append(more, e.Rest...), '}')
	b[0] = '{' // in place of the comma, which each event has
	return b
}
