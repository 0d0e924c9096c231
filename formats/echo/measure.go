package echo

import (
	"hash"
	"hash/crc32"
	"sync/atomic"

	"recfs/formats/internal/rowcount"
)

// chunkRows are the rows of tables that a chunk has.
type chunkRows struct {
	frames, players *rowcount.Counter
	continues       bool        // those of the chunk before it
	done            atomic.Bool // they are counted
}

// add counts frame i of a chunk.
func (r *chunkRows) add(c *Chunk, i int) {
	c.frameRow(r.frames.Batch, i)
	r.frames.EndRow()
	playerRows(r.players.Batch, c.FirstTick+int64(i), &c.Frames[i], r.players.EndRow)
}

// measure renders everything that is made of the chunk to learn its lengths.
func (c *ChunkInfo) measure(chunk *Chunk, start int64, rows *chunkRows) {
	var r record
	var buf []byte
	var indent indentation
	crc := crc32.NewIEEE()
	piece := int64(0) // bytes of its lines
	for i := range chunk.Frames {
		if n := len(c.Pieces); n == 0 || c.Pieces[n-1].Frames == PieceFrames || piece >= pieceText {
			c.Pieces, piece = append(c.Pieces, PieceSizes{}), 0
		}
		p := &c.Pieces[len(c.Pieces)-1]
		p.Frames++
		r.render(chunk, i)
		rows.add(chunk, i)
		buf = append(AppendStamp(buf[:0], chunk.Frames[i].Time), '\t')
		text, more := r.text(crc, buf)
		p.Text += text
		size := len(r.line) + 1 + more
		piece += int64(size)
		c.Lines = append(c.Lines, uint32(size))
		c.TickSizes = append(c.TickSizes, uint32(len(r.line)+1+indent.of(chunk, i, r.line)))
		p.Disc += int64(len(chunk.discRow(buf[:0], i, start)))
		p.Players += int64(len(chunk.playerRows(buf[:0], i, start)))
	}
	c.crc = crc.Sum32()
}

// text adds the line of .echoreplay, which begins with head, to a checksum, and returns how long it is, and how much
// longer the documents are shown than they are.
func (r *record) text(crc hash.Hash32, head []byte) (n int64, more int) {
	crc.Write(head)
	shown := writeValid(crc, r.session)
	n = int64(len(head)) + shown + int64(len("\r\n"))
	if len(r.bones) > 0 {
		crc.Write([]byte{'\t'})
		bones := writeValid(crc, r.bones)
		n, shown = n+1+bones, shown+bones
	}
	crc.Write([]byte("\r\n"))
	return n, int(shown) - len(r.session) - len(r.bones)
}

// An indentation knows how much longer a line is when it is laid out. Lines of one shape get the
// same space.
type indentation struct {
	shape, next, buf []byte
	space            int
}

func (d *indentation) of(c *Chunk, i int, line []byte) int {
	if c.Shape != nil {
		d.next = c.Shape(d.next[:0], c.base+i)
		if len(d.shape) > 0 && string(d.shape) == string(d.next) {
			return d.space
		}
		d.shape, d.next = d.next, d.shape
	}
	in := indenter{src: line}
	d.space = -len(line)
	for !in.done() {
		d.buf = in.next(d.buf[:0], indentedAtOnce)
		d.space += len(d.buf)
	}
	return d.space
}

// text returns how long the chunk is as lines of .echoreplay.
func (c *ChunkInfo) text() (n int64) {
	for _, p := range c.Pieces {
		n += p.Text
	}
	return n
}
