package echo

import (
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// A Tail is the saved state of a pass after the last chunk that further bytes cannot change. When
// the recording has grown, or the pass was interrupted, another pass goes on from there. The chunks
// that follow are made again.

// CodeTruncated is the problem of a file that ends too early.
const CodeTruncated = "truncated"

// Resume returns a Builder that goes on from an earlier index, or begins anew if that is nil.
// layout names the layout of the chunks. If the index has another layout, or does not say how to go
// on, the error is ErrOther. text says that sessions are stored as text.
func Resume(earlier formats.Index, layout string, text bool) (*Builder, error) {
	b := &Builder{layout: layout, players: playersOf(text)}
	if earlier == nil {
		return b, nil
	}
	if !b.readTail(earlier.(*Index)) {
		return nil, formats.ErrOther
	}
	return b, nil
}

// A tail is what a Tail says, before the rows of frames and players. Without chunks it says only
// how to begin.
type tail struct {
	Layout         string
	State          []byte
	Chunks, Events int // that further bytes cannot change
	CRC            uint32
	Summary        *Summary // nil: there are no chunks
}

// code writes or reads what a Tail says, with the rows of b.
func (t *tail) code(c indexfile.Codec, b *Builder) {
	if c.Whole(t); t.Summary != nil {
		rowcount.Code(c, &b.Frames, framesColumns)
		rowcount.Code(c, &b.Players, b.players)
	}
}

// settle saves the state of the pass before the first chunk that further bytes may change. That is
// decoded from state.
func (b *Builder) settle(state []byte) {
	b.flush()
	t := tail{Layout: b.layout, State: state, Chunks: len(b.Chunks)}
	if t.Chunks > 0 {
		t.Events, t.CRC, t.Summary = len(b.summary.events), b.CRC, &b.summary
	}
	b.Tail, b.settled = indexfile.Append(nil, func(c indexfile.Codec) { t.code(c, b) }), true
}

// readTail goes on from the Tail of an index, and reports whether it is possible.
func (b *Builder) readTail(x *Index) bool {
	var t tail
	err := indexfile.Read("echo", x.Tail, func(c indexfile.Codec) { t.code(c, b) })
	if err != nil || t.Layout != b.layout || t.Chunks < 0 || t.Chunks > len(x.Chunks) || t.Events < 0 || t.Events > len(x.Events) {
		return false
	}
	if b.State = t.State; t.Summary == nil {
		return t.Chunks == 0
	}
	b.lines = [2]rowcount.Line{rowcount.After(b.Frames), rowcount.After(b.Players)}
	b.CRC, b.Chunks, b.summary = t.CRC, slices.Clip(x.Chunks[:t.Chunks]), *t.Summary
	b.summary.events = slices.Clip(x.Events[:t.Events])
	for _, p := range x.Problems {
		if p.Chunk != nil && *p.Chunk < t.Chunks && p.Code != CodeTruncated {
			b.Problems = append(b.Problems, p)
		}
	}
	ticks := int64(0)
	for i := range b.Chunks {
		ticks += int64(b.Chunks[i].Ticks)
	}
	return t.Chunks > 0 && b.Frames.Chunks() == t.Chunks && b.Players.Chunks() == t.Chunks && b.summary.resume(ticks)
}

// resume goes on from a saved Summary of so many frames, and reports whether it is possible.
func (s *Summary) resume(ticks int64) bool {
	ok := s.sound(ticks)
	for i := range s.Roster.Players {
		s.Roster.note(i)
		ok = ok && uint(s.Roster.Players[i].Team) < uint(len(TeamNames))
	}
	return ok
}
