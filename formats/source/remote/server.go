package remote

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
	"recfs/nodes"
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
	dir   string
	turn  int64
	first bool // its first page alone
	flat  bool // all that lies below it, of which the value says nothing
}

type lookKey struct {
	key  string
	turn int64
}

func newServer(p protocol, cl *client, c *cache.Cache, opt Options) *Server {
	s := &Server{
		protocol: p, client: cl, turns: turns{ttl: opt.TTL}, log: opt.Log,
		latest: cache.NewRecent[string, int64](maxLatest), singles: cache.NewRecent[string, int](maxLatest),
		told: cache.NewRecent[string, int](maxLatest), wholes: newWholes(), aheads: map[lookKey]bool{}, maxListing: 1 << 30,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.lists = cache.NewMemo(c, s.loadList)
	s.looks = cache.NewMemo(c, s.loadLook)
	s.objects = cache.NewMemo[blockKey, []byte](c, nil)
	s.fetches = newFetches(c)
	return s
}

// Hide leaves out what stands under a key, which may be a folder. Nothing is asked before that.
func (s *Server) Hide(key string) { s.hidden = append(s.hidden, key) }

func (s *Server) isHidden(key string) bool { return slices.Contains(s.hidden, key) }

// turn is the number of the time to live that it is.
func (s *Server) turn() int64 { return s.turns.now() }

// loadList lists a folder for the Memo. If nobody answers, what was there is shown on.
func (s *Server) loadList(ctx context.Context, k listKey) (*listing, int64, error) {
	var l *listing
	var err error
	if k.flat {
		l, err = &listing{}, s.walk(ctx, k)
	} else {
		l, err = s.listFolder(ctx, k)
	}
	if errors.Is(err, nodes.ErrUnavailable) {
		if before, ok := s.before(k); ok {
			s.latest.Swap(k.dir, k.turn)
			s.shownOn(s.url(k.dir), err)
			return before, before.cost(), nil
		}
	}
	if err != nil {
		return nil, 0, err
	}
	s.renewed()
	if before := s.inTurn.Swap(k.turn); before != k.turn {
		s.listed.Store(time.Now().UnixMilli())
	}
	s.learned(k.dir, k.turn, l)
	return l, l.cost() + int64(len(k.dir)), nil
}

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

// before returns the last listing of a folder before a turn, of which only some names may be known.
func (s *Server) before(k listKey) (*listing, bool) {
	turn, _ := s.latest.Get(k.dir)
	l := s.known(k.dir, turn)
	return l, l != nil && (l.complete || k.first)
}

// learned remembers when a folder was listed, and tells of names that cannot be shown.
func (s *Server) learned(dir string, turn int64, l *listing) {
	s.latest.Swap(dir, turn)
	if l.odd.n == 0 {
		return
	}
	if before, _ := s.told.Swap(dir, l.odd.n); before != l.odd.n {
		s.log.Warn("names that cannot be shown", "url", s.url(dir), "names", l.odd.n, "first", l.odd.first)
	}
}

// listFolder lists a folder, or its first page.
func (s *Server) listFolder(ctx context.Context, k listKey) (*listing, error) {
	l := &listing{}
	if !k.first {
		first, ok := s.lists.Peek(listKey{dir: k.dir, turn: k.turn, first: true})
		if ok && first.complete {
			return first, nil
		}
		if ok {
			l.text, l.list = append(l.text, first.text...), append(l.list, first.list...)
			l.next, l.odd = first.next, first.odd
		}
	}
	for seen := map[uint64]bool{}; ; seen[xxhash.Sum64String(l.next)] = true {
		next, err := s.page(ctx, k.dir, l.next, false, func(key, tag string, size, modified int64) {
			if key != "" && !s.isHidden(k.dir+key) {
				l.add(key, tag, size, modified)
			}
		})
		if err != nil {
			return nil, err
		}
		switch {
		case seen[xxhash.Sum64String(next)]:
			return nil, strange(s.url(k.dir), "the listing does not go on")
		case len(seen) == maxPages, l.cost() > s.maxListing:
			return nil, strange(s.url(k.dir), "the listing has no end")
		}
		l.complete, l.next = next == "", next
		if l.complete || k.first {
			l.seal()
			return l, nil
		}
	}
}

// walk lists all that lies below a folder, and remembers the listing of each folder in it.
func (s *Server) walk(ctx context.Context, k listKey) error {
	w := walker{s: s, turn: k.turn}
	w.enter(k.dir)
	for from, pages := "", 0; ; pages++ {
		next, err := s.page(ctx, k.dir, from, true, func(key, tag string, size, modified int64) {
			w.add(k.dir+key, tag, size, modified)
		})
		if err != nil {
			return err
		}
		if next == "" {
			break
		}
		if from = next; pages == maxWalk || w.cost() > s.maxListing {
			return strange(s.url(k.dir), "the listing has no end")
		}
	}
	w.leave("")
	return nil
}

// walked reports whether all below a folder was listed in a turn, with it or with one around it.
func (s *Server) walked(dir string, turn int64) bool {
	for at := dir; ; at, _ = splitKey(strings.TrimSuffix(at, "/")) {
		if _, ok := s.lists.Peek(listKey{dir: at, turn: turn, flat: true}); ok {
			return true
		}
		if at == "" {
			return false
		}
	}
}

// A walker makes the listings of folders out of sorted keys: those that the last key lies in are
// open.
type walker struct {
	s    *Server
	turn int64
	open []openFolder
}

type openFolder struct {
	dir string
	l   *listing
}

func (w *walker) enter(dir string) {
	w.open = append(w.open, openFolder{dir, &listing{complete: true}})
}

// cost is the memory of the open folders.
func (w *walker) cost() (n int64) {
	for _, f := range w.open {
		n += f.l.cost()
	}
	return n
}

// leave ends the folders in which a key does not lie; "" is behind all keys.
func (w *walker) leave(key string) {
	for n := len(w.open) - 1; n >= 0; n-- {
		f := w.open[n]
		if key != "" && strings.HasPrefix(key, f.dir) {
			return
		}
		w.open = w.open[:n]
		f.l.seal()
		w.s.learned(f.dir, w.turn, f.l)
		w.s.lists.Put(listKey{dir: f.dir, turn: w.turn}, f.l, f.l.cost()+int64(len(f.dir)))
	}
}

func (w *walker) add(key, tag string, size, modified int64) {
	w.leave(key)
	if len(w.open) == 0 {
		return // out of order and outside: no server of which the keys are sorted does that
	}
	for {
		in := w.open[len(w.open)-1]
		name, rest, below := strings.Cut(key[len(in.dir):], "/")
		switch {
		case w.s.isHidden(in.dir + name):
		case !below && name != "":
			in.l.add(name, tag, size, modified)
		case below && !isName(name):
			in.l.odd.add(key)
		case below:
			in.l.add(name, "", sizeFolder, 0)
			w.enter(in.dir + name + "/")
			if rest != "" {
				continue
			}
		}
		return
	}
}

// known returns what is in memory of the names of a folder, nil: nothing.
func (s *Server) known(dir string, turn int64) *listing {
	l, ok := s.lists.Peek(listKey{dir: dir, turn: turn})
	if !ok {
		l, _ = s.lists.Peek(listKey{dir: dir, turn: turn, first: true})
	}
	return l
}

// folder returns what is known of a folder of which one page is enough.
func (s *Server) folder(ctx context.Context, dir string) (*listing, error) {
	return s.folderIn(ctx, dir, s.turn())
}

func (s *Server) folderIn(ctx context.Context, dir string, turn int64) (*listing, error) {
	if l := s.known(dir, turn); l != nil {
		return l, nil
	}
	return s.lists.Get(ctx, listKey{dir: dir, turn: turn, first: true})
}

// all returns the names of a folder.
func (s *Server) all(ctx context.Context, dir string) (*listing, error) {
	return s.lists.Get(ctx, listKey{dir: dir, turn: s.turn()})
}

// splitKey returns the folder of a key, with its slash, and the name in it.
func splitKey(key string) (dir, name string) {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i], key[i:]
}
