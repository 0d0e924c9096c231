package catalogue

import (
	"context"
	"errors"
	iofs "io/fs"
	"sync"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats"
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
	c       *Catalogue
	view    *archive.Archive
	formats []formats.Format

	scanning chan struct{} // holds one while the catalogue is made, and guards saved
	last     atomic.Pointer[survey]
	lost     atomic.Pointer[ledger.List] // not all of which can be read any more
	saved    time.Time                   // when one was saved on disk

	walking sync.Mutex // for walk
	walk    *walk      // nil: none is under way

	names  *cache.Memo[namesKey, source.Names]
	merged *cache.Memo[mergedFile, nodes.File]
	named  *cache.Memo[tableRef, nodes.File]
}

// Root returns an archive with the file called Name in it, the same as Parquet, and
// the directory of all tables, unless the archive has one of its own or is a recording.
func (c *Catalogue) Root(dir archive.Root) nodes.Dir {
	r := &root{Root: dir, c: c, scanning: make(chan struct{}, 1)}
	if v, ok := archive.Of(dir); ok {
		r.view, r.formats = v, v.Formats()
	}
	r.names = cache.NewMemo(c.cache, loadNames).Peak(func(namesKey) int64 { return namesPeak })
	r.merged = cache.NewMemo(c.cache, loadMerged)
	r.named = cache.NewMemo(c.cache, loadNamed)
	return r
}

func (r *root) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name != Name && name != parquetName && name != tablesName {
		return r.Root.Lookup(ctx, name)
	}
	e, dir, err := r.Own(ctx, name)
	switch {
	case dir == nil && err == nil:
		return r.Root.Lookup(ctx, name)
	case dir != nil && errors.Is(err, iofs.ErrNotExist):
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
		return r.tablesEntry(name, place{}, s.since), nil
	}
	s, err := r.survey(ctx, dir, nil)
	if err != nil {
		return nodes.Entry{}, err
	}
	if name == parquetName {
		return r.mergedEntry(name, s, ""), nil
	}
	return nodes.Entry{Name: name, Attr: s.attr(), File: s.file}, nil
}

// attr returns the attributes of a file about all recordings. It names what others may not be
// allowed to see.
func (s *survey) attr() nodes.Attr { return nodes.Attr{Time: s.since, Rights: nodes.Private(0o600)} }

// mergedEntry returns the entry of a file that is made of all of s.
func (r *root) mergedEntry(name string, s *survey, kind string) nodes.Entry {
	return nodes.Entry{Name: name, Attr: s.attr(), File: mergedEntry{nodes.DeferredFile[mergedFile]{Target: mergedFile{r, s.file, kind}}}}
}

// survey returns what is known of the whole archive, whose folder dir is, and tells what is known
// before it comes to its end. tell may be nil.
func (r *root) survey(ctx context.Context, dir nodes.Dir, tell func(*ledger.List, []ledger.Record)) (*survey, error) {
	select {
	case r.scanning <- struct{}{}:
		defer func() { <-r.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	view, _ := archive.Of(dir)
	old := r.last.Load()
	switch {
	case old == nil:
		if old = r.c.loadSaved(ctx, view); tell != nil && old.Blocks() > 0 {
			tell(old.List, nil)
			tell = nil
		}
	case old.List == r.lost.Load():
		old = &survey{file: file{ledger.Load(nil, "", nil), r.c.pages}} // all is made of what is known of each recording
	case old.holds(ctx, view, r.c.disk):
		return old, nil
	}
	list, by, err := r.scan(cache.Separate(ctx), view, dir, old, tell) // each part takes memory for itself
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
func (r *root) scan(ctx context.Context, view *archive.Archive, dir nodes.Dir, old *survey, tell func(*ledger.List, []ledger.Record)) (*ledger.List, *scan, error) {
	sink := ledger.NewSink(r.c.disk, r.c.savedName(view))
	defer sink.Close()
	s := r.c.newScan(view, sink)
	defer s.cache.Close()
	s.tell = tell
	s.old, s.oldState = new(old.Cursor(r.c.pages)), old.state
	err := s.all(ctx, dir, "")
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

// A mergedFile is made of what was known of all recordings at one moment. It is a value, as a file
// is.
type mergedFile struct {
	r *root
	file
	kind string // of a table over all recordings, or viewsName; "": recordings.parquet
}

// Resolve implements the target of a nodes.DeferredFile.
func (f mergedFile) Resolve(ctx context.Context) (nodes.File, error) { return f.r.merged.Get(ctx, f) }

// loadMerged makes a file that shows all recordings.
func loadMerged(ctx context.Context, k mergedFile) (nodes.File, int64, error) {
	r, c := k.r, k.r.c.cache
	if k.kind == "" {
		return parquet.File(c, k.maker(), parquet.Pair{Key: "recfs.table", Value: "recordings"}), k.Cost(), nil
	}
	if k.kind == viewsName {
		var err error
		recordings, unindexed := 0, 0
		for _, r := range k.records(ctx, 0, &err) {
			if r.Line != "" {
				recordings++
			}
			if r.Format != "" && !r.Indexed {
				unindexed++
			}
		}
		return nodes.Bytes(parquet.Views(r.c.tablesPrefix(), recordings, unindexed, r.kinds(k.file), "")), k.Cost(), err
	}
	format, table, _ := r.single(k.kind)
	s, err := newSingle(ctx, k.file, format, table)
	if err != nil {
		return nil, 0, err
	}
	s.lost = func() { r.lost.Store(k.List) }
	return parquet.File(c, s.maker(), s.metadata()...), k.Cost() + s.cost(), nil
}

// A mergedEntry is the File of a mergedFile, which is made when it is read. It is a value.
type mergedEntry struct {
	nodes.DeferredFile[mergedFile]
}

// Version implements nodes.Versioned.
func (f mergedEntry) Version(ctx context.Context, below string) (string, error) {
	v, err := f.Target.Version(ctx, below)
	if f.Target.kind == viewsName {
		v += " " + f.Target.r.c.tablesPrefix()
	}
	return v, err
}

// current returns what is known of the whole archive now, or s, which was recent unless it is nil,
// if no directory, no file that changed a short time ago and no index is another.
func (r *root) current(ctx context.Context, s *survey) (*survey, error) {
	dir, err := r.Current(ctx)
	if err != nil || s != nil && s.rests(ctx, r.view, r.c.disk) {
		return s, err
	}
	return r.survey(ctx, dir, nil)
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
	return r.survey(ctx, dir, nil)
}
