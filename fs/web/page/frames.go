package page

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"recfs/nodes/play"
)

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
	return encodeBlock(b, block, step, told), nil
}

// encodeBlock returns the JSON of a block.
func encodeBlock(b *play.Block, block, step int64, told bool) encoded {
	size := 1024
	for i := range b.Tracks {
		size += 128 + 10*b.Tracks[i].N
	}
	out := make(encoded, 0, size)
	out = appendNumber(append(out, `{"v":1,"block":`...), block)
	out = appendNumber(append(out, `,"step":`...), step)
	out = appendNumber(append(out, `,"first":`...), b.First)
	out = appendNumber(append(out, `,"frames":`...), int64(b.Frames))
	if b.MS != nil {
		out = appendList(append(out, `,"ms":`...), b.MS, appendNumber)
	}
	out = appendList(append(out, `,"tracks":`...), b.Tracks, appendTrack)
	out = appendList(append(out, `,"events":`...), shownEvents(b.Events, told), appendJSON)
	out = appendNumber(append(out, `,"events_more":`...), b.More)
	if g := b.Game; g != nil {
		out = appendList(append(out, `,"game":{"clock":`...), g.Clock, appendFloat)
		out = appendRuns(append(out, `,"blue":`...), g.Blue, appendNumber)
		out = appendRuns(append(out, `,"orange":`...), g.Orange, appendNumber)
		out = append(appendRuns(append(out, `,"status":`...), g.Status, appendWord), '}')
	}
	if s := b.Screen; s != nil {
		out = appendList(append(out, `,"ticks":`...), s.Ticks, appendNumber)
		out = appendList(append(out, `,"turns":`...), s.Turns, appendNumber)
		out = appendScreens(append(out, `,"screens":`...), s.Rows)
		out = appendScreens(append(out, `,"plain":`...), s.Plain)
	}
	return append(out, '}')
}

// appendTrack appends a track.
func appendTrack(out encoded, t play.Track) encoded {
	out = appendJSON(append(out, `{"id":`...), t.ID)
	out = appendWord(append(out, `,"name":`...), t.Name)
	out = append(out, `,"team":`...)
	if t.Team == "" {
		out = append(out, "null"...)
	} else {
		out = appendJSON(out, play.ID(t.Team))
	}
	out = appendWord(append(out, `,"kind":`...), t.Kind)
	if t.Color != "" {
		out = appendWord(append(out, `,"color":`...), t.Color)
	}
	out = appendNumber(append(out, `,"at":`...), int64(t.At))
	out = appendNumber(append(out, `,"n":`...), int64(t.N))
	out = appendColumn(append(out, `,"x":`...), t.X)
	out = appendColumn(append(out, `,"y":`...), t.Y)
	if t.Z != nil {
		out = appendColumn(append(out, `,"z":`...), t.Z)
	}
	out = appendColumn(append(out, `,"a":`...), t.A)
	out = append(out, `,"s":`...)
	if t.S == nil {
		out = append(out, "null"...)
	} else {
		out = appendRuns(out, t.S, appendNumber)
	}
	return append(out, '}')
}

// appendColumn appends the first number of a column and then differences.
func appendColumn(out encoded, column []int32) encoded {
	if column == nil {
		return append(out, "null"...)
	}
	out = append(out, '[')
	before := int64(0)
	for i, n := range column {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(n)-before, 10)
		before = int64(n)
	}
	return append(out, ']')
}

// appendRuns appends a column as how often each value stands there, and the value.
func appendRuns[V comparable](out encoded, column []V, add func(encoded, V) encoded) encoded {
	out = append(out, '[')
	for i := 0; i < len(column); {
		end := i + 1
		for end < len(column) && column[end] == column[i] {
			end++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = add(append(strconv.AppendInt(out, int64(end-i), 10), ','), column[i])
		i = end
	}
	return append(out, ']')
}

// appendScreens appends screens, of which null is one that is lost, and a row that is as before.
func appendScreens(out encoded, screens [][]string) encoded {
	var before []string
	return appendList(out, screens, func(out encoded, rows []string) encoded {
		if rows == nil {
			before = nil
			return append(out, "null"...)
		}
		i := -1
		out = appendList(out, rows, func(out encoded, row string) encoded {
			if i++; i < len(before) && before[i] == row {
				return append(out, "null"...)
			}
			return appendWord(out, row)
		})
		before = rows
		return out
	})
}

// appendList appends an array.
func appendList[V any](out encoded, list []V, add func(encoded, V) encoded) encoded {
	out = append(out, '[')
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = add(out, v)
	}
	return append(out, ']')
}

func appendNumber[V int32 | int64](out encoded, n V) encoded {
	return strconv.AppendInt(out, int64(n), 10)
}

// appendFloat appends a number, null if it is none.
func appendFloat(out encoded, v float64) encoded {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, v, 'f', -1, 64)
}

// appendWord appends text.
func appendWord(out encoded, text string) encoded {
	for _, c := range []byte(text) {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendJSON(out, text)
		}
	}
	return append(append(append(out, '"'), text...), '"')
}

// appendJSON appends what cannot fail, such as text and events.
func appendJSON[V string | play.ID | play.Event](out encoded, v V) encoded {
	b := bytes.NewBuffer(out)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return b.Bytes()[:b.Len()-1]
}
