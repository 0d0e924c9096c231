package ledger

import "context"

// Merge joins several lists. Of each path it takes the best record, with the records of all inside
// it.
func Merge(ctx context.Context, sink *Sink, pages *Pages, lists []*List, better func(a, b *Record) bool) (*List, error) {
	w := NewWriter(sink)
	cursors := make([]Cursor, len(lists))
	for i, l := range lists {
		cursors[i] = l.Cursor(pages)
	}
	for {
		first, best := (*Record)(nil), 0
		for i := range cursors {
			r, err := cursors[i].Record(ctx)
			if err != nil {
				return nil, err
			}
			if r == nil {
				continue
			}
			if order := orderOf(first, r); order > 0 || order == 0 && better(r, first) {
				first, best = r, i
			}
		}
		if first == nil {
			return w.List(), nil
		}
		path := first.Path
		for i := range cursors {
			if err := cursors[i].pass(ctx, path, w, i == best); err != nil {
				return nil, err
			}
		}
	}
}

// orderOf is Order of the paths of two records. nil is behind all.
func orderOf(a, b *Record) int {
	if a == nil {
		return 1
	}
	return Order(a.Path, b.Path)
}

// pass goes behind the record of a path, if the cursor is there, and behind those of all inside it.
// It keeps them on demand.
func (c *Cursor) pass(ctx context.Context, path string, w *Writer, keep bool) error {
	for begun := false; ; begun = true {
		r, err := c.Record(ctx)
		if err != nil || r == nil || begun && !r.Inner || !begun && r.Path != path {
			return err
		}
		if keep {
			w.Keep(c)
		}
		c.Next()
	}
}
