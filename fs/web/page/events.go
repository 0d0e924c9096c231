package page

import (
	"context"
	"math"
	"strings"

	"recfs/nodes/play"
)

// An eventsAnswer is the answer to events.
type eventsAnswer struct {
	Rows     []play.Event `json:"rows"`
	Searched int64        `json:"searched"`
	Next     *int64       `json:"next"`
}

// events answers with the events that fit, from a tick on.
func events(ctx context.Context, t *Tree, q *query) (any, error) {
	ask := play.Query{
		Back: q.number("dir", 1, -1, 1) < 0, Words: q.text("q"), ID: play.ID(q.text("id")),
		Limit: int(q.number("limit", 100, 1, 1000)), Told: q.flag("secrets"),
	}
	if q.text("dir") == "0" {
		q.refuse("dir")
	}
	without := int64(math.MinInt64)
	if ask.Back {
		without = math.MaxInt64
	}
	ask.From = q.number("from", without, math.MinInt64, math.MaxInt64)
	if kinds := q.text("kind"); kinds != "" {
		ask.Kinds = strings.Split(kinds, ",")
	}
	rec, err := t.playing(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := rec.Events(ctx, ask)
	if err != nil {
		return nil, err
	}
	return eventsAnswer{shownEvents(found.Rows, ask.Told), found.Searched, found.Next}, nil
}

// shownEvents returns events with what is secret in them, if that is asked for.
func shownEvents(list []play.Event, told bool) []play.Event {
	if !told {
		return list
	}
	shown := make([]play.Event, len(list))
	for i, e := range list {
		shown[i] = e.Told()
	}
	return shown
}
