package hcrp

import (
	"math"
	"strings"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is saved.
func (x *index) Append(b []byte) []byte { return indexfile.Append(b, x.code) }

// code writes or reads the index. What it reads still has to be checked: see check.
//
//	| sum, 32 bytes | n | n × reach | progress | complete | empty | chunks × (records, events) |
//	| n | n × (name, events) | n | n × problem | n | n × run | n | n × range |
//	| n | n × checkpoint | n | n × track | markers | foreign | rows of events, positions, markers |
func (x *index) code(c indexfile.Codec) {
	sum := x.sum[:]
	if c.Values(&sum); c.R != nil {
		copy(x.sum[:], sum)
	}
	indexfile.List(c, &x.files, 3, func(f *reach) {
		c.Int(&f.number)
		c.Values(&f.size, &f.end)
	})
	x.progress.code(c, len(x.order))
	c.Values(&x.complete, &x.empty)
	for _, i := range x.order[:x.progress.chunks] {
		c.Values(&x.rows[i].records, &x.rows[i].events)
	}
	codeMap(c, &x.names, 2, strings.Compare, func(name *string, n *int64) { c.Values(name, n) })
	c.Problems((*[]formats.Problem)(&x.problems))
	x.ticks.code(c)
	indexfile.List(c, &x.ranges, 8, func(t *tickRange) {
		c.Values(&t.First, &t.Last)
		indexfile.Uint(c, &t.Chunk, math.MaxInt32)
		c.Values(&t.Hole, &t.Lost, &t.Cut, &t.Ghost, &t.Markers)
	})
	indexfile.List(c, &x.checkpoints, 2, func(p *checkpoint) {
		c.Values(&p.Range)
		c.Blob(&p.Replay)
	})
	indexfile.List(c, &x.tracks, 7, func(t *track) { t.code(c) })
	x.markers.code(c)
	c.Values(&x.foreign)
	rowcount.Code(c, &x.eventRows, eventsColumns)
	rowcount.Code(c, &x.positionRows, positionsColumns)
	rowcount.Code(c, &x.markerRows, markersColumns)
}

func (p *progress) code(c indexfile.Codec, chunks int) {
	indexfile.Uint(c, &p.chunks, chunks)
	c.Values(&p.ranges, &p.next)
	c.Int(&p.unknown)
	c.Values(&p.played, &p.sound, &p.lost)
}

// code is for runs of ticks, each by its distance from the one before it, and its length.
func (r *runs) code(c indexfile.Codec) {
	last := int64(0)
	indexfile.List(c, (*[]run)(r), 2, func(x *run) {
		distance, length := x.First-last, x.Last-x.First
		c.Int(&distance)
		if c.Values(&length); c.R != nil {
			*x = run{First: last + distance, Last: last + distance + length}
		}
		last = x.Last
	})
}

// code is for the markers, none if there are many.
//
//	| u8 many | n | n × (tick, id, name, fields, u8 snapshot) |
func (l *markerList) code(c indexfile.Codec) {
	c.Values(&l.many)
	indexfile.List(c, &l.list, 5, func(m *marker) { c.Values(&m.Tick, &m.ID, &m.Name, &m.Fields, &m.Snapshot) })
	if c.R != nil {
		list := l.list
		l.list = nil
		for i := range list {
			l.add(&list[i])
		}
	}
}

func (t *track) code(c indexfile.Codec) {
	c.Int(&t.Entity)
	indexfile.Uint(c, &t.Life, math.MaxInt32)
	c.Values(&t.From.Tick, &t.From.Event, &t.To.Tick, &t.To.Event)
	last := 0
	indexfile.List(c, &t.Pieces, 2, func(p *piece) {
		n := p.Range - last
		if c.Values(&n, &p.Size); c.R != nil {
			p.Range = last + n
		}
		last = p.Range
	})
}
