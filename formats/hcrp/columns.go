package hcrp

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"sort"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

// The tables of a recording and their columns (docs/tree/tables.md section 5).
const (
	positionsTable = "positions"
	eventsTable    = "events"
	markersTable   = "markers"
)

var positionsColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "entity", "life"),
	columnar.Required(columnar.Double, "x", "y", "z"), columnar.Optional(columnar.Float, "yaw", "pitch"),
)

var eventsColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Int32, "chunk", "id"), columnar.Required(columnar.Text, "event"),
	columnar.Optional(columnar.Int32, "entity"), columnar.Required(columnar.Bool, "snapshot"), columnar.Required(columnar.Text, "data"),
)

var markersColumns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Text, "event"), columnar.Required(columnar.Int32, "id"),
	columnar.Required(columnar.Text, "data"),
)

// A placement is a position that an event gave an entity.
type placement struct {
	track  int // its number in the index, where that is needed
	entity int64
	life   int
	pos    position
}

// lastPlacements sorts the placements of a tick by entity and life, and returns the last one of
// each. It uses the memory of list.
func lastPlacements(list []placement) []placement {
	slices.SortStableFunc(list, func(a, b placement) int { return cmp.Or(cmp.Compare(a.entity, b.entity), cmp.Compare(a.life, b.life)) })
	out := list[:0]
	for _, p := range list {
		if n := len(out); n > 0 && out[n-1].entity == p.entity && out[n-1].life == p.life {
			out[n-1] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// positionRow adds where an entity was after a tick. It reports whether it added a row: an entity
// whose number does not fit its column has none.
func positionRow(b *columnar.Batch, tick int64, p *placement) bool {
	if int64(int32(p.entity)) != p.entity {
		return false
	}
	b.Int64(tick)
	b.Int32s(int32(p.entity), int32(p.life))
	for _, x := range p.pos[:3] {
		b.Double(x)
	}
	for _, x := range p.pos[3:] {
		f := float32(x)
		columnar.AddIf(b, math.IsInf(x, 0) || !math.IsInf(float64(f), 0), b.Float, f)
	}
	return true
}

// addEvents adds the events of a chunk, and calls end after each.
func (c *chunk) addEvents(b *columnar.Batch, number int, end func()) {
	var data []byte
	for i := range c.ticks {
		t := &c.ticks[i]
		for k := t.first; k < t.last; k++ {
			e := &c.events[k]
			b.Int64(t.n)
			b.Int32s(int32(number), e.id)
			b.JSON([]byte(c.name(e))) // which encoding/json made UTF-8
			columnar.AddIf(b, e.hasColumn, b.Int32, e.column)
			b.Bool(k < c.marked)
			data = c.appendData(data[:0], k)
			b.JSON(data)
			end()
		}
	}
}

// appendData appends the fields of an event as an object, without the field that has a column.
func (c *chunk) appendData(dst []byte, k int) []byte {
	fields, aside, start := c.fields(k), c.events[k].aside, len(dst)
	if aside.end == 0 {
		aside = span{fields.end, fields.end}
	}
	dst = append(append(dst, c.text[fields.start:aside.start]...), c.text[aside.end:fields.end]...)
	return appendBraces(dst, start)
}

// appendBraces makes an object of the members that dst has from start on, each with a comma before
// it.
func appendBraces(dst []byte, start int) []byte {
	if len(dst) == start {
		dst = append(dst, ',')
	}
	dst[start] = '{'
	return append(dst, '}')
}

// fields returns the place of the members behind the id in an event's object, each behind a comma.
func (c *chunk) fields(k int) span {
	e := &c.events[k]
	end := e.text.end - uint32(len("}"))
	if k < c.marked {
		end -= uint32(len(insideSnapshot))
	}
	return span{e.fields, end}
}

// isWhole reports whether a value of JSON is a whole number.
func isWhole(value []byte) bool {
	digits := bytes.TrimPrefix(value, []byte{'-'})
	return !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}

// A marker is an event with role marker.
type marker struct {
	Tick     int64
	ID       int32
	Name     string
	Fields   []byte // the members of its object behind the id, each with a comma before it
	Snapshot bool   // it is part of one
}

const insideSnapshot = `,"snapshot":true`

// markers returns those of the chunk in the ticks from first to last. Their fields are good as long
// as the chunk is.
func (c *chunk) markers(first, last int64) iter.Seq[*marker] {
	return func(yield func(*marker) bool) {
		for t := range c.between(first, last) {
			for k := t.first; k < t.last; k++ {
				e := &c.events[k]
				if e.def == nil || e.def.Role != roleMarker {
					continue
				}
				m := marker{Tick: t.n, ID: e.id, Name: e.def.Name, Snapshot: k < c.marked}
				m.Fields = c.bytes(c.fields(k))
				if !yield(&m) {
					return
				}
			}
		}
	}
}

// appendLine appends the line of markers.json, with the comma that is before all but the first.
func (m *marker) appendLine(dst []byte) []byte {
	dst = append(dst, ",\n    "...)
	dst = append(appendMoment(dst, m.Tick), `,"event":`...)
	dst = jsonenc.AppendString(dst, m.Name)
	dst = append(dst, `,"id":`...)
	dst = append(jsonenc.AppendInt(dst, m.ID), m.Fields...)
	if m.Snapshot {
		dst = append(dst, insideSnapshot...)
	}
	return append(dst, '}')
}

// row adds the row of the table.
func (m *marker) row(b *columnar.Batch) {
	b.Int64(m.Tick)
	b.Text(m.Name)
	b.Int32(m.ID)
	b.Bytes(appendBraces(slices.Clone(m.Fields), 0))
}

// A markerList has the markers of a recording, if they are few. Else they are decoded where they
// are needed.
type markerList struct {
	list []marker
	size int64 // in memory
	many bool
}

// maxMarkers is how many bytes of memory a markerList takes at most.
const maxMarkers = 4 << 20

// add adds a copy of a marker.
func (l *markerList) add(m *marker) {
	if l.size += int64(80 + len(m.Name) + len(m.Fields)); l.many || l.size > maxMarkers {
		*l = markerList{many: true}
		return
	}
	l.list = append(l.list, *m)
	l.list[len(l.list)-1].Fields = append([]byte(nil), m.Fields...)
}

// between returns the markers in the ticks from first to last.
func (l *markerList) between(first, last int64) iter.Seq[*marker] {
	return func(yield func(*marker) bool) {
		i := sort.Search(len(l.list), func(i int) bool { return l.list[i].Tick >= first })
		for ; i < len(l.list) && l.list[i].Tick <= last && yield(&l.list[i]); i++ {
		}
	}
}
