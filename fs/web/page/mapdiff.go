package page

import (
	"context"
	"net/http"
	"net/url"

	"recfs/nodes"
	"recfs/nodes/play"
)

// A DiffMaps returns how two maps differ, whose directories it gets; nil: one of them is no map.
type DiffMaps func(ctx context.Context, a, b nodes.Dir) (*play.MapDiff, error)

// mapDiff answers with how two maps differ.
func mapDiff(ctx context.Context, t *Tree, q *query) (any, error) {
	other, err := t.Path("/" + (&url.URL{Path: q.text("with")}).EscapedPath())
	if err != nil || q.text("with") == "" {
		return nil, BadParameter("with")
	}
	a, err := t.dir(ctx, q.name)
	if err != nil {
		return nil, err
	}
	b, err := t.dir(ctx, other)
	if err != nil {
		if t.Status(err) == http.StatusNotFound {
			err = BadParameter("with")
		}
		return nil, err
	}
	diff, err := t.DiffMaps(ctx, a, b)
	if diff == nil && err == nil {
		err = &Refusal{http.StatusBadRequest, "these are not two maps"}
	}
	return diff, err
}
