package teehistorian

import (
	"slices"
	"strings"
	"unicode/utf8"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/rowcount"
)

// The tables of a recording whose rows are records (docs/tree/tables.md section 2).
const (
	positionsTable = iota
	inputsTable
	eventsTable
	rowTables
)

var rowTableNames = [rowTables]string{"positions", "inputs", "events"}

// eventWords are the names of all events, and eventNumbers their places in it.
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

var playersColumns = slices.Concat(
	columnar.Required(columnar.Int32, "stay"), columnar.Required(columnar.Text, "dir"), columnar.Required(columnar.Int32, "cid"),
	columnar.Optional(columnar.Text, "name", "clan", "protocol"), columnar.Optional(columnar.Int32, "version"),
	columnar.Optional(columnar.Text, "version_str"), columnar.Required(columnar.Int64, "first_tick"),
	columnar.Optional(columnar.Int64, "join_tick", "drop_tick"), columnar.Optional(columnar.Text, "drop_reason"),
	columnar.Required(columnar.Int32, "lives", "positions", "inputs", "commands"), columnar.Optional(columnar.Time, "first_time"),
)

var rowColumns = [rowTables][]columnar.Column{
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
}

var finishesColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Optional(columnar.Time, "time"),
	columnar.Optional(columnar.Int32, "stay", "cid", "team"), columnar.Optional(columnar.Text, "name"),
	columnar.Required(columnar.Double, "seconds"), columnar.Required(columnar.Int64, "start_tick"),
)

// add adds the time of a tick.
func (s startTime) add(b *columnar.Batch, tick int32) {
	at, ok := s.at(tick)
	columnar.AddIf(b, ok, b.Int64, at.UnixMicro())
}

// positionRow adds an event of the table positions.
func positionRow(b *columnar.Batch, e *event) {
	b.Int64(int64(e.tick))
	if !e.known {
		b.Int32s(e.cid, e.stay)
		b.Nulls(2)
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
	b.Nulls(len(input))
}

// isHot reports whether the events of a kind are not in the table events: they have a table of
// their own, or none.
func (k kind) isHot() bool {
	t, ok := tableOf(k)
	return k == tickSkip || ok && t != commandTable
}

// eventRow adds an event of a rare kind. rest is what appendRest returned for it, and is changed. s
// is the state after it.
func eventRow(b *columnar.Batch, e *event, s *state, start startTime, rest []byte) {
	b.Int64(int64(e.tick))
	start.add(b, e.tick)
	b.Int64(e.offset)
	b.Word(eventNumbers[e.name()])
	cid, ok := e.client()
	columnar.AddIf(b, ok, b.Int32, cid)
	stay := int32(noStay)
	if p := s.lookup(cid); ok && p != nil {
		stay = p.stay
	}
	columnar.AddIf(b, stay != noStay, b.Int32, stay)
	if rest[0] = '{'; len(rest) == 1 { // in place of the comma, or of the closing bracket if there are no members
		rest = append(rest, '}')
	}
	b.Bytes(rest)
}

// rowCounters count the rows of these tables.
type rowCounters [rowTables]*rowcount.Counter

// newRowCounters returns counters of no rows.
func newRowCounters() (c rowCounters) {
	for t := range c {
		c[t] = rowcount.New(rowColumns[t])
	}
	return c
}

// A hotRows counts the rows of a table with a row for nearly every record. It gathers them for its
// Counter.
type hotRows struct {
	*rowcount.Counter
	left        int // how many more it may gather
	room        int // left when it began
	first, last int32
	nulls       int64
}

// row counts a row.
func (h *hotRows) row(tick int32) {
	if h.left == 0 {
		h.begin(tick)
	}
	h.left--
	h.last = tick
}

// null says that the last row has only tick, cid and stay.
func (h *hotRows) null() { h.nulls++ }

// begin begins to gather rows.
func (h *hotRows) begin(tick int32) {
	h.flush()
	h.first, h.room = tick, h.Room()
	h.left = h.room
}

// flush counts what was gathered.
func (h *hotRows) flush() {
	if n := h.room - h.left; n > 0 {
		counts := make([]columnar.Counts, len(h.Columns))
		for i := range counts {
			if h.Columns[i].Nullable {
				counts[i].Nulls = h.nulls
			}
		}
		counts[0] = columnar.Counts{Min: int64(h.first), Max: int64(h.last), Bounded: true}
		h.Add(n, counts)
	}
	h.room, h.left, h.nulls = 0, 0, 0
}

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

// tableOf returns the table in which events of a kind are rows.
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

// appendRow appends the row that e, which counts for a stay, is in its table.
func appendRow(b []byte, e *event) []byte {
	b = jsonenc.AppendInt(b, e.tick)
	switch e.kind {
	case playerDiff, playerNew, playerOld:
		b = append(b, ',')
		if e.known {
			b = jsonenc.AppendInt(b, e.player.x)
			b = append(b, ',')
			b = jsonenc.AppendInt(b, e.player.y)
		} else {
			b = append(b, ',')
		}
	case inputDiff, inputNew:
		for i := range e.player.input {
			b = append(b, ',')
			if e.known {
				b = jsonenc.AppendInt(b, e.player.input[i])
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

// appendTyped appends a command with its arguments (docs/tree/teehistorian.md section 8).
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

// appendQuoted appends s as a JSON string for people to read: no more is escaped than has to be.
// jsonenc also escapes U+2028 and U+2029, as encoding/json does.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for len(s) > 0 {
		n := strings.IndexAny(s, "\u2028\u2029")
		if n < 0 {
			n = len(s)
		}
		quoted := jsonenc.AppendString(nil, s[:n])
		b = append(b, quoted[1:len(quoted)-1]...)
		_, size := utf8.DecodeRuneInString(s[n:])
		b = append(b, s[n:n+size]...)
		s = s[n+size:]
	}
	return append(b, '"')
}
