package echo

// A view is a file that is rendered piece by piece, because it is too long for memory.
type view struct {
	name, head string
	number     int // in [Piece].Sizes

	// append appends what the view shows of frame i. start is the time of the recording's first frame.
	append func(c *Chunk, b []byte, i int, start int64) []byte
}

var (
	viewLines   = &view{"lines", "", 0, (*Chunk).lineRow}
	viewText    = &view{"text", "", 1, (*Chunk).textRow}
	viewDisc    = &view{"disc.csv", discHead, 2, (*Chunk).discRow}
	viewPlayers = &view{"players.csv", playersHead, 3, (*Chunk).playerRows}
)

// render appends what a view shows of the chunk.
func (v *view) render(c *Chunk, b []byte, start int64) []byte {
	for i := range c.Frames {
		b = v.append(c, b, i, start)
	}
	return b
}
