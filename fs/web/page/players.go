package page

import (
	"context"
	"math"

	"recfs/nodes/play"
)

// A playersAnswer is the answer to players.
type playersAnswer struct {
	Total int           `json:"total"`
	Rows  []play.Player `json:"rows"`
	Next  *int          `json:"next"`
}

// players answers with those who took part and have a name that fits.
func players(ctx context.Context, t *Tree, q *query) (any, error) {
	after, limit := int(q.number("after", 0, 0, math.MaxInt32)), int(q.number("limit", 100, 1, 1000))
	rec, err := t.playing(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, total, err := rec.Players(ctx, q.text("q"), after, limit)
	if err != nil {
		return nil, err
	}
	answer := playersAnswer{Total: total, Rows: rows}
	if end := after + len(rows); end < total && len(rows) > 0 {
		answer.Next = &end
	}
	return answer, nil
}
