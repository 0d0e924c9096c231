package echo

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/jsonenc"
	"recfs/formats/views"
	"recfs/nodes/play"
)

const (
	playUnit = 100 // of a metre
	discID   = -1
)

// playing declares how a recording plays (docs/tree/page.md section 3).
func (t *tree) playing() *views.Play[Index] {
	return &views.Play[Index]{
		Kind: play.Echo, About: t.playAbout, Marks: goals, Players: playersOfScores,
		Chunks: func(x *Index) int { return x.behindShown - x.firstShown },
		Chunk: func(x *Index, i int) views.Stretch {
			c := &x.Chunks[x.firstShown+i]
			return views.Stretch{First: c.FirstTick, Last: c.FirstTick + int64(c.Ticks) - 1, Bytes: max(c.Size, 0)}
		},
		Open: func(ctx context.Context, x *Index, i int, _ any) (views.Player, error) {
			p := &player{tree: t, x: x, chunk: x.firstShown + i, part: -1}
			p.info = &x.Chunks[p.chunk]
			p.event = sort.Search(len(x.Events), func(i int) bool { return x.Events[i].Tick >= p.info.FirstTick })
			return p, nil
		},
	}
}

// playAbout tells what the index knows.
func (t *tree) playAbout(_ context.Context, x *Index) (*play.About, error) {
	a := &play.About{Unit: "m"}
	if x.hasDates() {
		a.Start = new(time.UnixMilli(x.First).UTC().Format(time.RFC3339Nano))
	}
	x0, x1, wide := x.span("x", "disc_x")
	z0, z1, long := x.span("z", "disc_z")
	if wide && long {
		a.Bounds = play.Bounds(playUnit, x0, z0, x1, z1)
	}
	return a, nil
}

// span returns the least and the greatest number of a column of players and of one of the disc.
func (x *Index) span(player, disc string) (low, high float64, ok bool) {
	column := func(list []columnar.Column, name string) int {
		return slices.IndexFunc(list, func(c columnar.Column) bool { return c.Name == name })
	}
	low, high, ok = columnar.Bounds(x.Players.Groups(), column(bitsPlayers, player))
	discLow, discHigh, thrown := columnar.Bounds(x.Frames.Groups(), column(framesColumns, disc))
	switch {
	case !ok:
		return discLow, discHigh, thrown
	case thrown:
		low, high = min(low, discLow), max(high, discHigh)
	}
	return low, high, ok
}

// goals are the marks.
func goals(_ context.Context, x *Index) (int, func(int) play.Mark, error) {
	list := x.goals()
	return len(list), func(i int) play.Mark {
		return play.Mark{Tick: list[i].Tick, Kind: list[i].Kind, Text: list[i].words()}
	}, nil
}

// words says what an event is.
func (e *Event) words() string {
	b := append([]byte(e.Kind), ' ')
	if e.Player != nil {
		b = append(append(b, e.Player.shown()...), ", "...)
	}
	return play.Cut(string(jsonenc.AppendWords(b, e.Rest, maxWords)))
}

// maxWords is about how much is said of an event beside whose it is: more than of a goal.
const maxWords = 256

// shown returns the name with one U+FFFD for each byte that is not UTF-8.
func (k *PlayerKey) shown() string { return play.Cut(string([]rune(k.Name))) }

// playersOfScores are those of scores.json.
func playersOfScores(_ context.Context, x *Index) (int, func(int) play.Player, error) {
	return len(x.Played), func(i int) play.Player {
		p := &x.Played[i]
		return play.Player{ID: playID(i), Name: p.Key.shown(), First: p.First, Last: p.Last}
	}, nil
}

func playID(place int) play.ID { return play.ID(strconv.Itoa(place)) }

// A scene is a frame as it plays.
type scene struct {
	time        int64
	clock       float64
	points      [2]int32
	status      string
	first, last int // of those who are there
}

// A figure is somebody in a scene, or the disc.
type figure struct {
	place  int32 // in scores.json, or discID
	team   int8  // -1: none
	placed bool
	at     [3]int32
	does   int32
}

// scenes are those of a part of a chunk.
type scenes struct {
	list    []scene
	figures []figure
	text    int64 // bytes of states of the game
}

// loadScenes makes those of a part of a chunk, whose frames it does not keep.
func (t *tree) loadScenes(ctx context.Context, k partKey) (s scenes, size int64, err error) {
	x, err := t.Index(ctx)
	if err != nil {
		return s, 0, err
	}
	held, err := formats.Charge(ctx, 0)
	if err != nil {
		return s, 0, err
	}
	defer held.Free()
	there := map[int32]bool{}
	err = t.eachFrame(ctx, x, k, func(i int, f *Frame) error {
		if i == 0 {
			s = scenes{}
		}
		s.add(f, x.places, there)
		return held.Grow(max(2*s.size()-held.Size(), 0))
	})
	return s, s.size(), err
}

// size returns how many bytes the scenes keep alive.
func (s *scenes) size() int64 {
	return s.text + int64(cap(s.list))*int64(unsafe.Sizeof(scene{})) + int64(cap(s.figures))*int64(unsafe.Sizeof(figure{}))
}

// add adds a frame. Of two players with the same identity the first counts, as in a roster.
func (s *scenes) add(f *Frame, places map[PlayerKey]int, there map[int32]bool) {
	c := scene{time: f.Time, clock: shortest(f.Clock), status: f.Status, first: len(s.figures)}
	for i, n := range f.Points {
		c.points[i] = play.Round(float64(n), 1)
	}
	if n := len(s.list); n > 0 && s.list[n-1].status == c.status {
		c.status = s.list[n-1].status // lest each keeps its own
	} else {
		c.status = strings.Clone(play.Cut(c.status))
		s.text += int64(len(c.status))
	}
	if f.Has&HasDisc != 0 {
		s.place(figure{place: discID, team: -1}, &f.Disc.Position, f.Lacks.Of(LacksDisc, 3))
	}
	clear(there)
	for team := range f.Teams {
		for i := range f.Teams[team].Players {
			p := &f.Teams[team].Players[i]
			place, ok := places[p.identity()]
			if !ok || there[int32(place)] {
				continue
			}
			there[int32(place)] = true
			g := figure{place: int32(place), team: int8(team)}
			for bit, flag := range p.flags() {
				if flag && !p.Lacks.At(LacksFlags+bit) {
					g.does |= 1 << bit
				}
			}
			s.place(g, &p.Poses[Head].Position, p.Lacks.Of(LacksPlaces, 3))
		}
	}
	c.last = len(s.figures)
	s.list = append(s.list, c)
}

// place adds a figure where it is.
func (s *scenes) place(g figure, at *Vec3, lacks Lacks) {
	if g.placed = lacks == 0; g.placed {
		for i, v := range at {
			g.at[i] = play.Round(float64(v), playUnit)
		}
	}
	s.figures = append(s.figures, g)
}

// shortest returns the number that has the digits of ticks/, 0 for none.
func shortest(x float32) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	if err != nil || v-v != 0 {
		return 0
	}
	return v
}

// A player goes through the frames of a chunk.
type player struct {
	*tree
	x     *Index
	chunk int
	info  *ChunkInfo
	event int // that comes next
	part  int // whose scenes these are, -1: none
	scenes
}

// Play implements views.Player.
func (p *player) Play(_ context.Context, tick int64, events *views.Events) error {
	for ; p.event < len(p.x.Events) && p.x.Events[p.event].Tick <= tick; p.event++ {
		if e := &p.x.Events[p.event]; events.Wants(e.Tick, e.Kind) {
			told := play.Event{Tick: e.Tick, Kind: e.Kind, Text: e.words()}
			if e.Player != nil {
				told.ID = playID(p.x.places[*e.Player])
			}
			events.Put(told)
		}
	}
	return nil
}

// Show implements views.Player.
func (p *player) Show(ctx context.Context, s *views.Stage) error {
	c, figures, err := p.scene(ctx, s)
	if err != nil {
		return err
	}
	if s.Game == nil {
		s.Game = &play.Game{}
	}
	g := s.Game
	s.MS, g.Clock, g.Status = append(s.MS, c.time-p.x.First), append(g.Clock, c.clock), append(g.Status, c.status)
	g.Blue, g.Orange = append(g.Blue, c.points[0]), append(g.Orange, c.points[1])
	s.Use(int64(2 * unsafe.Sizeof(c)))
	for i := range figures {
		figures[i].show(s, p.x)
	}
	return nil
}

// scene returns that of a frame, and who is in it. A lost one has the numbers of the frame before,
// or a time that is about right.
func (p *player) scene(ctx context.Context, s *views.Stage) (c scene, there []figure, err error) {
	frame, n := s.Tick-p.info.FirstTick, len(s.MS)
	if frame < int64(p.info.Ticks) {
		part, i := p.info.partOf(int(frame))
		if part != p.part {
			p.part = part
			p.scenes, err = p.tree.scenes.Get(ctx, partKey{p.chunk, part})
			if err != nil && !views.IsDamage(err) { // of damage the frames are lost
				return c, nil, err
			}
		}
		if i < len(p.list) {
			c = p.list[i]
			return c, p.figures[c.first:c.last], nil
		}
	}
	if n > 0 {
		g := s.Game
		return scene{p.x.First + s.MS[n-1], g.Clock[n-1], [2]int32{g.Blue[n-1], g.Orange[n-1]}, g.Status[n-1], 0, 0}, nil, nil
	}
	first, last := p.x.Chunks[p.x.firstShown].FirstTick, p.x.lastTick()
	return scene{time: p.x.First + int64(float64(p.x.Last-p.x.First)*float64(s.Tick-first)/float64(max(last-first, 1)))}, nil, nil
}

// lastTick returns the last tick that has a frame, if one has.
func (x *Index) lastTick() int64 {
	c := &x.Chunks[x.behindShown-1]
	return c.FirstTick + int64(c.Ticks) - 1
}

// show puts a figure on the stage.
func (g *figure) show(s *views.Stage, x *Index) {
	part := int64(g.team) << 1
	if g.placed {
		part |= 1
	}
	t, fresh := s.Track(views.Key{ID: int64(g.place), Part: part})
	if fresh {
		t.ID, t.Name, t.Kind = playID(int(g.place)), "disc", "disc"
		if g.place != discID {
			t.Name, t.Kind, t.Team = x.Played[g.place].Key.shown(), "player", TeamNames[g.team]
		}
	}
	if t.S = append(t.S, g.does); g.placed {
		t.X, t.Y, t.Z = append(t.X, g.at[0]), append(t.Y, g.at[1]), append(t.Z, g.at[2])
	}
}

// Point implements views.Player: what was decoded is at hand for the next block.
func (p *player) Point() (at any, cost int64) { return nil, 0 }
