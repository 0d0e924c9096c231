package hcrp

import (
	"maps"
	"slices"

	"recfs/formats"
)

// scanVersion is raised whenever a scan of the same recording gives other
// bytes.
const scanVersion = 2

// weight returns the bytes that the scan keeps alive.
func (s *scan) weight() int64 {
	n := 1<<10 + 24*len(s.rows) + 24*len(s.ticks) + len(s.markers)
	for _, st := range s.stretches {
		n += 96 + len(st.Start)
	}
	for _, t := range s.tracks {
		n += 256 + 16*len(t.Parts)
	}
	return int64(n + 160*len(s.problems))
}

// pack returns the scan as it lies on disk. The fingerprint says what it is
// the scan of.
func (s *scan) pack(fingerprint string) []byte {
	var p packer
	p.uint(scanVersion)
	p.bytes([]byte(fingerprint))
	p.bool(s.complete)
	p.int(s.empty)
	p.uint(uint64(len(s.rows)))
	for _, r := range s.rows {
		p.bool(r.readable)
		p.int(r.records)
		p.int(r.events)
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
	p.uint(uint64(len(s.stretches)))
	for i := range s.stretches {
		p.stretch(&s.stretches[i])
	}
	p.uint(uint64(len(s.tracks)))
	for i := range s.tracks {
		p.track(&s.tracks[i])
	}
	p.bytes(s.markers)
	return p.b
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

func (p *packer) stretch(s *stretch) {
	p.int(s.First)
	p.int(s.Last)
	p.int(int64(s.Chunk))
	p.bool(s.Hole)
	p.bool(s.Lost)
	p.bytes(s.Start)
	p.int(s.Ghost)
}

func (p *packer) track(t *track) {
	p.int(t.Entity)
	p.int(int64(t.Life))
	for _, m := range []moment{t.From, t.To} {
		p.int(m.Tick)
		p.int(int64(m.Event))
	}
	p.uint(uint64(len(t.Parts)))
	last := 0
	for _, x := range t.Parts {
		p.int(int64(x.Stretch - last))
		p.int(x.Size)
		last = x.Stretch
	}
}

// unpackScan reads what pack returned, if it is a scan of what fingerprint
// says and of that many chunks.
func unpackScan(b []byte, fingerprint string, chunks int) (*scan, error) {
	r := unpacking(b)
	if v := r.uint(); v != scanVersion || string(r.bytes()) != fingerprint {
		return nil, formats.Corrupt(formatName, 0, "the index is of another recording")
	}
	s := &scan{complete: r.bool(), empty: r.int(), names: map[string]int64{}}
	s.rows = make([]row, r.count())
	for i := range s.rows {
		s.rows[i] = row{r.bool(), r.int(), r.int()}
	}
	if len(s.rows) != chunks {
		r.Fail("%d chunks, not %d", len(s.rows), chunks)
	}
	for range r.count() {
		name := string(r.bytes())
		s.names[name] = r.int()
	}
	s.problems = make([]formats.Problem, r.count())
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
	s.ticks.finish()
	s.stretches = make([]stretch, r.count())
	for i := range s.stretches {
		s.stretches[i] = stretch{First: r.int(), Last: r.int(), Chunk: int(r.int()), Hole: r.bool(), Lost: r.bool(), Start: r.bytes(), Ghost: r.int()}
	}
	s.tracks = make([]track, r.count())
	for i := range s.tracks {
		s.tracks[i] = r.track()
	}
	s.markers = r.bytes()
	return s, r.Err()
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
	t.Parts = make([]part, r.count())
	last := 0
	for i := range t.Parts {
		last += int(r.int())
		t.Parts[i] = part{last, r.int()}
	}
	return t
}
