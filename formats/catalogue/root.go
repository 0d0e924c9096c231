package catalogue

import (
	"context"
	"errors"
	iofs "io/fs"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/source"
	"recfs/nodes"
)

// A root is the root of an archive with its catalogue in it, and what is known
// of the whole archive.
type root struct {
	archive.Root
	c *Catalogue

	scanning chan struct{} // holds one while the catalogue is made, and guards saved
	last     atomic.Pointer[survey]
	saved    time.Time // when one was saved on disk

	names    *cache.Memo[namesKey, source.Names]
	parquets *cache.Memo[file, nodes.File]
}

// Root returns an archive with the file called Name in it, the same as Parquet, and
// the directory of all tables, unless the archive has one of its own or is a recording.
func (c *Catalogue) Root(archive archive.Root) nodes.Dir {
	r := &root{Root: archive, c: c, scanning: make(chan struct{}, 1)}
	r.names = cache.NewMemo[namesKey, source.Names](c.cache, nil).Peak(func(namesKey) int64 { return namesPeak })
	r.parquets = cache.NewMemo(c.cache, func(_ context.Context, f file) (nodes.File, int64, error) {
		return parquet.File(c.cache, f.maker()), f.Cost(), nil
	})
	return r
}

func (r *root) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name != Name && name != parquetName && name != tablesName {
		return r.Root.Lookup(ctx, name)
	}
	dir, err := r.Current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	if _, ok := archive.FolderOf(dir); !ok {
		return r.Root.Lookup(ctx, name)
	}
	e, err := nodes.Child(ctx, dir, name)
	if errors.Is(err, iofs.ErrNotExist) {
		return r.entry(ctx, dir, name)
	}
	return e, err
}

// entry returns the entry of recordings.jsonl, recordings.parquet or tables.
func (r *root) entry(ctx context.Context, dir nodes.Dir, name string) (nodes.Entry, error) {
	if name == tablesName {
		s, err := r.recent(ctx)
		if err != nil {
			return nodes.Entry{}, err
		}
		return r.tablesEntry(name, "", s.since), nil
	}
	s, err := r.survey(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	e := nodes.Entry{Name: name, Attr: nodes.Attr{Time: s.since, Rights: nodes.Private(0o600)}, File: s.file}
	if name == parquetName {
		e.File = nodes.DeferredFile[parquetFile]{Target: parquetFile{r, s.file}}
	}
	return e, nil
}

// survey returns what is known of the whole archive, whose folder dir is.
func (r *root) survey(ctx context.Context, dir nodes.Dir) (*survey, error) {
	select {
	case r.scanning <- struct{}{}:
		defer func() { <-r.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	view, _ := archive.ViewOf(dir)
	old := r.last.Load()
	switch {
	case old == nil:
		old = r.c.loadSaved(view)
	case old.holds(ctx, view, r.c.disk):
		return old, nil
	}
	list, by, err := r.scan(cache.Separate(ctx), view, dir, old) // each part takes memory for itself
	if err != nil {
		return nil, err
	}
	s := by.renewed(list)
	if list.Sum() == old.Sum() && !old.since.IsZero() {
		s.file, s.since = old.file, old.since
	}
	r.c.cache.Count(s.cost() - r.last.Load().cost())
	r.last.Store(s)
	return s, nil
}

// scan returns what is in the archive now, and what looked for it. Of a scan that does not come to
// its end what it found is kept on disk, with what was known before of the rest, so that the next
// one need not open that again.
func (r *root) scan(ctx context.Context, view archive.View, dir nodes.Dir, old *survey) (*ledger.List, *scan, error) {
	sink := ledger.NewSink(r.c.disk, r.c.savedName(view))
	defer sink.Close()
	s := r.c.newScan(view, sink)
	defer s.cache.Close()
	known := old.Cursor(r.c.pages)
	s.old, s.oldState = &known, old.state
	err := s.dir(ctx, dir, "")
	if err == nil {
		err = s.summarise(ctx)
	}
	if err != nil {
		s.leave()
	}
	list := s.found.List()
	if list.Same(old.List) {
		return list, s, err
	}
	due := time.Since(r.saved) >= saveEvery
	if due {
		r.saved = time.Now()
	}
	return sink.Save(list, due), s, err
}

// A parquetFile is recordings.parquet as it was at one moment. It is a value, as a file is.
type parquetFile struct {
	r *root
	file
}

// Resolve implements the target of a nodes.DeferredFile.
func (f parquetFile) Resolve(ctx context.Context) (nodes.File, error) {
	return f.r.parquets.Get(ctx, f.file)
}

// recent returns what was known of the whole archive a short time ago, for tables/: a reader looks
// up all of it, and the whole archive would be looked at for each look-up.
func (r *root) recent(ctx context.Context) (*survey, error) {
	if s := r.last.Load(); s != nil && time.Since(s.watch.ended) <= s.watch.good() {
		return s, nil
	}
	dir, err := r.Current(ctx)
	if err != nil {
		return nil, err
	}
	return r.survey(ctx, dir)
}
