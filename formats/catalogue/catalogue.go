// Package catalogue tells what is known of the recordings of an archive without decoding them.
package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
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

// tablesName is the directory of a recording with its tables (docs/tree/tables.md), and the one at
// the root of an archive, not listed, that shows the tables of all recordings by kind.
const tablesName = "tables"

// A Catalogue keeps what is known of the recordings of archives that share a cache.
type Catalogue struct {
	cache   *cache.Cache
	disk    *cache.Disk // may be nil
	sniff   bool
	looked  atomic.Int64
	pages   *ledger.Pages
	lines   *cache.Memo[*ledger.Block, []Line]
	mounted atomic.Pointer[string]

	walks   sync.WaitGroup // that nobody waits for
	walking context.Context
	end     context.CancelFunc // of walking
}

// New returns the catalogue of archives that are opened with c and opt.
func New(c *cache.Cache, opt archive.Options) *Catalogue {
	k := &Catalogue{cache: c, disk: opt.Disk, sniff: opt.Sniff, pages: ledger.NewPages(c)}
	k.lines = newLines(c, k.pages)
	k.walking, k.end = context.WithCancel(context.Background())
	return k
}

// Close ends the walks that nobody waits for. What they have found is kept on disk.
func (c *Catalogue) Close() {
	c.end()
	c.walks.Wait()
}

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

// savedName names the catalogue in the disk cache; "": there is none.
func (c *Catalogue) savedName(view *archive.Archive) string {
	if c.disk == nil || view.ID() == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, view.ID(), c.sniff)
	for _, f := range view.Formats() {
		fmt.Fprintln(h, f.Name, f.Extensions, f.Variant)
	}
	return fmt.Sprintf("catalogue %x %x", layout, h.Sum(nil))
}

// saveEvery is how often a process saves the catalogue on disk. What changed
// since is opened again by the next one.
const saveEvery = time.Minute

// loadSaved returns the catalogue on disk, that which others share if there is none, or an empty
// one.
func (c *Catalogue) loadSaved(ctx context.Context, view *archive.Archive) *survey {
	list := view.Formats()
	sound := func(records []ledger.Record) bool {
		return !slices.ContainsFunc(records, func(r ledger.Record) bool { return !soundRecord(&r, list) })
	}
	saved := ledger.Load(c.disk, c.savedName(view), sound)
	if saved.Blocks() == 0 && c.savedName(view) != "" {
		saved = c.loadShared(ctx, view, sound)
	}
	return &survey{file: file{saved, c.pages}}
}

// loadShared returns the catalogue that others share, and keeps it on disk.
func (c *Catalogue) loadShared(ctx context.Context, view *archive.Archive, sound func([]ledger.Record) bool) *ledger.List {
	var parts []*ledger.List
	for _, name := range c.disk.FetchParts(ctx) {
		if l := ledger.Load(c.disk, name, sound); l.Blocks() > 0 {
			parts = append(parts, l)
		}
	}
	sink := ledger.NewSink(c.disk, c.savedName(view))
	defer sink.Close()
	all, err := ledger.Merge(ctx, sink, c.pages, parts, func(a, b *ledger.Record) bool { return a.Indexed && !b.Indexed })
	if err != nil || len(parts) == 0 {
		return ledger.Load(nil, "", nil)
	}
	return sink.Save(all, true)
}

// OpenSaved opens the file that the catalogue of an archive is kept in; io/fs.ErrNotExist: it is
// not.
func (c *Catalogue) OpenSaved(ctx context.Context, dir nodes.Dir) (*cache.LocalFile, error) {
	now, err := archive.Current(ctx, dir)
	if err != nil {
		return nil, err
	}
	view, ok := archive.Of(now)
	if !ok || c.savedName(view) == "" {
		return nil, iofs.ErrNotExist
	}
	return c.disk.Open(c.savedName(view))
}

// soundRecord reports whether a scan can have made a saved record, with the line of the recording
// at its path. The checksum does not prove that, as anybody who can write to the cache can make
// one. Nothing is shown of an open record.
func soundRecord(r *ledger.Record, list []formats.Format) bool {
	if r.Open || r.Line == "" {
		return r.Open || r.Outcome == "" && r.Beside == "" && r.Tables == nil
	}
	var s Summary
	if !strings.HasSuffix(r.Line, "\n") || strings.Count(r.Line, "\n") != 1 || json.Unmarshal([]byte(r.Line), &s) != nil || !s.sound(list) {
		return false
	}
	outcome, err := outcomeOf(r.Outcome)
	opens := s.Error == ""
	return s.Place() == r.Path && iofs.ValidPath(strings.ToValidUTF8(r.Path, "_")) && err == nil && soundRunners(outcome.Runners) &&
		soundTables(r.Tables) && (opens && r.Format == s.Format || !opens && r.Format == "" && r.Tables == nil) && r.Indexed == (opens && s.Indexed)
}

// sound reports whether a summary is of a format of the list or of a damaged container, and counts
// what can be counted.
func (s *Summary) sound(list []formats.Format) bool {
	known := slices.ContainsFunc(list, func(f formats.Format) bool { return f.Name == s.Format })
	return (known || s.IsContainer()) &&
		s.Size >= 0 && (s.Problems == nil || *s.Problems >= 0)
}
