package page

import (
	"context"
	"net/url"
)

// A List is what is known of all recordings.
type List interface {
	// Page returns a page of the list (docs/tree/page.md section 3). A parameter that is none is a
	// [BadParameter].
	Page(ctx context.Context, q url.Values) (any, error)
}

// list answers with a page of the list.
func list(ctx context.Context, t *Tree, q *query) (any, error) { return t.List.Page(ctx, q.values) }
