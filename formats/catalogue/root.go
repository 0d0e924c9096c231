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
	waters   *lakeRoot
	lakes    *cache.Memo[[sha256.Size]byte, *lake]
	parquets *cache.Memo[[sha256.Size]byte, []byte]
	lakeSum  [sha256.Size]byte // of the lake that is shown, guarded by mu
	lakeTime time.Time         // when that was known to hold
}

// Root returns an archive with the file called Name in it, the same as Parquet, and
// the directory of all tables, unless the archive has one of its own or is a recording.
func (c *Catalogue) Root(archive archive.Root) nodes.Dir {
	r := &root{Root: archive, c: c, scanning: make(chan struct{}, 1)}
	r.surveys = cache.NewMemo(c.cache, r.loadSurvey).Peak(func([sha256.Size]byte) int64 { return 0 })
	r.waters = &lakeRoot{r.Current, r.lake}
	r.lakes = cache.NewMemo(c.cache, r.loadLake).Peak(r.peak)
	r.parquets = cache.NewMemo(c.cache, r.loadParquet).Peak(r.peak)
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
	if r.shown != s.sum {
		r.shown, r.shownTime = s.sum, time.Now()
	}
	e := nodes.Entry{Name: name, Attr: nodes.Attr{Time: r.shownTime, Rights: nodes.Private(0o600)}, File: file{r, s.sum, s.size}}
	if name == parquetName {
		e.File = nodes.DeferredFile[parquetFile]{Target: parquetFile{r, s.sum}}
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
	if s.sum != sum {
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
	s := r.c.newScan(view)
	defer s.cache.Close()
	s.old = r.lastSurvey(view)
	if err := s.dir(ctx, dir, ""); err != nil {
		if len(s.records) > len(s.old.records) { // the next one need not open those again
			r.save(view, newSurvey(s.records))
		}
		return nil, err
	}
	err := s.summarise(ctx)
	if s.nothingNew() {
		return r.keep(s.old.renewed(s)), nil
	}
	found := newSurvey(s.records).renewed(s)
	if s.changed || s.taken != len(s.old.records) {
		r.save(view, found)
	}
	if err != nil {
		return nil, err
	}
	return r.keep(found), nil
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
	if old, ok := r.surveys.Peek(s.sum); !ok || old != s {
		r.surveys.Put(s.sum, s, s.cost())
	}
	r.last = s.sum
	return s
}

// peak is about what it takes to read the lines of a survey, and to make something of them.
func (r *root) peak(sum [sha256.Size]byte) int64 {
	n := int64(512 << 10)
	if s, ok := r.surveys.Peek(sum); ok {
		n += 4 * s.size
	}
	return n
}

// members returns the recordings of a survey.
func (r *root) members(ctx context.Context, sum [sha256.Size]byte) (list []*member, err error) {
	s, err := r.surveys.Get(ctx, sum)
	if err != nil {
		return nil, err
	}
	for i := range s.records {
		if list, err = appendMembers(list, s.records[i].lines, s.records[i].tables); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// A parquetFile is recordings.parquet as it was at one moment. It is a value, as a file is.
type parquetFile struct {
	r   *root
	sum [sha256.Size]byte
}

// Resolve implements the target of a nodes.DeferredFile.
func (f parquetFile) Resolve(ctx context.Context) (nodes.File, error) {
	b, err := f.r.parquets.Get(ctx, f.sum)
	if err != nil {
		return nil, err
	}
	return nodes.Bytes(b), nil
}

func (r *root) loadParquet(ctx context.Context, sum [sha256.Size]byte) ([]byte, int64, error) {
	list, err := r.members(ctx, sum)
	if err != nil {
		return nil, 0, err
	}
	b, err := makeParquet(ctx, list)
	return b, int64(cap(b)), err
}

// lakeCheck is how long what is in the lake is taken for what the archive has: a reader looks up all of it,
// and the whole archive would be looked at for each look-up.
const lakeCheck = time.Second

// lake returns the lake as it is now, and since when it is that.
func (r *root) lake(ctx context.Context) (*lake, time.Time, error) {
	r.mu.Lock()
	sum, fresh := r.lakeSum, time.Since(r.lakeTime) <= lakeCheck
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
		sum = s.sum
	}
	r.mu.Lock()
	if r.shown != sum {
		r.shown, r.shownTime = sum, time.Now()
	}
	since := r.shownTime
	if r.lakeSum = sum; !fresh {
		r.lakeTime = time.Now()
	}
	r.mu.Unlock()
	l, err := r.lakes.Get(ctx, sum)
	return l, since, err
}

func (r *root) loadLake(ctx context.Context, sum [sha256.Size]byte) (*lake, int64, error) {
	list, err := r.members(ctx, sum)
	if err != nil {
		return nil, 0, err
	}
	l := newLake(list)
	return l, l.size, nil
}
