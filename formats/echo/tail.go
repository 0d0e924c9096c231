package echo

import (
	"encoding/json"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// A Tail is what a pass has in hand after the chunks that are there for good, saved. When the recording has grown, or
// what a pass keeps on the way is all there is, another one goes on from there. The chunks behind are made again.

// CodeTruncated is the problem of a file that ends too early.
const CodeTruncated = "truncated"

// Resume returns a Builder that goes on from an index, or begins if there is none. layout is how the format lays its
// chunks out, in its own words: under another one the chunks that there are would be others, so that it is ErrOther, as
// is an index that says nothing of how to go on. text says that sessions are stored as text.
func Resume(earlier formats.Index, layout string, text bool) (*Builder, error) {
	b := &Builder{layout: layout, players: playersOf(text)}
	if earlier == nil {
		return b, nil
	}
	x := earlier.(*Index)
	r := indexfile.NewReader("echovr", x.Tail)
	if r.Text() != layout || b.readTail(r, x) != nil {
		return nil, formats.ErrOther
	}
	return b, nil
}

// settle saves what there is before the first chunk that may become another one, which is decoded from state.
//
//	| layout text | state blob | chunks | [first zigzag | last zigzag | bones ticks | crc | events |
//	| rowcount.Counter of frames, of players | frame | count | seen … | count | goal blob … | count | result … ] |
//
// What is in brackets is there if there are chunks.
func (b *Builder) settle(state []byte) {
	b.flush()
	var w indexfile.Writer
	w.Text(b.layout)
	w.Blob(state)
	if w.Count(len(b.Chunks)); len(b.Chunks) > 0 {
		b.writeSummary(&w)
	}
	b.Tail, b.settled = w.Bytes(), true
}

// writeSummary writes what is in brackets in settle.
func (b *Builder) writeSummary(w *indexfile.Writer) {
	s := &b.summary
	w.Int(s.First)
	w.Int(s.Last)
	w.Size(s.BonesTicks)
	w.Uint(uint64(b.CRC))
	w.Count(len(s.events.list))
	b.Frames.Write(w)
	b.Players.Write(w)
	writeBefore(w, &s.events.before)
	s.events.now.write(w)
	w.Count(len(s.goals))
	for _, goal := range s.goals {
		w.Blob(goal)
	}
	w.Count(len(s.players))
	for _, p := range s.players {
		p.write(w)
	}
}

// readTail takes from an index what its Tail says, behind the layout.
func (b *Builder) readTail(r *indexfile.Reader, x *Index) error {
	b.State = r.Blob()
	n := int(r.Uint(uint64(len(x.Chunks))))
	if n == 0 {
		return r.Close()
	}
	b.readSummary(r, x.Events)
	b.Chunks = slices.Clip(x.Chunks[:n])
	for i := range b.Chunks {
		b.summary.Ticks += int64(b.Chunks[i].Ticks)
	}
	b.summary.events.any = b.summary.Ticks > 0
	if b.Frames.Chunks() != n || b.Players.Chunks() != n || b.summary.BonesTicks > b.summary.Ticks {
		r.Fail("the rows of %d and %d chunks, not %d", b.Frames.Chunks(), b.Players.Chunks(), n)
	}
	for _, p := range x.Problems {
		if p.Chunk != nil && *p.Chunk < n && p.Code != CodeTruncated {
			b.Problems = append(b.Problems, p)
		}
	}
	return r.Close()
}

// readSummary reads what is in brackets in settle. events are those that the Tail knows, and maybe more.
func (b *Builder) readSummary(r *indexfile.Reader, events []Event) {
	s := &b.summary
	s.First, s.Last, s.BonesTicks, b.CRC = r.Int(), r.Int(), r.Size(), uint32(r.Uint(math.MaxUint32))
	s.events.list = slices.Clip(events[:r.Uint(uint64(len(events)))])
	b.Frames, b.Players = rowcount.Read(r, framesColumns), rowcount.Read(r, b.players)
	b.lines = [2]rowcount.Line{rowcount.After(b.Frames), rowcount.After(b.Players)}
	s.events.before = readBefore(r)
	s.events.now = readRoster(r)
	for range r.Count(1) {
		goal := r.Blob()
		if !json.Valid(goal) {
			r.Fail("a goal that is no JSON")
		}
		s.goals = append(s.goals, goal)
	}
	s.of = map[identity]*playerResult{}
	for range r.Count(minResult) {
		p := readResult(r)
		s.of[p.identity] = p
		s.players = append(s.players, p)
	}
}

// writeBefore writes what counts of a frame for the one after it, and for the scores.
//
//	| kind | has | lacks | status text | points f32 × 2 | restart zigzag × 2 | state, unpaused team, requested team text |
//	| disc speed, distance f32 | team, goal type text | points zigzag | scorer, assist text | throw f32 × 13 |
//	| at zigzag | by text |
func writeBefore(w *indexfile.Writer, f *Frame) {
	w.Uint(uint64(f.Kind))
	w.Uint(uint64(f.Has))
	w.Uint(uint64(f.Lacks))
	w.Text(f.Status)
	w.F32s(f.Points[:])
	for _, v := range f.Restart {
		w.Int(v)
	}
	w.Text(f.Pause.State)
	w.Text(f.Pause.UnpausedTeam)
	w.Text(f.Pause.RequestedTeam)
	w.F32(f.Score.DiscSpeed)
	w.F32(f.Score.Distance)
	w.Text(f.Score.Team)
	w.Text(f.Score.GoalType)
	w.Int(f.Score.Points)
	w.Text(f.Score.Scorer)
	w.Text(f.Score.Assist)
	w.F32s(f.Throw[:])
	w.Int(f.Rules.At)
	w.Text(f.Rules.By)
}

func readBefore(r *indexfile.Reader) Frame {
	f := Frame{
		Kind: Kind(r.Uint(uint64(Combat))), Has: Has(r.Uint(math.MaxUint16)), Lacks: readLacks(r, LacksFrame), Status: r.Text(),
	}
	r.F32s(f.Points[:])
	f.Restart = [2]int64{r.Int(), r.Int()}
	f.Pause = Pause{State: r.Text(), UnpausedTeam: r.Text(), RequestedTeam: r.Text()}
	f.Score = Score{r.F32(), r.F32(), r.Text(), r.Text(), r.Int(), r.Text(), r.Text()}
	r.F32s(f.Throw[:])
	f.Rules = Rules{r.Int(), r.Text()}
	return f
}

// write writes what counts of the players of a frame for the one after it.
//
//	| count | user id zigzag, name text, lacks, team, stunned bool, player id zigzag, lacks … |
func (o *roster) write(w *indexfile.Writer) {
	w.Count(len(o.order))
	for _, k := range o.order {
		v := o.of[k]
		k.write(w)
		w.Count(v.team)
		w.Bool(v.stunned)
		w.Int(int64(v.player.ID))
		w.Uint(uint64(v.player.Lacks))
	}
}

func readRoster(r *indexfile.Reader) roster {
	o := roster{of: map[identity]seen{}}
	for range r.Count(7) {
		k := readIdentity(r)
		o.order = append(o.order, k)
		o.of[k] = seen{readTeam(r), r.Bool(), Player{Name: k.name, UserID: k.id, ID: r.Int32(), Lacks: readLacks(r, LacksPlayer)}}
	}
	return o
}

func (k identity) write(w *indexfile.Writer) {
	w.Int(k.id)
	w.Text(k.name)
	w.Uint(uint64(k.lacks))
}

func readIdentity(r *indexfile.Reader) identity {
	return identity{r.Int(), r.Text(), readLacks(r, LacksIdentity)}
}

func readLacks(r *indexfile.Reader, all Lacks) Lacks { return Lacks(r.Uint(uint64(all))) }

func readTeam(r *indexfile.Reader) int { return int(r.Uint(uint64(len(TeamNames) - 1))) }

// minResult is the least bytes that a result takes.
const minResult = 11

// write writes what is known of a player.
//
//	| user id zigzag | name text | lacks | number zigzag | level zigzag | lacks | team | first tick | last tick | ticks |
//	| 0 or 1, lacks, possession time f32, count zigzag × 11 |
func (p *playerResult) write(w *indexfile.Writer) {
	p.identity.write(w)
	w.Int(int64(p.number))
	w.Int(int64(p.level))
	w.Uint(uint64(p.lacks))
	w.Count(p.team)
	w.Size(p.first)
	w.Size(p.last)
	w.Size(p.ticks)
	if w.Bool(p.hasStats); p.hasStats {
		w.Uint(uint64(p.stats.Lacks))
		w.F32(p.stats.PossessionTime)
		for _, n := range p.stats.Counts {
			w.Int(int64(n))
		}
	}
}

func readResult(r *indexfile.Reader) *playerResult {
	p := &playerResult{
		identity: readIdentity(r), number: r.Int32(), level: r.Int32(), lacks: readLacks(r, LacksPlayer), team: readTeam(r),
		first: r.Size(), last: r.Size(), ticks: r.Size(), hasStats: r.Bool(),
	}
	if p.hasStats {
		p.stats.Lacks = readLacks(r, LacksStats)
		p.stats.PossessionTime = r.F32()
		for i := range p.stats.Counts {
			p.stats.Counts[i] = r.Int32()
		}
	}
	return p
}
