package echo

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

	// Session and Bones append the two documents of Frames[i], in which bytes need not be UTF-8; Bones
	// appends nothing if the frame has none. They may be called at once by several.
	Session, Bones func(b []byte, i int) []byte

	// Room returns how many bytes the two have at most; nil: that is not known, and not many.
	Room func(i int) int

	// Encoder, if set, is what makes Session of Frames. If not, Stored returns the session of Frames[i], a JSON object, as
	// the file has it.
	Encoder *Encoder
	Stored  func(i int) []byte

	// Shape appends what the keys in the documents of Frames[i] depend on: two frames of the same
	// shape differ in values only. Nil if that is not known.
	Shape func(b []byte, i int) []byte

	// Continues says that they are a further part of the chunk before, and Skip how many bytes without frames come
	// before them: for a Builder.
	Continues bool
	Skip      int64

	// Held is what the frames take beyond what is usual, for who has measured them to free; nil: nothing.
	Held *formats.Held

	base int // of Frames[0], in the functions
}

// A piece of a chunk has so many frames, or those with which its lines have so many bytes: they are rendered at once for
// the files that are too long to be held.
const (
	PieceFrames = 32
	pieceText   = 1 << 20
)

// Run returns n frames of a chunk from one on.
func (c *Chunk) Run(first, n int) *Chunk {
	p := *c
	p.base += first
	p.FirstTick += int64(first)
	p.Frames = c.Frames[first : first+n]
	return &p
}

// room returns how much memory n frames from i on are rendered in, if that is known; else 0.
func (c *Chunk) room(i, n int) (size int) {
	if c.Room == nil {
		return 0
	}
	for frame := i; frame < i+n; frame++ {
		size += c.Room(c.base+frame) + frameRoom
	}
	return size
}

// frameRoom is more than is rendered of a frame beside its documents.
const frameRoom = 160

// A record is the line of one frame with its documents, which are parts of it, and the memory for that of the next.
type record struct{ line, session, bones []byte }

func (r *record) render(c *Chunk, i int) {
	b, session := c.appendHead(slices.Grow(r.line[:0], c.room(i, 1)), i)
	b = c.Session(b, c.base+i)
	end := len(b)
	b = c.appendBones(b, i, `,"bones":`)
	r.session, r.bones = b[session:end], nil
	if bones := end + len(`,"bones":`); len(b) > bones {
		r.bones = b[bones:]
	}
	r.line = append(b, '}')
}

// appendHead appends what stands before the session of frame i, and returns where that begins.
func (c *Chunk) appendHead(b []byte, i int) ([]byte, int) {
	b = append(b, `{"tick":`...)
	b = strconv.AppendInt(b, c.FirstTick+int64(i), 10)
	b = append(b, `,"chunk":`...)
	b = strconv.AppendInt(b, int64(c.Number), 10)
	b = append(b, `,"time":`...)
	b = AppendTime(b, c.Frames[i].Time)
	b = append(b, `,"session":`...)
	return b, len(b)
}

// appendBones appends the bones of frame i, if it has some, behind what stands before them.
func (c *Chunk) appendBones(b []byte, i int, before string) []byte {
	start := len(b)
	b = append(b, before...)
	if b = c.Bones(b, c.base+i); len(b) == start+len(before) {
		return b[:start]
	}
	return b
}

// appendLine appends the object that lines/ and ticks/ show for frame i, compact and without a newline. Its bytes, like
// those of the functions below, need not be UTF-8.
func (c *Chunk) appendLine(b []byte, i int) []byte {
	b, _ = c.appendHead(b, i)
	b = c.Session(b, c.base+i)
	return append(c.appendBones(b, i, `,"bones":`), '}')
}

// appendText appends the line of .echoreplay for frame i, with its line end.
func (c *Chunk) appendText(b []byte, i int) []byte {
	b = append(AppendStamp(b, c.Frames[i].Time), '\t')
	b = c.Session(b, c.base+i)
	return append(c.appendBones(b, i, "\t"), '\r', '\n')
}

// Tick returns the document that ticks/ shows for frame i, as it is shown.
func (c *Chunk) Tick(i int) []byte {
	line := c.appendLine(nil, i)
	return append(AppendIndented(make([]byte, 0, len(line)*3/2), line), '\n')
}

// Lines appends the lines of lines/ for the chunk.
func (c *Chunk) Lines(b []byte) []byte {
	for i := range c.Frames {
		b = append(c.appendLine(b, i), '\n')
	}
	return b
}

// Texts appends the lines of .echoreplay for the chunk.
func (c *Chunk) Texts(b []byte) []byte {
	for i := range c.Frames {
		b = c.appendText(b, i)
	}
	return b
}
