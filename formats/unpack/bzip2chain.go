package unpack

// The bytes of a block are a chain through 3.6 MB, of which each step waits for memory. From many places of it
// at once the processor has several such steps under way: pieces of the chain are followed, each up to where
// another one begins, and put together.

const (
	bzip2Lanes  = 8
	bzip2Pieces = 1024
	bzip2Begins = 1 << 31 // in a link: a piece begins here

	bzip2LaneMost = bzip2MaxBlock / bzip2Lanes * 5 / 4 // bytes in a lane

	// bzip2LaneLeast is how long a chain is that is not followed from its beginning.
	bzip2LaneLeast = 16 * bzip2Pieces
)

// A bzip2Lane follows one piece after the other.
type bzip2Lane struct {
	out   []byte // of all its pieces
	piece int    // that it follows
}

// A bzip2Piece is a part of the chain.
type bzip2Piece struct {
	b    []byte
	next uint32 // the place where the piece behind it begins
}

// undo makes plain of the chain.
func (d *bzip2Decoder) undo() {
	n := len(d.chain)
	d.plain = d.plain[:0]
	if n >= bzip2LaneLeast && d.follow() {
		for at := d.from; len(d.plain) < n; {
			p := &d.pieces[d.pieceAt(at)]
			d.plain = append(d.plain, p.b[:min(len(p.b), n-len(d.plain))]...)
			at = p.next
		}
		return
	}
	for at := d.from << 8; len(d.plain) < n; {
		at = d.chain[at>>8]
		d.plain = append(d.plain, byte(at))
	}
}

// place returns where a piece begins: the first one where the block does, the others spread over the chain.
func (d *bzip2Decoder) place(piece int) uint32 {
	if piece == 0 {
		return d.from
	}
	return uint32(piece) * uint32(len(d.chain)/bzip2Pieces)
}

// pieceAt returns the piece that begins at a place.
func (d *bzip2Decoder) pieceAt(at uint32) int {
	if at == d.from {
		return 0
	}
	return int(at) / (len(d.chain) / bzip2Pieces)
}

// enter has a lane follow a piece from byte i of its own on, and returns the first link.
func (d *bzip2Decoder) enter(lane, piece, i int) uint32 {
	d.lanes[lane].piece = piece
	d.pieces[piece].b = d.lanes[lane].out[i:]
	return d.chain[d.place(piece)] &^ bzip2Begins
}

// end notes that the piece which a lane follows ends before byte i of the lane, where the one at a place begins.
func (d *bzip2Decoder) end(lane, i int, at uint32) {
	p := &d.pieces[d.lanes[lane].piece]
	p.b, p.next = p.b[:len(p.b)-(len(d.lanes[lane].out)-i)], at
}

// follow follows all pieces. It is false if one lane has much more than its share of them: links are as they
// were then.
func (d *bzip2Decoder) follow() bool {
	for piece := range bzip2Pieces {
		d.chain[d.place(piece)] |= bzip2Begins
	}
	room := len(d.chain) / bzip2Lanes * 5 / 4
	var v [bzip2Lanes]uint32
	for l := range d.lanes {
		if d.lanes[l].out == nil {
			d.lanes[l].out = make([]byte, bzip2LaneMost)
		}
		d.lanes[l].out = d.lanes[l].out[:room]
		v[l] = d.enter(l, l, 0)
	}
	i, ended := d.followAll(&v)
	for l := range v {
		if !ended[l] && !d.followOne(l, i, v[l]) {
			for piece := range bzip2Pieces {
				d.chain[d.place(piece)] &^= bzip2Begins
			}
			return false
		}
	}
	return true
}

// followAll follows pieces in all lanes, v being the next link in each, as long as there is one for each. It
// returns at which byte the lanes are, and which of them have nothing to follow any more.
func (d *bzip2Decoder) followAll(v *[bzip2Lanes]uint32) (i int, ended [bzip2Lanes]bool) {
	c, pieces := d.chain, bzip2Lanes
	o0, o1, o2, o3 := d.lanes[0].out, d.lanes[1].out, d.lanes[2].out, d.lanes[3].out
	o4, o5, o6, o7 := d.lanes[4].out, d.lanes[5].out, d.lanes[6].out, d.lanes[7].out
	v0, v1, v2, v3, v4, v5, v6, v7 := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	for last := false; i < len(o0) && !last; {
		o0[i], o1[i], o2[i], o3[i] = byte(v0), byte(v1), byte(v2), byte(v3)
		o4[i], o5[i], o6[i], o7[i] = byte(v4), byte(v5), byte(v6), byte(v7)
		i++
		w0, w1, w2, w3 := c[v0>>8], c[v1>>8], c[v2>>8], c[v3>>8]
		w4, w5, w6, w7 := c[v4>>8], c[v5>>8], c[v6>>8], c[v7>>8]
		if (w0|w1|w2|w3|w4|w5|w6|w7)&bzip2Begins != 0 {
			was := [bzip2Lanes]uint32{v0, v1, v2, v3, v4, v5, v6, v7}
			*v = [bzip2Lanes]uint32{w0, w1, w2, w3, w4, w5, w6, w7}
			for l := range v {
				if v[l]&bzip2Begins == 0 {
					continue
				}
				d.end(l, i, was[l]>>8)
				if pieces == bzip2Pieces {
					ended[l], last = true, true
					continue
				}
				v[l] = d.enter(l, pieces, i)
				pieces++
			}
			w0, w1, w2, w3, w4, w5, w6, w7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
		}
		v0, v1, v2, v3, v4, v5, v6, v7 = w0, w1, w2, w3, w4, w5, w6, w7
	}
	*v = [bzip2Lanes]uint32{v0, v1, v2, v3, v4, v5, v6, v7}
	return i, ended
}

// followOne follows the piece of a lane to its end, v being the next link. It is false if there is no room.
func (d *bzip2Decoder) followOne(lane, i int, v uint32) bool {
	out := d.lanes[lane].out
	for v&bzip2Begins == 0 {
		if i == len(out) {
			return false
		}
		out[i] = byte(v)
		i++
		next := d.chain[v>>8]
		if next&bzip2Begins != 0 {
			d.end(lane, i, v>>8)
		}
		v = next
	}
	return true
}
