// Package catalogue tells what is known of the recordings of an archive without decoding them.
package catalogue

import (
	"context"
	"path"
	"sync"
	"sync/atomic"

	"recfs/cache"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
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
	opt.Indexed = k.Keep
	return k
}

// Close ends the walks that nobody waits for. What they have found is kept on disk.
func (c *Catalogue) Close() {
	c.end()
	c.walks.Wait()
}

// Keep keeps what a recording that has an index says, on disk if there is a cache there.
func (c *Catalogue) Keep(ctx context.Context, r archive.Recording) {
	if c.disk != nil && !cache.IsSavedOnly(ctx) {
		_, _ = c.digests.Get(ctx, r) // without it the catalogue knows less
	}
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
