package catalogue

import (
	"context"
	"crypto/sha256"
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
	c       *Catalogue
	surveys *cache.Memo[[sha256.Size]byte, *survey] // by the sum of recordings.jsonl

	mu        sync.Mutex
	shown     [sha256.Size]byte // sum of recordings.jsonl
	shownTime time.Time         // since when it is that

	scanning chan struct{}     // holds one while the catalogue is made, and guards what follows
	last     [sha256.Size]byte // sum of the latest survey
	saved    time.Time         // when one was saved on disk

	// By the sum of the survey they are made of.
	waters    *lakeRoot
	parquets  *cache.Memo[[sha256.Size]byte, nodes.File]
	lakeSum   [sha256.Size]byte // of the lake that is shown, guarded by mu
	lakeUntil time.Time         // how long that is good
}

// Root returns an archive with the file called Name in it, the same as Parquet, and
// the directory of all tables, unless the archive has one of its own or is a recording.
func (c *Catalogue) Root(archive archive.Root) nodes.Dir {
	r := &root{Root: archive, c: c, scanning: make(chan struct{}, 1)}
	r.surveys = cache.NewMemo(c.cache, r.loadSurvey).Peak(func([sha256.Size]byte) int64 { return 0 })
	r.waters = newLakeRoot(c.cache, c.tables, r.Current, r.lake, r.surveys.Get)
	r.parquets = cache.NewMemo(c.cache, r.loadParquet)
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
		_, since, err := r.lake(ctx)
		return r.waters.entry(name, "", since), err
	}
	s, err := r.survey(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown != s.Sum() {
		r.shown, r.shownTime = s.Sum(), time.Now()
	}
	e := nodes.Entry{Name: name, Attr: nodes.Attr{Time: r.shownTime, Rights: nodes.Private(0o600)}, File: file{r, s.Sum(), s.Lines()}}
	if name == parquetName {
		e.File = nodes.DeferredFile[parquetFile]{Target: parquetFile{r, s.Sum()}}
	}
	return e, nil
}

// A file is recordings.jsonl as it was at one moment. It is a value,
// equal to another of the same content; that is in the cache, and made again
// when it was put out of it.
type file struct {
	r    *root
	sum  [sha256.Size]byte
	size int64
}

func (f file) Size(context.Context) (int64, error) { return f.size, nil }

func (f file) Open(ctx context.Context) (nodes.Content, error) {
	s, err := f.r.surveys.Get(ctx, f.sum)
	if err != nil {
		return nil, err
	}
	return s.content(), nil
}

// loadSurvey returns a survey that was put out of the cache, as long as it
// still holds.
func (r *root) loadSurvey(ctx context.Context, sum [sha256.Size]byte) (*survey, int64, error) {
	dir, err := r.Current(ctx)
	if err != nil {
		return nil, 0, err
	}
	if _, ok := archive.FolderOf(dir); !ok {
		return nil, 0, source.Stale(Name)
	}
	s, err := r.survey(ctx, dir)
	if err != nil {
		return nil, 0, err
	}
	if s.Sum() != sum {
		return nil, 0, source.Stale(Name)
	}
	return s, s.cost(), nil
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
	if s, ok := r.surveys.Peek(r.last); ok && s.holds(ctx, view, r.c.disk) {
		return s, nil
	}
	old := r.lastSurvey(view)
	list, by, err := r.scan(cache.Separate(ctx), view, dir, old) // each part takes memory for itself
	if err != nil {
		return nil, err
	}
	if list.Same(old.List) {
		list = old.List
	}
	return r.keep(by.renewed(list)), nil
}

// scan returns what is in the archive now, and what looked for it. Of a scan that does not come to its end what it
// found is kept on disk, with what was known before of the rest, so that the next one need not open that again.
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

// lastSurvey returns what was known of the whole archive last, in memory or
// on disk.
func (r *root) lastSurvey(view archive.View) *survey {
	if s, ok := r.surveys.Peek(r.last); ok {
		return s
	}
	return r.c.loadSaved(view)
}

// keep remembers what is known of the whole archive now.
func (r *root) keep(s *survey) *survey {
	if old, ok := r.surveys.Peek(s.Sum()); !ok || old != s {
		r.surveys.Put(s.Sum(), s, s.cost())
	}
	r.last = s.Sum()
	return s
}

// A parquetFile is recordings.parquet as it was at one moment. It is a value, as a file is.
type parquetFile struct {
	r   *root
	sum [sha256.Size]byte
}

// Resolve implements the target of a nodes.DeferredFile.
func (f parquetFile) Resolve(ctx context.Context) (nodes.File, error) {
	return f.r.parquets.Get(ctx, f.sum)
}

func (r *root) loadParquet(ctx context.Context, sum [sha256.Size]byte) (nodes.File, int64, error) {
	s, err := r.surveys.Get(ctx, sum)
	if err != nil {
		return nil, 0, err
	}
	return parquet.File(r.c.cache, s.maker()), s.cost(), nil
}

// lake returns what is known of the whole archive now, and since when it is that. It is taken for what the archive
// has as long as a survey of a large one: a reader looks up all of it, and the whole archive would be looked at for
// each look-up.
func (r *root) lake(ctx context.Context) (*survey, time.Time, error) {
	r.mu.Lock()
	sum, fresh := r.lakeSum, time.Now().Before(r.lakeUntil)
	r.mu.Unlock()
	if !fresh {
		dir, err := r.Current(ctx)
		if err != nil {
			return nil, time.Time{}, err
		}
		s, err := r.survey(ctx, dir)
		if err != nil {
			return nil, time.Time{}, err
		}
		sum = s.Sum()
		r.mu.Lock()
		r.lakeSum, r.lakeUntil = sum, time.Now().Add(s.watch.good())
		r.mu.Unlock()
	}
	r.mu.Lock()
	if r.shown != sum {
		r.shown, r.shownTime = sum, time.Now()
	}
	since := r.shownTime
	r.mu.Unlock()
	s, err := r.surveys.Get(ctx, sum)
	return s, since, err
}
