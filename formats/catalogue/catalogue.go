// Package catalogue tells what is known of the recordings of an archive without decoding them.
package catalogue

import (
	"context"
	"errors"
	"iter"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// Name is the file at the root of an archive that has one line for
// each recording. It opens by name and is not listed.
const Name = "recordings.jsonl"

// A Catalogue keeps what is known of the recordings of archives that share a cache.
type Catalogue struct {
	cache   *cache.Cache
	disk    *cache.Disk // may be nil
	sniff   bool
	digests *cache.Memo[archive.Recording, digest]
	looked  atomic.Int64
	pages   *ledger.Pages
	lines   *cache.Memo[*ledger.Block, []Line]
	mounted atomic.Pointer[string]

	walks   sync.WaitGroup // that nobody waits for
	walking context.Context
	end     context.CancelFunc // of walking
}

// New returns the catalogue of archives that are opened with c and opt after it: it sets
// opt.Indexed.
func New(c *cache.Cache, opt *archive.Options) *Catalogue {
	k := &Catalogue{cache: c, disk: opt.Disk, sniff: opt.Sniff, pages: ledger.NewPages(c)}
	k.digests = cache.NewMemo(c, loadDigest).Durable(DigestPlace, encodeDigest, resumeDigest)
	k.lines = newLines(c, k.pages)
	k.walking, k.end = context.WithCancel(context.Background())
	opt.Indexed = k.indexed
	return k
}

// Close ends the walks that nobody waits for. What they have found is kept on disk.
func (c *Catalogue) Close() {
	c.end()
	c.walks.Wait()
}

// indexed keeps the digest of a recording whose index.json was made.
func (c *Catalogue) indexed(ctx context.Context, r archive.Recording) {
	if c.disk != nil && !cache.IsSavedOnly(ctx) {
		_, _ = c.digests.Get(ctx, r) // without it the catalogue knows less
	}
}

// Keep keeps what a recording that has an index says, on disk if there is a cache there.
func (c *Catalogue) Keep(ctx context.Context, r archive.Recording) { c.indexed(ctx, r) }

// Mounted says where archives with this catalogue are mounted, for views.sql.
func (c *Catalogue) Mounted(at string) { c.mounted.Store(&at) }

// tablesPrefix returns the absolute path of tables/; "": it is in no mount.
func (c *Catalogue) tablesPrefix() string {
	if at := c.mounted.Load(); at != nil {
		return path.Join(*at, tablesName)
	}
	return ""
}

// Looked returns how many recordings were looked at so far.
func (c *Catalogue) Looked() int { return int(c.looked.Load()) }

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
		for i := range found.Blocks() {
			page, err := found.Page(ctx, c.pages, i)
			if err != nil {
				yield(Summary{}, err)
				return
			}
			for j := range page {
				if s, ok, err := summaryOf(&page[j]); ok && (!yield(s, err) || err != nil) {
					return
				}
			}
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

// catalogueCache is the memory for opening recordings to summarise them.
const catalogueCache = 8 << 20

// surveyOf returns what is known below dir, until done is called: what was found in a part of an
// archive is then gone.
func (c *Catalogue) surveyOf(ctx context.Context, dir nodes.Dir) (found *survey, done func(), err error) {
	at, err := archive.Current(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	view, ok := archive.ViewOf(at)
	if !ok {
		return nil, nil, errors.ErrUnsupported
	}
	if _, folder := archive.FolderOf(at); folder {
		if r, whole := dir.(*root); whole {
			found, err = r.survey(ctx, at)
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

// part returns what is below a directory, of which nothing was known before.
func (c *Catalogue) part(ctx context.Context, view archive.View, dir nodes.Dir, sink *ledger.Sink) (*survey, error) {
	s := c.newScan(view, sink)
	defer s.cache.Close()
	ctx = cache.Separate(ctx) // each part takes memory for itself
	if err := s.dir(ctx, dir, ""); err != nil {
		return nil, err
	}
	if err := s.summarise(ctx); err != nil {
		return nil, err
	}
	return s.renewed(s.found.List()), nil
}

// newScan returns a scan that finds nothing yet.
func (c *Catalogue) newScan(view archive.View, sink *ledger.Sink) *scan {
	s := &scan{c: c, view: view, found: ledger.NewWriter(sink), watch: watchlist{began: time.Now()}}
	var disk cache.Store
	if c.disk != nil {
		disk, s.saved, s.state = c.disk, c.disk.Lookup(), c.disk.State()
	}
	s.cache = c.cache.Part(catalogueCache, disk)
	return s
}
