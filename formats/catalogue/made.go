package catalogue

import (
	"context"

	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// Made returns what tells of a recording called at below dir whether it was known to have its index when the catalogue
// of dir was kept on disk last, and is that version still, with the same beside it. All is made then if the disk cache has
// index, or that is "". It opens nothing; nil: dir is no whole archive.
func (c *Catalogue) Made(ctx context.Context, dir nodes.Dir) (func(ctx context.Context, at string, r archive.Recording) (index string, ok bool), error) {
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
	return func(ctx context.Context, at string, r archive.Recording) (string, bool) {
		known, err := kept.Find(ctx, c.pages, at)
		if err != nil || known == nil || !known.Stamp.Same(r.Stamp()) {
			return "", false // what is kept there may be no good
		}
		s, ok, err := summaryOf(known)
		if !ok || err != nil || !s.Indexed || s.Error != "" {
			return "", false
		}
		return indexOf(ctx, known, r)
	}, nil
}

// indexOf names the file with the index of a recording of which this is known. ok is false if that does not tell whether
// anything is left to make: where a format keeps only some indexes, or they depend on other files.
func indexOf(ctx context.Context, known *ledger.Record, r archive.Recording) (name string, ok bool) {
	name = r.IndexName()
	if f := r.Format(); f.BesideFiles == nil {
		return name, name != "" && f.Keep == nil && f.Beside == nil
	}
	b, ok := parseBeside(known.Beside)
	switch {
	case !ok || name == "" || besideChanged(ctx, r.View(), r.Path(), known.Beside):
		return "", false
	case !b.kept:
		return "", true
	}
	return name, true
}
