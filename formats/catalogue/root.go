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
}

// Root returns an archive with the file called Name in it, unless the archive
// has one of its own or is a recording.
func (c *Catalogue) Root(archive archive.Root) nodes.Dir {
	r := &root{Root: archive, c: c, scanning: make(chan struct{}, 1)}
	r.surveys = cache.NewMemo(c.cache, r.loadSurvey)
	return r
}

func (r *root) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name != Name {
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
		return r.entry(ctx, dir)
	}
	return e, err
}

// entry returns the entry of recordings.jsonl.
func (r *root) entry(ctx context.Context, dir nodes.Dir) (nodes.Entry, error) {
	s, err := r.survey(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown != s.sum {
		r.shown, r.shownTime = s.sum, time.Now()
	}
	return nodes.Entry{Name: Name, Attr: nodes.Attr{Time: r.shownTime, Rights: nodes.Private(0o600)}, File: file{r, s.sum, s.size}}, nil
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
	if s, ok := r.surveys.Peek(r.last); ok && s.holds(view, r.c.disk) {
		return s, nil
	}
	s := r.c.newScan(view)
	defer s.cache.Close()
	s.old = r.lastSurvey(view)
	if err := s.dir(ctx, dir, ""); err != nil {
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
