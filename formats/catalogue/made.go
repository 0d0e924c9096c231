package catalogue

import (
	"context"

	"recfs/formats/archive"
	"recfs/nodes"
)

// Made returns what tells of a recording called at below dir whether it was known to have its index when the catalogue
// of dir was kept on disk last, and is that version still. It opens nothing; nil: dir is no whole archive.
func (c *Catalogue) Made(ctx context.Context, dir nodes.Dir) (func(ctx context.Context, at string, r archive.Recording) bool, error) {
	now, err := archive.Current(ctx, dir)
	if err != nil {
		return nil, err
	}
	_, folder := archive.FolderOf(now)
	if _, whole := dir.(*root); !folder || !whole {
		return nil, nil
	}
	view, _ := archive.ViewOf(now)
	kept := c.loadSaved(view)
	return func(ctx context.Context, at string, r archive.Recording) bool {
		known, err := kept.Find(ctx, c.pages, at)
		if err != nil || known == nil || !known.Stamp.Same(r.Stamp()) {
			return false // what is kept there may be no good
		}
		s, ok, err := summaryOf(known)
		return ok && err == nil && s.Indexed && s.Error == ""
	}, nil
}
