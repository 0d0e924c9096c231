package hcrp

import (
	"maps"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// encode returns the index up to its progress as it is saved. order are the chunks in the order of
// ticks.
//
//	| head with the seal of the first file | fingerprint | progress | empty |
//	| chunks × (records, events) | n | n × (name, events) | n | n × problem | n | n × run |
//	| n | n × range | n | n × checkpoint | n | n × track | markers | rows of events | rows of positions |
func (x *index) encode(order []int32) []byte {
	var seal formats.Seal
	if len(x.fingerprint.files) > 0 {
		seal = x.fingerprint.files[0].Seal
	}
	w := writer{indexfile.NewWriter(seal, int(x.weight()))}
	w.fingerprint(&x.fingerprint)
	w.progress(&x.progress)
	w.Size(x.empty)
	for _, i := range order[:x.progress.chunks] {
		w.Int(int64(x.rows[i].records))
		w.Int(int64(x.rows[i].events))
	}
	w.Count(len(x.names))
	for _, name := range slices.Sorted(maps.Keys(x.names)) {
		w.Text(name)
		w.Size(x.names[name])
	}
	w.Count(len(x.problems))
	for _, p := range x.problems {
		w.problem(p)
	}
	w.runs(x.ticks)
	w.Count(x.progress.ranges)
	for i := range x.ranges[:x.progress.ranges] {
		w.tickRange(&x.ranges[i])
	}
	w.checkpoints(x.checkpoints, x.progress.ranges)
	w.Count(len(x.tracks))
	for i := range x.tracks {
		w.track(&x.tracks[i])
	}
	w.Blob(x.markers)
	x.eventRows.Write(w.Writer)
	x.positionRows.Write(w.Writer)
	return w.Bytes()
}

// decodeIndex reads what encode returned, if it is the index of a recording with these chunks.
// Nothing is sure of the values but that they are there: see check.
func decodeIndex(b []byte, order []int32, chunks int) (*index, error) {
	saved, seal := indexfile.Open(formatName, b)
	r := reading{saved}
	x := &index{fingerprint: r.fingerprint(seal), progress: r.progress(len(order)), empty: r.Size(), rows: newRows(chunks)}
	for _, i := range order[:x.progress.chunks] {
		x.rows[i] = row{r.Int32(), r.Int32()}
	}
	x.names = map[string]int64{}
	for range r.Count(2) {
		name := r.Text()
		x.names[name] = r.Size()
	}
	x.problems = make(problemList, r.Count(5))
	for i := range x.problems {
		x.problems[i] = r.problem()
	}
	x.ticks = r.runs()
	x.ranges = make([]tickRange, r.Count(6))
	x.progress.ranges = len(x.ranges)
	for i := range x.ranges {
		x.ranges[i] = r.tickRange()
	}
	x.checkpoints = r.checkpoints()
	x.tracks = make([]track, r.Count(7))
	for i := range x.tracks {
		x.tracks[i] = r.track()
	}
	x.markers = r.Blob()
	x.eventRows, x.positionRows = rowcount.Read(r.Reader, eventsColumns), rowcount.Read(r.Reader, positionsColumns)
	return x, r.Close()
}

// fingerprint writes all but the seal in the head.
//
//	| sum, 32 bytes | n files | n × number | n-1 × formats.Seal |
func (w writer) fingerprint(f *fingerprint) {
	w.Blob(f.sum[:])
	w.Count(len(f.files))
	for i, file := range f.files {
		w.Int(file.number)
		if i > 0 {
			w.Seal(file.Seal)
		}
	}
}

func (r reading) fingerprint(first formats.Seal) (f fingerprint) {
	copy(f.sum[:], r.Blob())
	f.files = make([]fileFingerprint, r.Count(1))
	for i := range f.files {
		f.files[i].number = r.Int()
		if f.files[i].Seal = first; i > 0 {
			f.files[i].Seal = r.Seal()
		}
	}
	return f
}

func (w writer) progress(p *progress) {
	w.Count(p.chunks)
	w.Size(p.next)
	w.Int(p.unknown)
	w.Size(p.played)
	w.Bool(p.sound)
	w.Bool(p.lost)
}

func (r reading) progress(chunks int) progress {
	return progress{
		chunks: int(r.Uint(uint64(chunks))),
		next:   r.Size(), unknown: r.Int(), played: r.Size(), sound: r.Bool(), lost: r.Bool(),
	}
}

func (w writer) problem(p formats.Problem) {
	w.Text(p.Code)
	indexfile.WriteOptional(w.Writer, p.Chunk, w.Count)
	indexfile.WriteOptional(w.Writer, p.Segment, w.Count)
	w.Size(p.Offset)
	w.Text(p.Message)
}

func (r reading) problem() formats.Problem {
	number := func() int { return int(r.Uint(math.MaxInt32)) }
	return formats.Problem{
		Code: r.Text(), Chunk: indexfile.ReadOptional(r.Reader, number), Segment: indexfile.ReadOptional(r.Reader, number),
		Offset: r.Size(), Message: r.Text(),
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
	w.Size(t.Ghost)
}

func (r reading) tickRange() tickRange {
	return tickRange{
		First: r.Size(), Last: r.Size(), Chunk: int32(r.Uint(math.MaxInt32)), Hole: r.Bool(), Lost: r.Bool(), Ghost: r.Size(),
	}
}

// checkpoints writes those before the first n ranges.
func (w writer) checkpoints(list []checkpoint, n int) {
	for len(list) > 0 && list[len(list)-1].Range >= n {
		list = list[:len(list)-1]
	}
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
