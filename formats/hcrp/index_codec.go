package hcrp

import (
	"maps"
	"math"
	"slices"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// Append appends the index as it is saved.
//
//	| sum, 32 bytes | n | n × reach | progress | complete | empty | chunks × (records, events) |
//	| n | n × (name, events) | n | n × problem | n | n × run | n | n × range |
//	| n | n × checkpoint | n | n × track | markers | foreign | rows of events, positions, markers |
func (x *index) Append(b []byte) []byte {
	w := writer{indexfile.Append(b)}
	w.Blob(x.sum[:])
	w.reaches(x.files)
	w.progress(&x.progress)
	w.Bool(x.complete)
	w.Size(x.empty)
	for _, i := range x.order[:x.progress.chunks] {
		w.Int(int64(x.rows[i].records))
		w.Int(int64(x.rows[i].events))
	}
	w.Count(len(x.names))
	for _, name := range slices.Sorted(maps.Keys(x.names)) {
		w.Text(name)
		w.Size(x.names[name])
	}
	w.Count(len(x.problems))
	for i := range x.problems {
		w.Problem(&x.problems[i])
	}
	w.runs(x.ticks)
	w.Count(len(x.ranges))
	for i := range x.ranges {
		w.tickRange(&x.ranges[i])
	}
	w.checkpoints(x.checkpoints)
	w.Count(len(x.tracks))
	for i := range x.tracks {
		w.track(&x.tracks[i])
	}
	w.markers(&x.markers)
	w.Bool(x.foreign)
	for _, rows := range []*rowcount.Counter{x.eventRows, x.positionRows, x.markerRows} {
		rows.Write(w.Writer)
	}
	return w.Bytes()
}

// decodeIndex reads what Append wrote, if it is the index of a recording with these chunks. Nothing is
// sure of the values but that they are there: see check.
func decodeIndex(b []byte, order []int32, chunks int) (*index, error) {
	r := reading{indexfile.NewReader(formatName, b)}
	x := &index{order: order, rows: newRows(chunks)}
	copy(x.sum[:], r.Blob())
	x.files = r.reaches()
	x.progress = r.progress(len(order))
	x.complete, x.empty = r.Bool(), r.Size()
	for _, i := range order[:x.progress.chunks] {
		x.rows[i] = row{r.Int32(), r.Int32()}
	}
	x.names = map[string]int64{}
	for range r.Count(2) {
		name := r.Text()
		x.names[name] = r.Size()
	}
	x.problems = make(problemList, r.Count(indexfile.MinProblem))
	for i := range x.problems {
		x.problems[i] = r.Problem()
	}
	x.ticks = r.runs()
	x.ranges = make([]tickRange, r.Count(8))
	for i := range x.ranges {
		x.ranges[i] = r.tickRange()
	}
	x.checkpoints = r.checkpoints()
	x.tracks = make([]track, r.Count(7))
	for i := range x.tracks {
		x.tracks[i] = r.track()
	}
	x.markers = r.markers()
	x.foreign = r.Bool()
	x.eventRows, x.positionRows = rowcount.Read(r.Reader, eventsColumns), rowcount.Read(r.Reader, positionsColumns)
	x.markerRows = rowcount.Read(r.Reader, markersColumns)
	return x, r.Close()
}

// reaches writes how much of each file chunks take.
//
//	| n | n × (number, size, end) |
func (w writer) reaches(list []reach) {
	w.Count(len(list))
	for _, f := range list {
		w.Int(f.number)
		w.Size(f.size)
		w.Size(f.end)
	}
}

func (r reading) reaches() []reach {
	list := make([]reach, r.Count(3))
	for i := range list {
		list[i] = reach{r.Int(), r.Size(), r.Size()}
	}
	return list
}

func (w writer) progress(p *progress) {
	w.Count(p.chunks)
	w.Count(p.ranges)
	w.Size(p.next)
	w.Int(p.unknown)
	w.Size(p.played)
	w.Bool(p.sound)
	w.Bool(p.lost)
}

func (r reading) progress(chunks int) progress {
	return progress{
		chunks: int(r.Uint(uint64(chunks))), ranges: int(r.Uint(math.MaxInt32)),
		next: r.Size(), unknown: r.Int(), played: r.Size(), sound: r.Bool(), lost: r.Bool(),
	}
}

// runs writes runs of ticks, each by its distance from the one before it, and its length.
func (w writer) runs(list runs) {
	w.Count(len(list))
	last := int64(0)
	for _, x := range list {
		w.Int(x.First - last)
		w.Size(x.Last - x.First)
		last = x.Last
	}
}

func (r reading) runs() runs {
	list := make(runs, r.Count(2))
	last := int64(0)
	for i := range list {
		first := last + r.Int()
		last = first + r.Size()
		list[i] = run{First: first, Last: last}
	}
	return list
}

func (w writer) tickRange(t *tickRange) {
	w.Size(t.First)
	w.Size(t.Last)
	w.Size(int64(t.Chunk))
	w.Bool(t.Hole)
	w.Bool(t.Lost)
	w.Bool(t.Cut)
	w.Size(t.Ghost)
	w.Size(t.Markers)
}

func (r reading) tickRange() tickRange {
	return tickRange{
		First: r.Size(), Last: r.Size(), Chunk: int32(r.Uint(math.MaxInt32)),
		Hole: r.Bool(), Lost: r.Bool(), Cut: r.Bool(), Ghost: r.Size(), Markers: r.Size(),
	}
}

// markers writes the markers, none if there are many.
//
//	| u8 many | n | n × (tick, id, name, fields, u8 snapshot) |
func (w writer) markers(l *markerList) {
	w.Bool(l.many)
	w.Count(len(l.list))
	for i := range l.list {
		m := &l.list[i]
		w.Size(m.Tick)
		w.Int(int64(m.ID))
		w.Text(m.Name)
		w.Blob(m.Fields)
		w.Bool(m.Snapshot)
	}
}

func (r reading) markers() (l markerList) {
	many := r.Bool()
	for range r.Count(5) {
		l.add(&marker{r.Size(), r.Int32(), r.Text(), r.text(), r.Bool()})
	}
	l.many = l.many || many
	return l
}

func (w writer) checkpoints(list []checkpoint) {
	w.Count(len(list))
	for _, x := range list {
		w.Count(x.Range)
		w.Blob(x.Replay)
	}
}

func (r reading) checkpoints() []checkpoint {
	list := make([]checkpoint, r.Count(2))
	for i := range list {
		list[i] = checkpoint{int(r.Uint(math.MaxInt32)), r.Blob()}
	}
	return list
}

func (w writer) track(t *track) {
	w.Int(t.Entity)
	w.Count(t.Life)
	for _, m := range []moment{t.From, t.To} {
		w.Size(m.Tick)
		w.Count(m.Event)
	}
	w.Count(len(t.Pieces))
	last := 0
	for _, p := range t.Pieces {
		w.Count(p.Range - last)
		w.Size(p.Size)
		last = p.Range
	}
}

func (r reading) track() track {
	number := func() int { return int(r.Uint(math.MaxInt32)) }
	t := track{Entity: r.Int(), Life: number(), From: moment{r.Size(), number()}, To: moment{r.Size(), number()}}
	t.Pieces = make([]piece, r.Count(2))
	last := 0
	for i := range t.Pieces {
		last += number()
		t.Pieces[i] = piece{last, r.Size()}
	}
	return t
}
