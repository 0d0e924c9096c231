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

// Points are the points of all envelopes. They are decoded when they are asked for.
type Points struct {
	Len int

	Item   int  // the item they come from, -1 if there is none
	Rest   int  // ints after the last whole point
	Bezier int  // the item of their tangents, -1 if there is none
	Unlike bool // that item has tangents for another number of points

	ints     int    // of a point in stored
	stored   []byte // as in the item
	tangents []byte // as in the other item, nil if there are none there
}

// pointInts returns the length of the points in the item of type 6.
func (r *Reader) pointInts() int {
	start, end := r.ItemsOf(typeEnvelope)
	for i := start; i < end; i++ {
		if v := r.fields(i); len(v) > 0 && v[0] >= tangentEnvelope {
			return longPointInts
		}
	}
	return pointInts
}

// Points returns the points of all envelopes, with their tangents if the file has them, inside or
// in an item of their own.
func (r *Reader) Points() Points {
	p := Points{Item: -1, Bezier: -1, ints: r.pointInts()}
	if start, end := r.ItemsOf(typeEnvPoints); start < end {
		p.Item, p.stored = start, r.ItemData(start)
		n := len(p.stored) / 4
		p.Len, p.Rest = n/p.ints, n%p.ints
	}
	start, end := r.itemsNamed(nameBezier)
	if start == end || p.ints != pointInts {
		return p
	}
	p.Bezier = start
	tangents := r.ItemData(start)
	if p.Unlike = len(tangents) != 4*tangentInts*p.Len; !p.Unlike {
		p.tangents = tangents
	}
	return p
}

// At returns the ints of point i: pointInts, or longPointInts if it has tangents.
func (p *Points) At(i int) []int32 {
	v := toInts(p.stored[4*p.ints*i : 4*p.ints*(i+1)])
	if p.tangents != nil {
		v = append(v, toInts(p.tangents[4*tangentInts*i:4*tangentInts*(i+1)])...)
	}
	return v
}

// channels returns how many values of its points an envelope has.
func (e *Envelope) channels() int { return int(min(max(e.Channels, 0), maxChannels)) }

// whole reports whether the item has all that an envelope needs.
func (e Envelope) whole() bool { return !e.Short }

// Exist reports whether all points of e do.
func (p *Points) Exist(e *Envelope) bool {
	first, last := p.clamp(e)
	return first == int(e.StartPoint) && last == first+int(e.NumPoints)
}

func (p *Points) clamp(e *Envelope) (first, last int) {
	first = min(max(int(e.StartPoint), 0), p.Len)
	last = min(max(int(e.StartPoint)+int(e.NumPoints), first), p.Len)
	return first, last
}
