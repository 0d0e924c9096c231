package catalogue

import (
	"context"
	"errors"
	iofs "io/fs"
	"sync"
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

	scanning chan struct{} // holds one while the catalogue is made, and guards what follows
	last     *survey       // nil: there is none yet
	saved    time.Time     // when one was saved on disk

	mu        sync.Mutex
	shown     *survey   // that recordings.jsonl is of; nil: nobody has asked for it
	shownTime time.Time // since when it is that
	lake      *survey   // that tables/ is of
	lakeTime  time.Time
	lakeUntil time.Time // how long that is good

	names    *cache.Memo[lakeKey, source.Names]
	parquets *cache.Memo[*survey, nodes.File]
}

// Root returns an archive with the file called Name in it, the same as Parquet, and
// the directory of all tables, unless the archive has one of its own or is a recording.
func (c *Catalogue) Root(archive archive.Root) nodes.Dir {
	r := &root{Root: archive, c: c, scanning: make(chan struct{}, 1)}
	r.names = cache.NewMemo[lakeKey, source.Names](c.cache, nil).Peak(func(lakeKey) int64 { return namesPeak })
	r.parquets = cache.NewMemo(c.cache, func(_ context.Context, s *survey) (nodes.File, int64, error) {
		return parquet.File(c.cache, s.maker()), s.cost(), nil
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
		_, since, err := r.lakeNow(ctx)
		return r.lakeEntry(name, "", since), err
	}
	s, err := r.survey(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown == nil || r.shown.Sum() != s.Sum() {
		r.shown, r.shownTime = s, time.Now()
	}
	e := nodes.Entry{Name: name, Attr: nodes.Attr{Time: r.shownTime, Rights: nodes.Private(0o600)}, File: file{r.shown}}
	if name == parquetName {
		e.File = nodes.DeferredFile[parquetFile]{Target: parquetFile{r, r.shown}}
	}
	return e, nil
}

// A file is recordings.jsonl as it was at one moment. It is a value, equal to another of the same content.
type file struct{ s *survey }

func (f file) Size(context.Context) (int64, error) { return f.s.Lines(), nil }

func (f file) Open(context.Context) (nodes.Content, error) { return f.s.content(), nil }

// survey returns what is known of the whole archive, whose folder dir is.
func (r *root) survey(ctx context.Context, dir nodes.Dir) (*survey, error) {
	select {
	case r.scanning <- struct{}{}:
		defer func() { <-r.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	view, _ := archive.ViewOf(dir)
	old := r.last
	switch {
	case old == nil:
		old = r.c.loadSaved(view)
	case old.doubts != r.c.digests.doubts.Load():
		old = &survey{List: ledger.Load(nil, "", nil)}
	case old.holds(ctx, view, r.c.disk):
		return old, nil
	}
	list, by, err := r.scan(cache.Separate(ctx), view, dir, old) // each part takes memory for itself
	if err != nil {
		return nil, err
	}
	if list.Same(old.List) {
		list = old.List
	}
	s := by.renewed(list)
	r.c.cache.Count(s.cost() - r.last.cost())
	r.last = s
	return s, nil
}

// scan returns what is in the archive now, and what looked for it. Of a scan that does not come to its end what it
// found is kept on disk, with what was known before of the rest, so that the next one need not open that again.
func (r *root) scan(ctx context.Context, view archive.View, dir nodes.Dir, old *survey) (*ledger.List, *scan, error) {
	sink := ledger.NewSink(r.c.disk, r.c.savedName(view))
	sink.Count = r.c.cache.Count
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
	s *survey
}

// Resolve implements the target of a nodes.DeferredFile.
func (f parquetFile) Resolve(ctx context.Context) (nodes.File, error) {
	return f.r.parquets.Get(ctx, f.s)
}

// lakeNow returns what is known of the whole archive now, and since when it is that. It is taken for what the archive
// has as long as a survey of a large one: a reader looks up all of it, and the whole archive would be looked at for
// each look-up.
func (r *root) lakeNow(ctx context.Context) (*survey, time.Time, error) {
	r.mu.Lock()
	s, since, fresh := r.lake, r.lakeTime, time.Now().Before(r.lakeUntil)
	r.mu.Unlock()
	if fresh && s.doubts == r.c.digests.doubts.Load() {
		return s, since, nil
	}
	dir, err := r.Current(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	if s, err = r.survey(ctx, dir); err != nil {
		return nil, time.Time{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lake == nil || r.lake.Sum() != s.Sum() {
		r.lakeTime = time.Now()
	}
	r.lake, r.lakeUntil = s, time.Now().Add(s.watch.good())
	return s, r.lakeTime, nil
}
