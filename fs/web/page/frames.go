package page

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"recfs/nodes/play"
)

// A blockAnswer is the answer to frames.
type blockAnswer struct {
	Block  int64         `json:"block"`
	Step   int64         `json:"step"`
	First  int64         `json:"first"`
	Frames int           `json:"frames"`
	MS     []int64       `json:"ms,omitzero"`
	Tracks []trackAnswer `json:"tracks"`
	Events []play.Event  `json:"events"`
	More   int64         `json:"events_more"`
	Game   *gameAnswer   `json:"game,omitempty"`
	*screenAnswer
}

// A trackAnswer is a track, of which the columns that are not known are null.
type trackAnswer struct {
	ID    play.ID  `json:"id"`
	Name  string   `json:"name"`
	Team  *play.ID `json:"team"`
	Kind  string   `json:"kind"`
	Color string   `json:"color,omitempty"`
	At    int      `json:"at"`
	N     int      `json:"n"`
	X     []int64  `json:"x"`
	Y     []int64  `json:"y"`
	Z     []int64  `json:"z,omitzero"`
	A     []int64  `json:"a"`
	S     []any    `json:"s"`
}

// A gameAnswer is the score of a match.
type gameAnswer struct {
	Clock  []any `json:"clock"`
	Blue   []any `json:"blue"`
	Orange []any `json:"orange"`
	Status []any `json:"status"`
}

// A screenAnswer is what a terminal shows.
type screenAnswer struct {
	Ticks   []int64     `json:"ticks"`
	Turns   []int64     `json:"turns"`
	Screens [][]*string `json:"screens"`
	Plain   [][]*string `json:"plain"`
}

// frames answers with a block of frames.
func frames(ctx context.Context, t *Tree, q *Query) (any, error) {
	block, step := q.Number("block", 0, 0, math.MaxInt64), q.Number("step", 1, 1, 64)
	told := q.Flag("secrets")
	rec, err := t.playing(ctx, q)
	if err != nil {
		return nil, err
	}
	b, err := rec.Frames(ctx, block, int(step))
	if err != nil {
		return nil, err
	}
	return answerBlock(b, block, step, told), nil
}

// answerBlock returns the answer that a block is.
func answerBlock(b *play.Block, block, step int64, told bool) blockAnswer {
	answer := blockAnswer{
		Block: block, Step: step, First: b.First, Frames: b.Frames, MS: b.MS,
		Tracks: make([]trackAnswer, len(b.Tracks)), Events: append([]play.Event{}, shownEvents(b.Events, told)...), More: b.More,
	}
	for i, t := range b.Tracks {
		of := trackAnswer{ID: t.ID, Name: t.Name, Kind: t.Kind, Color: t.Color, At: t.At, N: t.N, X: steps(t.X), Y: steps(t.Y), Z: steps(t.Z), A: steps(t.A)}
		if t.Team != "" {
			of.Team = (*play.ID)(&t.Team)
		}
		if t.S != nil {
			of.S = runs(t.S)
		}
		answer.Tracks[i] = of
	}
	if g := b.Game; g != nil {
		answer.Game = &gameAnswer{make([]any, len(g.Clock)), runs(g.Blue), runs(g.Orange), runs(g.Status)}
		for i, v := range g.Clock {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				answer.Game.Clock[i] = json.Number(strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
	}
	if s := b.Screen; s != nil {
		answer.screenAnswer = &screenAnswer{s.Ticks, s.Turns, changes(s.Rows), changes(s.Plain)}
	}
	return answer
}

// steps returns the first number of a column and then differences.
func steps(column []int32) []int64 {
	if column == nil {
		return nil
	}
	list, before := make([]int64, len(column)), int64(0)
	for i, n := range column {
		list[i] = int64(n) - before
		before = int64(n)
	}
	return list
}

// runs returns a column as how often each value stands there, and the value.
func runs[V comparable](column []V) []any {
	list := []any{}
	for i := 0; i < len(column); {
		end := i + 1
		for end < len(column) && column[end] == column[i] {
			end++
		}
		list = append(list, end-i, column[i])
		i = end
	}
	return list
}

// changes returns screens, of which nil is one that is lost, and a row that is as before.
func changes(screens [][]string) [][]*string {
	list := make([][]*string, len(screens))
	var before []string
	for i, rows := range screens {
		if rows != nil {
			list[i] = make([]*string, len(rows))
		}
		for j := range rows {
			if j >= len(before) || before[j] != rows[j] {
				list[i][j] = &rows[j]
			}
		}
		before = rows
	}
	return list
}
