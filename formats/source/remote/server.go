package remote

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"recfs/cache"
)

// A protocol is how a kind of server is asked. Folders are "" or end with a slash.
type protocol interface {
	// page calls add for the names of a page of a folder, or with flat for the keys of all that lies
	// below it, in their order. It begins where the page before said, and says where the next one
	// begins, "" behind the last.
	page(ctx context.Context, dir, from string, flat bool, add addFunc) (next string, err error)
	// look returns what stands under a key.
	look(ctx context.Context, key string) (looked, error)
	// get returns a request for n bytes of an object from off, or for all if that is so.
	get(ctx context.Context, o object, off, n int64) (*http.Request, error)
	// url names a key as the user does.
	url(key string) string
	// missing returns the error of a URL, as the user wrote it, under which there is nothing.
	missing(url string) error
	// place names a folder for what is kept of it on disk.
	place(dir string) string
	// tellsAll reports whether what a listing does not have is not there, and a walk can be listed
	// flat.
	tellsAll() bool
	// wholeFiles reports whether files are taken whole where parts cannot be had.
	wholeFiles() bool
}

type addFunc func(key, tag string, size, modified int64)

// looked is what stands under a name.
type looked struct {
	object
	isFile, isDir bool
	unsure        bool // there may be a folder of the name all the same
	isPage        bool // it is a file of HTML, or the page of a folder
}

// A Server is a bucket or a web server. All Trees of it share what is known of it.
type Server struct {
	protocol
	*client
	turns  turns
	log    *slog.Logger
	hidden []string // keys that are not shown

	maxListing int64 // bytes of memory of a folder's names

	inTurn  atomic.Int64 // the turn of the last listing
	listed  atomic.Int64 // milliseconds since 1970 when the oldest listing that still is shown was made
	old     atomic.Int64 // milliseconds since 1970 since which names cannot be renewed, 0: they can
	lists   *cache.Memo[listKey, *listing]
	looks   *cache.Memo[lookKey, looked]
	latest  *cache.Recent[string, int64] // turn in which a folder was listed or a key asked for last
	singles *cache.Recent[string, int]   // how many single names of a folder were asked for
	told    *cache.Recent[string, int]   // names of a folder that cannot be shown, as the log knows
	objects *cache.Memo[blockKey, []byte]
	wholes  *cache.LRU[object, *os.File]
	fetches *fetches

	mu     sync.Mutex
	aheads map[lookKey]bool // look-ups on their way that nobody waits for yet
}

const (
	maxLatest = 1 << 16
	maxPages  = 20_000  // of a folder, each of 1,000 names on most servers
	maxWalk   = 1 << 20 // pages of all that lies below one
)

// A listKey is a folder in a turn: for the time to live what is known of it holds.
type listKey struct {
	dir  string
	turn int64
	flat bool // all that lies below it, of which the value says nothing
}

type lookKey struct {
	key  string
	turn int64
}

// Hide leaves out what stands under a key, which may be a folder. Nothing is asked before that.
func (s *Server) Hide(key string) { s.hidden = append(s.hidden, key) }

func (s *Server) isHidden(dir, name string) bool {
	return slices.ContainsFunc(s.hidden, func(key string) bool {
		rest, ok := strings.CutPrefix(key, dir)
		return ok && rest == name
	})
}

// turn is the number of the time to live that it is.
func (s *Server) turn() int64 { return s.turns.now() }

// shownOn tells since when names are shown that nobody could renew.
func (s *Server) shownOn(url string, err error) {
	if s.old.CompareAndSwap(0, time.Now().UnixMilli()) {
		s.log.Warn("names are shown as they were, as they cannot be renewed", "url", url, "err", err)
	}
}

// renewed ends what shownOn began.
func (s *Server) renewed() {
	if since := s.old.Swap(0); since != 0 {
		s.log.Info("names can be renewed again", "url", s.url(""), "since", time.UnixMilli(since))
	}
}

// splitKey returns the folder of a key, with its slash, and the name in it.
func splitKey(key string) (dir, name string) {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i], key[i:]
}

// turns number the times to live. What was listed in one holds in it.
type turns struct {
	ttl time.Duration // 0: each look-up is a turn

	mu    sync.Mutex
	n     int64
	end   time.Time // of the turn that it is
	walks int       // that are under way, for which it lasts longer
}

// now returns the number of the turn that it is.
func (t *turns) now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number()
}

// number is now with the lock held.
func (t *turns) number() int64 {
	if now := time.Now(); t.ttl <= 0 || t.walks == 0 && !now.Before(t.end) {
		t.n++
		t.end = now.Add(t.ttl)
	}
	return t.n
}

// hold makes the turn last until release, and then for twice as long as that took: a walk may take
// longer than the time to live, and what it listed is looked at next.
func (t *turns) hold() (turn int64, release func()) {
	began := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	turn = t.number()
	t.walks++
	return turn, func() {
		now := time.Now()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.walks--
		if end := now.Add(2 * now.Sub(began)); end.After(t.end) {
			t.end = end
		}
	}
}

// Stats are what was asked of a server, as stats.json tells it.
type Stats struct {
	Source   string `json:"source"`
	Requests struct {
		List  int64 `json:"list"`
		Head  int64 `json:"head"`
		Range int64 `json:"range"`
		Get   int64 `json:"get"`
		Put   int64 `json:"put"`
	} `json:"requests"`
	Bytes         int64      `json:"bytes"` // of all answers
	Retries       int64      `json:"retries"`
	Errors        int64      `json:"errors"`
	InFlight      int64      `json:"in_flight"`
	Blocks        int64      `json:"blocks"` // that came, kept or not
	BlockBytes    int64      `json:"block_bytes"`
	OldestListing float64    `json:"oldest_listing_seconds"`
	Unreachable   *time.Time `json:"unreachable_since"`
}

// Stats returns what was asked of the server until now.
func (s *Server) Stats() Stats {
	r := Stats{
		Source: s.url(""), Bytes: s.Bytes.Load(), Retries: s.Retries.Load(), Errors: s.Errors.Load(),
		InFlight: s.InFlight.Load(), Blocks: s.fetches.blocks.Load(), BlockBytes: s.fetches.bytes.Load(),
	}
	r.Requests.List, r.Requests.Head, r.Requests.Range = s.List.Load(), s.Head.Load(), s.Range.Load()
	r.Requests.Get, r.Requests.Put = s.Get.Load(), s.Put.Load()
	if listed := s.listed.Load(); listed != 0 {
		r.OldestListing = time.Since(time.UnixMilli(listed)).Round(time.Millisecond).Seconds()
	}
	if old := s.old.Load(); old != 0 {
		r.Unreachable = new(time.UnixMilli(old))
	}
	if o := s.outage.Load(); o != nil && (r.Unreachable == nil || o.since.Before(*r.Unreachable)) {
		r.Unreachable = &o.since
	}
	return r
}
