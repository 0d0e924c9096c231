package catalogue

import (
	"context"
	"errors"
	"iter"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// Summaries returns the recordings below dir, an archive or a directory of
// one, in the order of a walk, with paths relative to dir. What was found in
// a whole archive, as Root returns it, is kept in the disk cache, so that the
// next time only what is new or changed is opened.
//
// A container of which it is not known what it holds has a Summary of its path alone.
func (c *Catalogue) Summaries(ctx context.Context, dir nodes.Dir) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		found, done, err := c.surveyOf(ctx, dir)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		defer done()
		for _, r := range found.records(ctx, 0, &err) {
			if s, ok, err := summaryOf(r); ok && (!yield(s, err) || err != nil) {
				return
			}
		}
		if err != nil {
			yield(Summary{}, err)
		}
	}
}

// Summarize returns what is known of a recording, with what only its
// index.json says: that is made if it has to be. One that does not open has
// an [archive.NotOpenError].
func Summarize(ctx context.Context, dir nodes.Dir) (s Summary, k formats.Summary, err error) {
	dir, err = archive.Current(ctx, dir)
	if err != nil {
		return s, k, errors.ErrUnsupported
	}
	r, ok := archive.RecordingOf(dir)
	if !ok {
		return s, k, errors.ErrUnsupported
	}
	k, err = r.Summary(ctx)
	s.take(k, err == nil)
	return s, k, err
}

// surveyOf returns what is known below dir, until done is called: what was found in a part of an
// archive is then gone.
func (c *Catalogue) surveyOf(ctx context.Context, dir nodes.Dir) (found *survey, done func(), err error) {
	at, err := archive.Current(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	view, ok := archive.Of(at)
	if !ok {
		return nil, nil, errors.ErrUnsupported
	}
	if _, folder := archive.FolderOf(at); folder {
		if r, whole := dir.(*root); whole {
			found, err = r.survey(ctx, at, nil)
			return found, func() {}, err
		}
	}
	sink := ledger.NewSink(c.disk, "")
	if found, err = c.part(ctx, view, at, sink); err != nil {
		sink.Close()
		return nil, nil, err
	}
	c.cache.Count(found.Cost())
	return found, func() {
		c.cache.Count(-found.Cost())
		sink.Close()
	}, nil
}

// part returns what is below a directory, without anything known before.
func (c *Catalogue) part(ctx context.Context, view *archive.Archive, dir nodes.Dir, sink *ledger.Sink) (*survey, error) {
	s := c.newScan(view, sink)
	defer s.cache.Close()
	if err := s.all(cache.Separate(ctx), dir, ""); err != nil { // each part takes memory for itself
		return nil, err
	}
	return s.renewed(s.found.List()), nil
}
