package hcrp

import (
	"iter"
	"sort"

	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
)

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
	data := []byte{'{'}
	if len(m.Fields) > 0 {
		data = append(data, m.Fields[1:]...)
	}
	b.Bytes(append(data, '}'))
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
