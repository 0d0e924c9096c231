package catalogue

import (
	"context"
	"time"

	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// A Known is what is known of the recordings of an archive at one moment, with all that a query
// asks for in memory.
type Known struct {
	Walking bool // nobody has looked at all of it yet: these are those that were found so far
	c       *Catalogue
	partial
}

// Each visits all lines in the order of a walk. Nobody may change them. A container of which it is
// not known what it holds has a Summary of its path alone.
func (k *Known) Each(ctx context.Context, visit func(*Line)) error {
	for i := range k.list.Blocks() {
		lines, err := k.c.lines.Get(ctx, k.list.Block(i))
		if err != nil {
			return err
		}
		for j := range lines {
			visit(&lines[j])
		}
	}
	rest, _, err := linesOf(k.rest)
	for i := range rest {
		visit(&rest[i])
	}
	return err
}

// Known returns what is known below dir, an archive or a recording. Of an archive that takes its
// time that is what was known before, while somebody looks at what has changed.
func (c *Catalogue) Known(ctx context.Context, dir nodes.Dir) (*Known, error) {
	if r, ok := dir.(*root); ok {
		return r.known(ctx)
	}
	found, done, err := c.surveyOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer done()
	return &Known{c: c, partial: partial{list: found.List}}, nil
}

// known returns what is known of the archive now, or soon.
func (r *root) known(ctx context.Context) (*Known, error) {
	dir, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	if _, folder := archive.FolderOf(dir); !folder {
		return r.c.Known(ctx, dir)
	}
	w := r.ask(dir)
	last, wait := r.last.Load(), patience
	if last != nil && last.Len() >= manyRecords {
		wait = haste
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.done:
		if w.err != nil {
			return nil, w.err
		}
		return &Known{c: r.c, partial: partial{list: w.s.List}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	if last != nil {
		return &Known{c: r.c, partial: partial{list: last.List}}, nil
	}
	return &Known{true, r.c, *w.sofar.Load()}, nil
}

// ask returns the walk that is under way, or else begins one.
func (r *root) ask(dir nodes.Dir) *walk {
	r.walking.Lock()
	defer r.walking.Unlock()
	if w := r.walk; w != nil && w.idle.Reset(lingering) {
		return w
	}
	ctx, end := context.WithCancel(r.c.walking)
	w := &walk{done: make(chan struct{}), end: end, idle: time.AfterFunc(lingering, end)}
	tell := func(list *ledger.List, rest []ledger.Record) { w.sofar.Store(&partial{list, rest}) }
	tell(ledger.Load(nil, "", nil), nil)
	r.walk = w
	r.c.walks.Go(func() {
		defer end()
		defer close(w.done)
		defer w.idle.Stop()
		w.s, w.err = r.survey(ctx, dir, tell)
	})
	return w
}
