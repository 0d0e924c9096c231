package datafile

// Lengths in ints of an envelope point: with tangents if any envelope of the map is of version 3,
// else without. DDNet keeps them apart.
const (
	pointInts       = 6
	tangentInts     = 16
	longPointInts   = pointInts + tangentInts
	maxChannels     = 4
	tangentEnvelope = 3 // the first envelope version with tangents
)

// Points are the points of all envelopes.
type Points struct {
	List [][]int32 // pointInts or longPointInts each

	Item   int  // the item they come from, -1 if there is none
	Rest   int  // ints after the last whole point
	Bezier int  // the item of their tangents, -1 if there is none
	Unlike bool // that item has tangents for another number of points
}

// A Point is a point of one envelope, with as many values as it has channels.
type Point struct {
	Time   int32   `json:"time_ms"`
	Curve  int32   `json:"curve"`
	Values []int32 `json:"values"`
	InDX   []int32 `json:"in_dx,omitzero"`
	InDY   []int32 `json:"in_dy,omitzero"`
	OutDX  []int32 `json:"out_dx,omitzero"`
	OutDY  []int32 `json:"out_dy,omitzero"`
}

// pointInts returns the length of the points in the item of type 6.
func (r *Reader) pointInts() int {
	start, end := r.ItemsOf(typeEnvelope)
	for i := start; i < end; i++ {
		if v := r.Ints(i); len(v) > 0 && v[0] >= tangentEnvelope {
			return longPointInts
		}
	}
	return pointInts
}

// Points returns the points of all envelopes, with their tangents if the file has them, inside or
// in an item of their own.
func (r *Reader) Points() Points {
	p := Points{Item: -1, Bezier: -1}
	n := r.pointInts()
	if start, end := r.ItemsOf(typeEnvPoints); start < end {
		ints := r.Ints(start)
		p.Item, p.List, p.Rest = start, records(ints, n), len(ints)%n
	}
	start, end := r.itemsNamed(nameBezier)
	if start == end || n != pointInts {
		return p
	}
	p.Bezier = start
	ints := r.Ints(start)
	if p.Unlike = len(ints) != tangentInts*len(p.List); p.Unlike {
		return p
	}
	for i, tangents := range records(ints, tangentInts) {
		p.List[i] = append(p.List[i], tangents...)
	}
	return p
}

// pointsSize returns about how much memory Points take: their ints, as much for the list of them, and as much again where
// tangents are put to them.
func (r *Reader) pointsSize() int64 {
	size := func(start, end int) int64 {
		if start == end {
			return 0
		}
		return 3 * int64(r.Items[start].Size)
	}
	return size(r.ItemsOf(typeEnvPoints)) + size(r.itemsNamed(nameBezier))
}

// pointCost is what a point takes in the document of an envelope: 128 bytes, and some 120 of JSON, which are there four
// times while the document is made.
const (
	pointCost  = 640
	freePoints = 512 // that are as good as nothing
)

// Of returns the points of e that exist.
func (p *Points) Of(e *Envelope) []Point {
	first, last := p.clamp(e)
	points := make([]Point, 0, last-first)
	n := int(min(max(e.Channels, 0), maxChannels))
	for _, v := range p.List[first:last] {
		o := Point{Time: v[0], Curve: v[1], Values: v[2 : 2+n]}
		if len(v) == longPointInts {
			o.InDX, o.InDY, o.OutDX, o.OutDY = v[6:6+n], v[10:10+n], v[14:14+n], v[18:18+n]
		}
		points = append(points, o)
	}
	return points
}

// whole reports whether the item has all that an envelope needs.
func (e Envelope) whole() bool { return !e.Short }

// Exist reports whether all points of e do.
func (p *Points) Exist(e *Envelope) bool {
	first, last := p.clamp(e)
	return first == int(e.StartPoint) && last == first+int(e.NumPoints)
}

func (p *Points) clamp(e *Envelope) (first, last int) {
	first = min(max(int(e.StartPoint), 0), len(p.List))
	last = min(max(int(e.StartPoint)+int(e.NumPoints), first), len(p.List))
	return first, last
}
