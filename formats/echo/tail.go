package echo

import (
	"encoding/json"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// A Tail is what a pass has in hand after the chunks that are there for good, saved. When the
// recording has grown, or what a pass keeps on the way is all there is, another one goes on from
// there. The chunks behind are made again.

// CodeTruncated is the problem of a file that ends too early.
const CodeTruncated = "truncated"

// Resume returns a Builder that goes on from an index, or begins if there is none. layout is how
// the format lays its chunks out, in its own words: under another one the chunks that there are
// would be others, so that it is ErrOther, as is an index that says nothing of how to go on. text
// says that sessions are stored as text.
func Resume(earlier formats.Index, layout string, text bool) (*Builder, error) {
	b := &Builder{layout: layout, players: playersOf(text)}
	if earlier == nil {
		return b, nil
	}
	if b.readTail(earlier.(*Index)) != nil {
		return nil, formats.ErrOther
	}
	return b, nil
}

// A tail is what a Tail says, before the rowcount.Counter of frames and of players. Without chunks
// there is only how to begin.
type tail struct {
	Layout         string
	State          []byte
	Chunks, Events int // that are there for good
	First, Last    int64
	BonesTicks     int64
	CRC            uint32
	Before         Frame
	Roster         []seen
	Goals          [][]byte
	Players        []playerResult
}

// settle saves what there is before the first chunk that may become another one, which is decoded
// from state.
func (b *Builder) settle(state []byte) {
	b.flush()
	var w indexfile.Writer
	s := &b.summary
	t := tail{Layout: b.layout, State: state, Chunks: len(b.Chunks)}
	if t.Chunks == 0 {
		w.Value(&t)
	} else {
		t.First, t.Last, t.BonesTicks, t.CRC, t.Events = s.First, s.Last, s.BonesTicks, b.CRC, len(s.events.list)
		t.Before, t.Goals = s.events.before, s.goals
		for _, k := range s.events.now.order {
			t.Roster = append(t.Roster, s.events.now.of[k])
		}
		for _, p := range s.players {
			t.Players = append(t.Players, *p)
		}
		w.Value(&t)
		b.Frames.Write(&w)
		b.Players.Write(&w)
	}
	b.Tail, b.settled = w.Bytes(), true
}

// readTail takes from an index what its Tail says.
func (b *Builder) readTail(x *Index) error {
	r := indexfile.NewReader("echo", x.Tail)
	var t tail
	r.Value(&t)
	if t.Layout != b.layout || t.Chunks < 0 || t.Chunks > len(x.Chunks) || t.Events < 0 || t.Events > len(x.Events) {
		return formats.ErrOther
	}
	b.State = t.State
	if t.Chunks == 0 || r.Err() != nil {
		return r.Close()
	}
	b.Frames, b.Players = rowcount.Read(r, framesColumns), rowcount.Read(r, b.players)
	b.lines = [2]rowcount.Line{rowcount.After(b.Frames), rowcount.After(b.Players)}
	if r.Close() != nil || b.Frames.Chunks() != t.Chunks || b.Players.Chunks() != t.Chunks || !b.summary.resume(&t, x.Events) {
		return formats.ErrOther
	}
	b.CRC, b.Chunks = t.CRC, slices.Clip(x.Chunks[:t.Chunks])
	for i := range b.Chunks {
		b.summary.Ticks += int64(b.Chunks[i].Ticks)
	}
	b.summary.events.any = b.summary.Ticks > 0
	for _, p := range x.Problems {
		if p.Chunk != nil && *p.Chunk < t.Chunks && p.Code != CodeTruncated {
			b.Problems = append(b.Problems, p)
		}
	}
	if b.summary.BonesTicks > b.summary.Ticks {
		return formats.ErrOther
	}
	return nil
}

// resume goes on from what a Tail says, and reports whether that can be true.
func (s *Summary) resume(t *tail, events []Event) bool {
	s.First, s.Last, s.BonesTicks, s.goals = t.First, t.Last, t.BonesTicks, t.Goals
	s.events.list, s.events.before = slices.Clip(events[:t.Events]), t.Before
	s.events.now.of, s.of = map[PlayerKey]seen{}, map[PlayerKey]*playerResult{}
	ok := true
	for _, v := range t.Roster {
		k := v.Player.identity()
		s.events.now.order, s.events.now.of[k] = append(s.events.now.order, k), v
		ok = ok && uint(v.Team) < uint(len(TeamNames))
	}
	for i := range t.Players {
		p := &t.Players[i]
		s.players, s.of[p.Key] = append(s.players, p), p
		ok = ok && uint(p.Team) < uint(len(TeamNames))
	}
	for _, goal := range t.Goals {
		ok = ok && json.Valid(goal)
	}
	return ok
}
