package echo

import "recfs/formats/columnar"

// tableRows are the rows of frames and players that a chunk has: a quarter of what its frames take, and not a thing for the garbage
// collector to go through.
type tableRows struct{ frames, players *columnar.Batch } // both nil: they are not kept

// For how many rows there is room before there are any.
const (
	framesRoom  = 1 << 10
	playersRoom = framesRoom * 8
)

// add adds the rows of a frame, the first of which says how many players the others may have.
func (r *tableRows) add(tick int64, chunk int, f *Frame, frames int, s sessionOf) {
	if r.players == nil {
		players := len(f.Teams[0].Players) + len(f.Teams[1].Players) + len(f.Teams[2].Players)
		r.players = columnar.NewRows(playersOf(s.Encoder == nil), min(players*frames, playersRoom))
	}
	s.frameRow(r.frames, tick, chunk, f)
	playerRows(r.players, tick, f, func() {})
}

func (r *tableRows) size() int64 {
	if r.frames == nil {
		return 0
	}
	return r.frames.Size() + r.players.Size()
}
