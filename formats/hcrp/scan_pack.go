package hcrp

import (
	"maps"
	"slices"

	"recfs/formats"
)

// indexVersion is raised whenever an index of the same recording gives other
// bytes.
const indexVersion = 4

// weight returns the bytes that the index keeps alive.
func (s *index) weight() int64 {
	n := 1<<10 + 8*cap(s.rows) + 24*cap(s.ticks) + 32*cap(s.ranges) + 160*len(s.problems) + len(s.markers)
	for _, x := range s.checkpoints {
		n += 32 + len(x.Replay)
	}
	for _, t := range s.tracks {
		n += 256 + 16*len(t.Pieces)
	}
	return int64(n)
}

// pack returns the index up to its progress as it lies on disk. order are the
// chunks in the order of ticks.
func (s *index) pack(order []int32) []byte {
	var p packer
	p.uint(indexVersion)
	p.fingerprint(&s.fingerprint)
	p.progress(&s.progress)
	p.int(s.empty)
	for _, i := range order[:s.progress.chunks] {
		p.int(int64(s.rows[i].records))
		p.int(int64(s.rows[i].events))
	}
	p.uint(uint64(len(s.names)))
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		p.bytes([]byte(name))
		p.int(s.names[name])
	}
	p.uint(uint64(len(s.problems)))
	for _, x := range s.problems {
		p.problem(x)
	}
	p.uint(uint64(len(s.ticks)))
	last := int64(0)
	for _, r := range s.ticks {
		p.int(r.First - last)
		p.int(r.Last - r.First)
		last = r.Last
	}
	for i := range s.ranges[:s.progress.ranges] {
		p.tickRange(&s.ranges[i])
	}
	p.checkpoints(s.checkpoints, s.progress.ranges)
	p.uint(uint64(len(s.tracks)))
	for i := range s.tracks {
		p.track(&s.tracks[i])
	}
	p.bytes(s.markers)
	return p.b
}

func (p *packer) fingerprint(s *fingerprint) {
	p.b = append(p.b, s.sum[:]...)
	p.uint(uint64(len(s.files)))
	for _, f := range s.files {
		p.int(f.number)
		p.b = f.Append(p.b)
	}
}

func (p *packer) progress(m *progress) {
	p.uint(uint64(m.chunks))
	p.uint(uint64(m.ranges))
	p.int(m.next)
	p.int(m.unknown)
	p.int(m.played)
	p.bool(m.sound)
	p.bool(m.lost)
}

func (p *packer) problem(x formats.Problem) {
	p.bytes([]byte(x.Code))
	p.optional(x.Chunk)
	p.optional(x.Segment)
	p.int(x.Offset)
	p.bytes([]byte(x.Message))
}

func (p *packer) optional(n *int) {
	p.bool(n != nil)
	if n != nil {
		p.int(int64(*n))
	}
}

func (p *packer) tickRange(s *tickRange) {
	p.int(s.First)
	p.int(s.Last)
	p.int(int64(s.Chunk))
	p.bool(s.Hole)
	p.bool(s.Lost)
	p.int(s.Ghost)
}

// checkpoints writes the saved replays in front of the first n ranges.
func (p *packer) checkpoints(list []checkpoint, n int) {
	for len(list) > 0 && list[len(list)-1].Range >= n {
		list = list[:len(list)-1]
	}
	p.uint(uint64(len(list)))
	last := 0
	for _, x := range list {
		p.uint(uint64(x.Range - last))
		p.bytes(x.Replay)
		last = x.Range
	}
}

func (p *packer) track(t *track) {
	p.int(t.Entity)
	p.int(int64(t.Life))
	for _, m := range []moment{t.From, t.To} {
		p.int(m.Tick)
		p.int(int64(m.Event))
	}
	p.uint(uint64(len(t.Pieces)))
	last := 0
	for _, x := range t.Pieces {
		p.int(int64(x.Range - last))
		p.int(x.Size)
		last = x.Range
	}
}

// unpackIndex reads what pack returned, if it is the index of a recording with
// these chunks.
func unpackIndex(b []byte, order []int32, chunks int) (*index, error) {
	r := unpacking(b)
	if v := r.uint(); v != indexVersion {
		return nil, formats.Corrupt(formatName, 0, "an index of version %d", v)
	}
	s := &index{fingerprint: r.fingerprint(), progress: r.progress(), empty: r.int(), names: map[string]int64{}}
	if r.Err() != nil || s.progress.chunks < 0 || s.progress.chunks > len(order) || s.progress.ranges < 0 || s.progress.ranges > r.Len() {
		return nil, formats.Corrupt(formatName, 0, "the index is of another recording")
	}
	s.rows = newRows(chunks)
	for _, i := range order[:s.progress.chunks] {
		s.rows[i] = row{int32(r.int()), int32(r.int())}
	}
	for range r.count() {
		name := string(r.bytes())
		s.names[name] = r.int()
	}
	s.problems = make(problemList, r.count())
	for i := range s.problems {
		s.problems[i] = formats.Problem{Code: string(r.bytes()), Chunk: r.optional(), Segment: r.optional(), Offset: r.int(), Message: string(r.bytes())}
	}
	s.ticks = make(runs, r.count())
	last := int64(0)
	for i := range s.ticks {
		first := last + r.int()
		last = first + r.int()
		s.ticks[i] = run{First: first, Last: last}
	}
	s.ranges = make([]tickRange, s.progress.ranges)
	for i := range s.ranges {
		s.ranges[i] = tickRange{First: r.int(), Last: r.int(), Chunk: int32(r.int()), Hole: r.bool(), Lost: r.bool(), Ghost: r.int()}
	}
	s.checkpoints = make([]checkpoint, r.count())
	number := 0
	for i := range s.checkpoints {
		number += int(r.uint())
		s.checkpoints[i] = checkpoint{number, r.bytes()}
	}
	s.tracks = make([]track, r.count())
	for i := range s.tracks {
		s.tracks[i] = r.track()
	}
	s.markers = r.bytes()
	return s, r.Err()
}

func (r reading) fingerprint() (s fingerprint) {
	copy(s.sum[:], r.Bytes(len(s.sum)))
	n := r.count()
	if n > r.Len()/formats.SealSize {
		r.Fail("%d files, %d bytes are left", n, r.Len())
		return s
	}
	s.files = make([]fileFingerprint, n)
	for i := range s.files {
		s.files[i].number = r.int()
		s.files[i].Seal, _, _ = formats.CutSeal(r.Bytes(formats.SealSize)) // if there are too few bytes, r has failed
	}
	return s
}

func (r reading) progress() progress {
	return progress{chunks: int(r.uint()), ranges: int(r.uint()), next: r.int(), unknown: r.int(), played: r.int(), sound: r.bool(), lost: r.bool()}
}

func (r reading) optional() *int {
	if !r.bool() {
		return nil
	}
	n := int(r.int())
	return &n
}

func (r reading) track() track {
	t := track{Entity: r.int(), Life: int(r.int())}
	t.From = moment{r.int(), int(r.int())}
	t.To = moment{r.int(), int(r.int())}
	t.Pieces = make([]piece, r.count())
	last := 0
	for i := range t.Pieces {
		last += int(r.int())
		t.Pieces[i] = piece{last, r.int()}
	}
	return t
}
