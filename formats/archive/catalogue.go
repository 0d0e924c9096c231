package archive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// CatalogueName is the file at the root of an archive that has one line for
// each recording. It opens by name and is not listed.
const CatalogueName = "recordings.jsonl"

// A Summary is what is known of a recording without decoding it: from its
// header, and from its index.json if that was made before. A null is not known.
type Summary struct {
	Path       string   `json:"path"`
	PathHex    string   `json:"path_hex,omitempty"` // if the path is not UTF-8
	Format     string   `json:"format"`
	Start      *string  `json:"start"` // RFC 3339
	DurationMS *int64   `json:"duration_ms"`
	Ticks      *int64   `json:"ticks"`
	Map        *string  `json:"map"` // or world
	Players    []string `json:"players"`
	Size       int64    `json:"size"`
	Modified   string   `json:"modified"`
	Complete   *bool    `json:"complete"`
	Finished   *bool    `json:"finished"`
	Problems   *int64   `json:"problems"`
	Error      string   `json:"error,omitempty"` // it does not open, or could not be read this time
}

// Unread tells whether the error is of reading, which may be better next
// time. Without a Format there is then a directory or file of which nothing
// is known.
func (s *Summary) Unread() bool { return s.Error != "" && s.Complete == nil }

// Summaries returns the recordings below dir, an archive or a directory of
// one, in the order of a walk, with paths relative to dir. What was found in
// a whole archive is kept in the disk cache, so that the next time only what
// is new or changed is opened.
func Summaries(ctx context.Context, dir nodes.Dir) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		found, err := surveyOf(ctx, dir)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		for _, r := range found.records {
			for line := range strings.Lines(r.lines) {
				var s Summary
				err := json.Unmarshal([]byte(line), &s)
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

func surveyOf(ctx context.Context, dir nodes.Dir) (*survey, error) {
	dir, err := actual(ctx, dir)
	if err != nil {
		return nil, err
	}
	switch d := dir.(type) {
	case folder:
		return d.a.catalogue(ctx, d)
	case memberDir:
		return d.d.a.catalogue(ctx, d)
	case recording:
		return d.a.catalogue(ctx, d)
	case containerDir:
		return d.a.catalogue(ctx, d)
	}
	return nil, errors.ErrUnsupported
}

// A catalogueFile is recordings.jsonl as it was at one moment. It is a value,
// equal to another of the same content; that is in the cache, and made again
// when it was put out of it.
type catalogueFile struct {
	a    *archive
	sum  [sha256.Size]byte
	size int64
}

func (f catalogueFile) Size(context.Context) (int64, error) { return f.size, nil }

func (f catalogueFile) Open(ctx context.Context) (nodes.Content, error) {
	s, err := f.a.surveys.Get(ctx, f.sum)
	if err != nil {
		return nil, err
	}
	return s.content(), nil
}

// loadSurvey returns a survey that was put out of the cache, as long as it
// still holds.
func (a *archive) loadSurvey(ctx context.Context, sum [sha256.Size]byte) (*survey, int64, error) {
	s, err := a.catalogue(ctx, folder{a, "."})
	if err != nil {
		return nil, 0, err
	}
	if s.sum != sum {
		return nil, 0, source.Stale(CatalogueName)
	}
	return s, s.cost(), nil
}

// catalogueEntry returns the entry of recordings.jsonl.
func (a *archive) catalogueEntry(ctx context.Context) (nodes.Entry, error) {
	s, err := a.catalogue(ctx, folder{a, "."})
	if err != nil {
		return nodes.Entry{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown != s.sum {
		a.shown, a.shownTime = s.sum, time.Now()
	}
	return nodes.Entry{Name: CatalogueName, Attr: nodes.Attr{Time: a.shownTime, Rights: nodes.Private(0o600)}, File: catalogueFile{a, s.sum, s.size}}, nil
}

// A record is what the catalogue has of a path.
type record struct {
	path    string
	stamp   formats.Stamp
	pending string // the names, pendingSep between them, of what on disk would tell more
	lines   string // of recordings.jsonl: of a container all that it holds
	open    bool   // the lines are still to be made, or say what may pass
}

// pendingSep is in no name of a file on disk.
const pendingSep = "\x00"

// catalogueCache is the memory for opening recordings to summarise them.
const catalogueCache = 8 << 20

// catalogue returns what is known below dir, a directory of a: of the whole
// archive if that is all of it.
func (a *archive) catalogue(ctx context.Context, dir nodes.Dir) (*survey, error) {
	select {
	case a.scanning <- struct{}{}:
		defer func() { <-a.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	whole := dir == nodes.Dir(folder{a, "."})
	if s, ok := a.surveys.Peek(a.last); ok && whole && s.holds(a) {
		return s, nil
	}
	s := a.newScan()
	defer s.c.Close()
	if whole {
		s.old = a.lastSurvey()
	}
	if err := s.dir(ctx, dir, ""); err != nil {
		return nil, err
	}
	err := s.summarise(ctx)
	if whole && s.nothingNew() {
		return a.keep(s.old.renewed(s)), nil
	}
	found := newSurvey(s.records).renewed(s)
	if whole && (s.changed || s.taken != len(s.old.records)) {
		a.save(found)
	}
	switch {
	case err != nil:
		return nil, err
	case whole:
		return a.keep(found), nil
	}
	return found, nil
}

// newScan returns a scan that finds nothing yet.
func (a *archive) newScan() *scan {
	s := &scan{a: a, watch: watchlist{began: time.Now()}}
	var disk cache.Store
	if a.opt.Disk != nil {
		disk, s.saved, s.state = a.opt.Disk, a.opt.Disk.Lookup(), a.opt.Disk.State()
	}
	s.c = cache.New(catalogueCache, disk)
	return s
}

// lastSurvey returns what was known of the whole archive last, in memory or
// on disk.
func (a *archive) lastSurvey() *survey {
	if s, ok := a.surveys.Peek(a.last); ok {
		return s
	}
	return a.loadSaved()
}

// keep remembers what is known of the whole archive now.
func (a *archive) keep(s *survey) *survey {
	if old, ok := a.surveys.Peek(s.sum); !ok || old != s {
		a.surveys.Put(s.sum, s, s.cost())
	}
	a.last = s.sum
	return s
}
