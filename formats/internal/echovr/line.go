package echovr

import (
	"slices"
	"strconv"

	"recfs/formats"
)

// A Chunk is a run of frames with their JSON.
type Chunk struct {
	Number    int
	FirstTick int64
	Frames    []Frame
	Open      bool // bytes that come behind those of the file may change it

	// Session and Bones append the two documents of Frames[i]; Bones appends nothing if the frame
	// has none. They may be called at once by several.
	Session, Bones func(b []byte, i int) []byte

	// Brief, if set, is Session without teams, which are most of it.
	Brief func(b []byte, i int) []byte

	// Shape appends what the keys in the documents of Frames[i] depend on: two frames of the same
	// shape differ in values only. Nil if that is not known.
	Shape func(b []byte, i int) []byte

	// Held is what the frames take beyond what is usual, for who has measured them to free; nil: nothing.
	Held *formats.Held

	base int // of Frames[0], in the functions
}

// PieceFrames is how many frames of a chunk are rendered at once for the files that are too long to
// be held.
const PieceFrames = 32

// Piece returns the frames from PieceFrames*i on that make piece i of a chunk.
func (c *Chunk) Piece(i int) *Chunk {
	p := *c
	p.base += i * PieceFrames
	p.FirstTick += int64(i) * PieceFrames
	p.Frames = c.Frames[i*PieceFrames : min((i+1)*PieceFrames, len(c.Frames))]
	return &p
}

// brief appends what rows of frames are taken from.
func (c *Chunk) brief(b []byte, i int) []byte {
	if c.Brief != nil {
		return c.Brief(b, c.base+i)
	}
	return c.Session(b, c.base+i)
}

// A record is the documents of one frame, and the memory for those of the next.
type record struct{ session, bones []byte }

func (r *record) render(c *Chunk, i int) {
	r.session = c.Session(r.session[:0], c.base+i)
	r.bones = c.Bones(r.bones[:0], c.base+i)
}

// line appends the object that lines/ and ticks/ show for frame i, compact and without a newline.
func (r *record) line(b []byte, c *Chunk, i int) []byte {
	b = append(b, `{"tick":`...)
	b = strconv.AppendInt(b, c.FirstTick+int64(i), 10)
	b = append(b, `,"chunk":`...)
	b = strconv.AppendInt(b, int64(c.Number), 10)
	b = append(b, `,"time":"`...)
	b = AppendTime(b, c.Frames[i].Time)
	b = append(b, `","session":`...)
	b = append(b, r.session...)
	if len(r.bones) > 0 {
		b = append(b, `,"bones":`...)
		b = append(b, r.bones...)
	}
	return append(b, '}')
}

// text appends the line of .echoreplay for frame i, with its line end.
func (r *record) text(b []byte, c *Chunk, i int) []byte {
	b = AppendStamp(b, c.Frames[i].Time)
	b = append(b, '\t')
	b = append(b, r.session...)
	if len(r.bones) > 0 {
		b = append(b, '\t')
		b = append(b, r.bones...)
	}
	return append(b, '\r', '\n')
}

// Tick returns the document that ticks/ shows for frame i.
func (c *Chunk) Tick(i int) []byte {
	var r record
	r.render(c, i)
	line := r.line(nil, c, i)
	return append(AppendIndented(make([]byte, 0, len(line)*3/2), line), '\n')
}

// Lines returns the lines of lines/ for the chunk.
func (c *Chunk) Lines() []byte {
	var r record
	var b []byte
	for i := range c.Frames {
		r.render(c, i)
		b = append(r.line(c.room(b, i), c, i), '\n')
	}
	return b
}

// Texts returns the lines of .echoreplay for the chunk.
func (c *Chunk) Texts() []byte {
	var r record
	var b []byte
	for i := range c.Frames {
		r.render(c, i)
		b = r.text(c.room(b, i), c, i)
	}
	return b
}

// room makes room for the frames from the second on, which are about as long as the first.
func (c *Chunk) room(b []byte, i int) []byte {
	if i != 1 {
		return b
	}
	return slices.Grow(b, len(b)*len(c.Frames)*17/16)
}
