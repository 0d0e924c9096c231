package page

import "context"

// A List is what is known of all recordings.
type List interface{}

// list answers with a page of the list.
func list(context.Context, *Site, *query) (any, error) { return struct{}{}, nil }
