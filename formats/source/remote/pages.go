package remote

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/cache"
	"recfs/nodes"
)

const (
	pageWork  = 512 << 10 // bytes that a page takes until its names are known
	maxDoubts = 4         // folders that are asked for after a page
)

// newListing returns the listing of a folder of which nothing is known yet.
func (s *Server) newListing(dir string, turn int64) *listing {
	return &listing{dir: dir, turn: turn, inOrder: s.tellsAll(), goOn: s.goOn, busy: make(chan struct{}, 1)}
}

// key is that of the listing in lists.
func (l *listing) key() listKey { return listKey{dir: l.dir, turn: l.turn} }

// loadList lists a folder for the Memo. If nobody answers, what was there is shown on.
func (s *Server) loadList(ctx context.Context, k listKey) (*listing, int64, error) {
	l := s.newListing(k.dir, k.turn)
	var err error
	if k.flat {
		err = s.walk(ctx, k)
	} else {
		err = s.turnPage(ctx, l)
	}
	if errors.Is(err, nodes.ErrUnavailable) && !k.flat {
		if before := s.before(k.dir); before != nil {
			s.latest.Swap(k.dir, k.turn)
			s.shownOn(s.url(k.dir), err)
			return before, before.Cost(), nil
		}
	}
	if err != nil {
		return nil, 0, err
	}
	s.renewed()
	if before := s.inTurn.Swap(k.turn); before != k.turn {
		s.listed.Store(time.Now().UnixMilli())
	}
	return l, l.Cost(), nil
}

// known returns what is in memory of the names of a folder, nil: nothing.
func (s *Server) known(dir string, turn int64) *listing {
	l, _ := s.lists.Peek(listKey{dir: dir, turn: turn})
	return l
}

// before returns the last listing of a folder, nil: it is not known.
func (s *Server) before(dir string) *listing {
	turn, _ := s.latest.Get(dir)
	return s.known(dir, turn)
}

// learned remembers when a folder was listed, and tells of names that cannot be shown.
func (s *Server) learned(l *listing) {
	turn, _ := s.latest.Get(l.dir)
	before := s.known(l.dir, turn)
	if l.turn >= turn && (l.complete || before == nil || !before.reaches(math.MaxInt)) {
		s.latest.Swap(l.dir, l.turn)
	}
	if l.odd.n == 0 {
		return
	}
	if before, _ := s.told.Swap(l.dir, l.odd.n); before != l.odd.n {
		s.log.Warn("names that cannot be shown", "url", s.url(l.dir), "names", l.odd.n, "first", l.odd.first)
	}
}

// folder returns the names of a folder, of which one page is there at least.
func (s *Server) folder(ctx context.Context, dir string) (*listing, error) {
	return s.lists.Get(ctx, listKey{dir: dir, turn: s.turn()})
}

// all returns all names of a folder. If nobody answers, what was there is shown on.
func (s *Server) all(ctx context.Context, dir string) (*listing, error) {
	l, err := s.folder(ctx, dir)
	if err == nil {
		err = l.Reach(ctx, math.MaxInt)
	}
	if errors.Is(err, nodes.ErrUnavailable) {
		if before := s.before(dir); before != nil && before.reaches(math.MaxInt) {
			s.shownOn(s.url(dir), err)
			return before, nil
		}
	}
	return l, err
}

// goOn asks for one more page of a folder of which n names are wanted, or first for folders that
// could come before those of the last page.
func (s *Server) goOn(ctx context.Context, l *listing, n int) error {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.reaches(n) { // somebody else has asked
		return nil
	}
	for asked := 0; n < math.MaxInt && s.tellsAll(); asked++ {
		name, isStuck := l.settleNow()
		if l.reaches(n) {
			return nil
		}
		if !isStuck || asked == maxDoubts {
			break
		}
		if err := s.clear(ctx, l, name); err != nil {
			return err
		}
	}
	held, err := cache.Charge(ctx, pageWork)
	if err != nil {
		return err
	}
	defer held.Free()
	if err := s.turnPage(ctx, l); err != nil {
		return err
	}
	if now := s.known(l.dir, l.turn); now == nil || now == l {
		s.lists.Put(l.key(), l, l.Cost())
	}
	return nil
}

// settleNow settles what came, and returns the first name that could come later if no name of the
// last page is known for that.
func (l *listing) settleNow() (name string, isStuck bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	name, isDoubt := l.doubt()
	return name, isDoubt && l.known == l.before
}

// clear finds out whether a folder of a name will come.
func (s *Server) clear(ctx context.Context, l *listing, name string) error {
	isFolder := false
	if !s.isHidden(l.dir, name) {
		below, err := s.lists.Get(ctx, listKey{dir: l.dir + name + "/", turn: l.turn})
		if err != nil {
			return err
		}
		isFolder = !below.isEmpty()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.last; isFolder {
		l.add(name, "", sizeFolder, 0)
		l.last = last // it comes again
	}
	l.settled[name] = true
	return nil
}

// turnPage asks for a page.
func (s *Server) turnPage(ctx context.Context, l *listing) error {
	var page []object
	next, err := s.page(ctx, l.dir, l.next, false, func(name, tag string, size, modified int64) {
		if name != "" && !s.isHidden(l.dir, name) {
			page = append(page, object{name, tag, size, modified})
		}
	})
	if err != nil {
		return err
	}
	isFirst, at := l.seen == nil, xxhash.Sum64String(next)
	switch {
	case l.seen[at]:
		return strange(s.url(l.dir), "the listing does not go on")
	case len(l.seen) == maxPages, l.Cost() > s.maxListing:
		return strange(s.url(l.dir), "the listing has no end")
	}
	l.mu.Lock()
	l.before = l.known
	for _, o := range page {
		l.add(o.key, o.tag, o.size, o.modified)
	}
	switch {
	case next == "":
		l.seal()
	case isFirst:
		l.seen, l.settled = map[uint64]bool{}, map[string]bool{}
		l.settle()
		l.describe()
		fallthrough
	default:
		l.next, l.seen[at] = next, true
	}
	l.mu.Unlock()
	if isFirst || l.complete {
		s.learned(l)
	}
	return nil
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
	open []*listing
}

func (w *walker) enter(dir string) {
	w.open = append(w.open, &listing{dir: dir, turn: w.turn, inOrder: true}) // nobody asks for more
}

// cost is the memory of the open folders.
func (w *walker) cost() (n int64) {
	for _, l := range w.open {
		n += l.Cost()
	}
	return n
}

// leave ends the folders in which a key does not lie; "" is behind all keys.
func (w *walker) leave(key string) {
	for n := len(w.open) - 1; n >= 0; n-- {
		l := w.open[n]
		if key != "" && strings.HasPrefix(key, l.dir) {
			return
		}
		w.open = w.open[:n]
		l.seal()
		w.s.learned(l)
		w.s.lists.Put(l.key(), l, l.Cost())
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
		case w.s.isHidden(in.dir, name):
		case !below && name != "":
			in.add(name, tag, size, modified)
		case below && !isName(name):
			in.odd.add(key)
		case below:
			in.add(name, "", sizeFolder, 0)
			w.enter(in.dir + name + "/")
			if rest != "" {
				continue
			}
		}
		return
	}
}
