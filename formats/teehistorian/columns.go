package teehistorian

import (
	"slices"

	"recfs/formats/columnar"
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
