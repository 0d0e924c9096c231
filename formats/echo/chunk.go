package echo

import (
	"strconv"

	"recfs/formats"
)

// A Chunk is a run of frames with their JSON.
type Chunk struct {
	Number    int
	FirstTick int64
	Frames    []Frame
	Open      bool // further bytes of the file may change it

	// Session and Bones append the two documents of Frames[i]. Bones appends nothing if the frame has
	// none. They are safe for concurrent use.
	Session, Bones func(b []byte, i int) []byte

	// Room returns how many bytes both documents have at most; nil: not known, but few.
	Room func(i int) int

	// Continues tells a Builder that the frames are a further part of the chunk before, and Skip how
	// many bytes without frames there are before them.
	Continues bool
	Skip      int64

	// Held is the memory that the frames take beyond what is usual; nil: none. The Builder frees it.
	Held *formats.Held

	base int // of Frames[0], in the functions
}

// Files that are too long for memory are rendered a piece at a time. A piece has PieceFrames
// frames, or fewer if their lines have pieceText bytes.
const (
	PieceFrames = 32
	pieceText   = 1 << 20
)

// Run returns n frames of a chunk, from frame first on.
func (c *Chunk) Run(first, n int) *Chunk {
	p := *c
	p.base += first
	p.FirstTick += int64(first)
	p.Frames = c.Frames[first : first+n]
	return &p
}

// frameRoom is more bytes than a frame has beside its documents.
const frameRoom = 160

// room returns how many bytes rendering frame i takes at most, or 0 if that is not known.
func (c *Chunk) room(i int) int {
	if c.Room == nil {
		return 0
	}
	return c.Room(c.base+i) + frameRoom
}

// appendLine appends the object that lines/ and ticks/ show for frame i, compact and without a
// newline, and returns where its session begins and ends.
func (c *Chunk) appendLine(b []byte, i int) (line []byte, session, end int) {
	b = append(b, `{"tick":`...)
	b = strconv.AppendInt(b, c.FirstTick+int64(i), 10)
	b = append(b, `,"chunk":`...)
	b = strconv.AppendInt(b, int64(c.Number), 10)
	b = append(b, `,"time":`...)
	b = AppendTime(b, c.Frames[i].Time)
	b = append(b, `,"session":`...)
	session = len(b)
	b = c.Session(b, c.base+i)
	end = len(b)
	return append(c.appendBones(b, i, bonesKey), '}'), session, end
}

const bonesKey = `,"bones":`

// appendBones appends before and the bones of frame i, or nothing if it has none.
func (c *Chunk) appendBones(b []byte, i int, before string) []byte {
	start := len(b)
	b = append(b, before...)
	if b = c.Bones(b, c.base+i); len(b) == start+len(before) {
		return b[:start]
	}
	return b
}

// textRow appends the line of .echoreplay for frame i.
func (c *Chunk) textRow(b []byte, i int, _ int64) []byte {
	b = append(AppendStamp(b, c.Frames[i].Time), '\t')
	b = c.Session(b, c.base+i)
	return append(c.appendBones(b, i, "\t"), '\r', '\n')
}

// lineRow appends the line of lines/ for frame i.
func (c *Chunk) lineRow(b []byte, i int, _ int64) []byte {
	b, _, _ = c.appendLine(b, i)
	return append(b, '\n')
}
