package teehistorian

import (
	"bytes"
	"slices"
	"strconv"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

// The tables of a recording (docs/tree/tables.md section 2).
const (
	playersTable = iota
	positionsTable
	inputsTable
	eventsTable
	finishesTable
	rowTables
)

var rowTableNames = [rowTables]string{"players", "positions", "inputs", "events", "finishes"}

// eventWords are all names of events, and eventNumbers their numbers.
var eventWords, eventNumbers = func() (words []string, numbers map[string]int) {
	for _, event := range eventNames {
		words = append(words, event)
	}
	for _, x := range extensionTypes {
		words = append(words, x.event)
	}
	words = append(words, unknownExtension.event)
	slices.Sort(words)
	numbers = make(map[string]int, len(words))
	for i, w := range words {
		numbers[w] = i
	}
	return words, numbers
}()

var rowColumns = [rowTables][]columnar.Column{
	playersTable: slices.Concat(
		columnar.Required(columnar.Int32, "stay"), columnar.Required(columnar.Text, "dir"), columnar.Required(columnar.Int32, "cid"),
		columnar.Optional(columnar.Text, "name", "clan", "protocol"), columnar.Optional(columnar.Int32, "version"),
		columnar.Optional(columnar.Text, "version_str"), columnar.Required(columnar.Int64, "first_tick"),
		columnar.Optional(columnar.Int64, "join_tick", "drop_tick"), columnar.Optional(columnar.Text, "drop_reason"),
		columnar.Required(columnar.Int32, "lives", "positions", "inputs", "commands"), columnar.Optional(columnar.Time, "first_time"),
	),
	positionsTable: slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "cid", "stay"), columnar.Optional(columnar.Int32, "x", "y"),
	),
	inputsTable: slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "cid", "stay"),
		columnar.Optional(columnar.Int32, inputNames[:]...),
	),
	eventsTable: slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Time, "time"), columnar.Required(columnar.Int64, "offset"),
		columnar.OneOf("event", false, eventWords...), columnar.Optional(columnar.Int32, "cid", "stay"), columnar.Required(columnar.Text, "data"),
	),
	finishesTable: slices.Concat(
		columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Time, "time"),
		columnar.Optional(columnar.Int32, "stay", "cid", "team"), columnar.Optional(columnar.Text, "name"),
		columnar.Required(columnar.Double, "seconds"), columnar.Required(columnar.Int64, "start_tick"),
	),
}

// add adds the time of a tick.
func (s startTime) add(b *columnar.Batch, tick int32) {
	at, ok := s.at(tick)
	if !ok {
		b.Null()
		return
	}
	b.Int64(at.UnixMicro())
}

// positionRow adds an event of the table positions.
func positionRow(b *columnar.Batch, e *event) {
	b.Int64(int64(e.tick))
	if !e.known {
		b.Int32s(e.cid, e.stay)
		b.Null()
		b.Null()
		return
	}
	b.Int32s(e.cid, e.stay, e.player.x, e.player.y)
}

// inputRow adds an event of the table inputs.
func inputRow(b *columnar.Batch, e *event) {
	b.Int64(int64(e.tick))
	b.Int32s(e.cid, e.stay)
	input := &e.player.input
	if e.known {
		b.Int32s(input[:]...)
		return
	}
	for range input {
		b.Null()
	}
}

// isHot reports whether events of a kind are in tables of their own, or in none.
func (k kind) isHot() bool {
	t, ok := tableOf(k)
	return k == tickSkip || ok && t != commandTable
}

// eventRow adds an event of a kind that is seldom, of which doc is the JSON, which it changes. s is the state
// after it.
func eventRow(b *columnar.Batch, e *event, s *state, start startTime, doc []byte) {
	b.Int64(int64(e.tick))
	start.add(b, e.tick)
	b.Int64(e.offset)
	b.Word(eventNumbers[e.name()])
	cid, known, data := cutHead(e, doc)
	p := (*player)(nil)
	if known {
		b.Int32(cid)
		p = s.lookup(cid)
	} else {
		b.Null()
	}
	addStay(b, p)
	b.Bytes(data)
}

func addStay(b *columnar.Batch, p *player) {
	if p == nil || p.stay == noStay {
		b.Null()
		return
	}
	b.Int32(p.stay)
}

// cutHead returns the client id that the JSON of an event has, and the object of the keys after that. It
// writes into doc.
func cutHead(e *event, doc []byte) (cid int32, known bool, data []byte) {
	const cidKey = `,"cid":`
	rest := doc[len(`{"event":"`)+len(e.name())+len(`","offset":`)+jsonenc.UintLen(uint64(e.offset)):]
	if after, ok := bytes.CutPrefix(rest, []byte(cidKey)); ok {
		end := bytes.IndexAny(after, ",}")
		n, err := strconv.ParseInt(string(after[:end]), 10, 32)
		cid, known, rest = int32(n), err == nil, after[end:]
	}
	if rest[0] == '}' {
		return cid, known, []byte("{}")
	}
	rest[0] = '{' // in place of the comma
	return cid, known, rest
}

// finishRow adds an event of the table finishes. ok is false if it is none.
func finishRow(b *columnar.Batch, e *event, start startTime) (ok bool) {
	x := &e.payload
	if e.kind != extension || x.short || x.typ.event != "player_finish" && x.typ.event != "team_finish" {
		return false
	}
	ticks := x.num("time_ticks")
	b.Int64(int64(e.tick))
	start.add(b, e.tick)
	p := e.player
	if x.typ.event == "player_finish" {
		addStay(b, p)
		b.Int32(x.num("cid"))
		b.Null()
	} else {
		b.Null()
		b.Null()
		b.Int32(x.num("team"))
	}
	if p != nil && p.named {
		b.Text(p.name)
	} else {
		b.Null()
	}
	b.Double(float64(ticks) / ticksPerSecond)
	b.Int64(int64(e.tick) - int64(ticks))
	return true
}
