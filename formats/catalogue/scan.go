package catalogue

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/nodes"
)

// A scan finds the recordings of an archive, and opens those of which it is
// not known from before what there is to know.
type scan struct {
	c        *Catalogue
	view     *archive.Archive
	inner    bool                   // of what a container holds
	old      *ledger.Cursor         // in what was known before; nil: nothing was
	oldState string                 // of the disk cache then
	saved    func(name string) bool // what is in the disk cache, if there is one
	state    string                 // of the disk cache
	cache    *cache.Cache
	found    *ledger.Writer
	queue    []item // not in found yet, as it holds tasks
	tasks    int
	failed   error // of reading what was known before
	watch    watchlist
	tell     func(*ledger.List, []ledger.Record) // hears now and then what was found so far; may be nil
	told     time.Time
}

// catalogueCache is the memory for opening recordings to summarise them.
const catalogueCache = 8 << 20

// newScan returns a scan that finds nothing yet.
func (c *Catalogue) newScan(view *archive.Archive, sink *ledger.Sink) *scan {
	s := &scan{c: c, view: view, found: ledger.NewWriter(sink), watch: watchlist{began: time.Now()}}
	var disk cache.Store
	if c.disk != nil {
		disk, s.saved, s.state = c.disk, c.disk.Lookup(), c.disk.State()
	}
	s.cache = c.cache.Part(catalogueCache, disk)
	return s
}

// tellEvery is how often a scan tells what it has found.
const tellEvery = 200 * time.Millisecond

// An item is a record on its way to what was found.
type item struct {
	ledger.Record
	at    *ledger.Cursor // where it is in what was known before; nil: it is new
	dir   nodes.Dir      // to open; nil: there is nothing to open
	holds *ledger.Writer // what a container holds
}

// What is found is opened manyTasks at a time, so that what was looked up to open it need not be
// there for all at once. No more than manyItems wait for that.
const (
	manyTasks = 64
	manyItems = 4096
)

// add adds what was found next.
func (s *scan) add(it item) {
	it.Inner = s.inner
	if it.dir != nil {
		s.tasks++
	}
	if s.tasks > 0 {
		s.queue = append(s.queue, it)
		return
	}
	s.put(it)
}

// put puts an item into what was found. Of a container only what says something is kept, as all of
// it is looked at or nothing.
func (s *scan) put(it item) {
	if it.Line != "" {
		s.c.looked.Add(1)
	}
	switch {
	case it.at != nil:
		s.found.Keep(it.at)
	case !s.inner || it.Line != "" || it.Pending != "" || it.Open || it.Unlisted:
		s.found.Append(it.Record)
	}
	if it.holds != nil {
		s.found.Join(it.holds)
	}
	if s.tell != nil && time.Since(s.told) >= tellEvery {
		s.tell(s.found.SoFar())
		s.told = time.Now()
	}
}

// unreadable adds the line of what could not be read this time, and fails if that was because ctx
// ended.
func (s *scan) unreadable(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.add(item{Record: ledger.Record{Path: at, Line: unreadableLine(at, err), Open: true}})
	return nil
}

// leave ends a scan that failed: what was known before stays, also of what it has not come to.
func (s *scan) leave() {
	for _, it := range s.queue {
		if it.at != nil {
			s.put(it)
		}
	}
	s.found.KeepRest(s.old)
}

// all finds what dir, which is called at, is or holds.
func (s *scan) all(ctx context.Context, dir nodes.Dir, at string) error {
	if err := s.dir(ctx, dir, at); err != nil {
		return err
	}
	return s.summarise(ctx)
}

// dir adds what dir, which is called at, is or holds.
func (s *scan) dir(ctx context.Context, dir nodes.Dir, at string) error {
	if name, ok := archive.FolderOf(dir); ok {
		if err := s.view.Walk(ctx, name); err != nil {
			return err
		}
		return s.folder(ctx, name, at)
	}
	if r, ok := archive.RecordingOf(dir); ok {
		if files, ok := r.Segments(); ok {
			s.watch.folder(ctx, s.view, r.Path())
			s.watch.segments(files)
		}
		s.addDir(ctx, at, r.Stamp(), dir)
	}
	if c, ok := archive.ContainerOf(dir); ok {
		s.addDir(ctx, at, c.Stamp(), dir)
	}
	return nil
}

// folder adds what is below dir of the source, which is called at in the mount.
func (s *scan) folder(ctx context.Context, dir, at string) error {
	s.watch.folder(ctx, s.view, dir)
	names, err := s.view.Names(ctx, dir)
	if err != nil {
		if at == "" {
			return err
		}
		return s.unreadable(ctx, at, err) // it hides no other
	}
	for i := range names.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, typ := names.At(i)
		if err := s.entry(ctx, path.Join(at, name), dir, name, typ); err != nil {
			return err
		}
		if s.tasks < manyTasks && len(s.queue) < manyItems {
			continue
		}
		if err := s.summarise(ctx); err != nil {
			return err
		}
	}
	return nil
}

// entry adds what the entry called name in dir is or holds.
func (s *scan) entry(ctx context.Context, at, dir, name string, typ iofs.FileMode) error {
	switch typ {
	case 0:
		return s.file(ctx, at, dir, name)
	case iofs.ModeSymlink:
		return nil // what it leads to is found where it is
	}
	e, err := s.view.Lookup(ctx, dir, name)
	if err != nil {
		return s.unreadable(ctx, at, err)
	}
	return s.dir(ctx, e.Dir, at)
}

// file adds a file. What the catalogue knows of this version of it need not
// be opened to learn what it is.
func (s *scan) file(ctx context.Context, at, dir, name string) error {
	if s.view.IsPlain(name) {
		return nil
	}
	inSource := path.Join(dir, name)
	info, err := s.view.Stat(ctx, inSource)
	if err != nil {
		return s.unreadable(ctx, at, err)
	}
	if info.Type != 0 {
		return nil
	}
	v := info.Version
	s.watch.file(inSource, v)
	if s.known(ctx, at, inSource, v.Stamp) {
		return nil
	}
	e, err := s.view.File(ctx, inSource, info)
	if err != nil {
		return s.unreadable(ctx, at, err)
	}
	if e.Dir != nil {
		s.add(item{Record: ledger.Record{Path: at, Stamp: v.Stamp, Open: true}, dir: e.Dir})
		return nil
	}
	s.add(item{Record: ledger.Record{Path: at, Stamp: v.Stamp}})
	return nil
}

// known takes over what was known before of what lies at inSource, if that is all there is to know.
func (s *scan) known(ctx context.Context, at, inSource string, stamp formats.Stamp) bool {
	if s.old == nil || s.old.Seek(ctx, at) != nil {
		return false
	}
	r, err := s.old.Record(ctx)
	if err != nil || r == nil || r.Path != at || r.Inner || !stamp.Same(r.Stamp) || !stamp.Time().Equal(r.Stamp.Time()) ||
		besideChanged(ctx, s.view, inSource, r.Beside) || !s.allKnown(ctx) {
		return false
	}
	for first := true; ; first = false {
		r, err := s.old.Record(ctx)
		if err != nil && !first {
			s.failed = err // what is in a container is taken as a whole
		}
		if err != nil || r == nil || !r.Inner && !first {
			return true
		}
		s.add(item{Record: *r, at: new(*s.old)})
		s.old.Next()
	}
}

// allKnown reports whether nothing more is to be known of the record that the cursor is at, and of
// what is in it.
func (s *scan) allKnown(ctx context.Context) bool {
	c := *s.old
	for first := true; ; first = false {
		r, err := c.Record(ctx)
		switch {
		case err != nil:
			return false
		case r == nil, !r.Inner && !first:
			return true
		case r.Open, s.savedSince(r):
			return false
		}
		c.Next()
	}
}

// savedSince tells whether the disk cache may have what a record waits for, where that was not
// looked for since it changed.
func (s *scan) savedSince(r *ledger.Record) bool {
	return r.Pending != "" && s.saved != nil && s.state != s.oldState &&
		(s.saved(r.Pending) || !r.Inner && formats.Awaits(s.c.disk, r.Pending, r.Stamp.Size))
}

// addDir adds a recording or a container that is no file of the source or was not looked for yet.
func (s *scan) addDir(ctx context.Context, at string, stamp formats.Stamp, dir nodes.Dir) {
	if !s.known(ctx, at, "", stamp) { // nothing beside a directory counts
		s.add(item{Record: ledger.Record{Path: at, Stamp: stamp, Open: true}, dir: dir})
	}
}

// summarise opens the recordings of which too little is known.
func (s *scan) summarise(ctx context.Context) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), s.tasks) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(s.queue)) {
					return
				}
				if it := &s.queue[i]; it.dir != nil {
					s.open(ctx, it)
				}
			}
		})
	}
	wg.Wait()
	for _, it := range s.queue {
		s.put(it)
	}
	clear(s.queue)
	s.queue, s.tasks = s.queue[:0], 0
	return cmp.Or(s.failed, ctx.Err())
}

// open makes the record of a recording or container.
func (s *scan) open(ctx context.Context, it *item) {
	if rec, ok := archive.RecordingOf(it.dir); ok {
		s.summary(ctx, &it.Record, rec)
	} else if c, ok := archive.ContainerOf(it.dir); ok {
		s.members(ctx, it, c)
	}
}

// summary makes the line of a recording, and says what on disk would tell more than the line does.
// If the recording could not be read this time the line says so, and is not one to keep.
func (s *scan) summary(ctx context.Context, known *ledger.Record, r archive.Recording) {
	var d digest
	err := s.c.cache.Do(ctx, digestPeak, func(ctx context.Context) error {
		d = digestOf(cache.SavedOnly(ctx), r, s.cache)
		return ctx.Err()
	})
	v, at := r.Version(), known.Path
	d.Path, d.Format, d.Size, d.Modified = at, r.Format().Name, v.Size, v.Time().UTC().Format(time.RFC3339Nano)
	d.PathHex = formats.HexOf(at)
	known.Line, known.Outcome, known.Open = d.line(), d.Outcome.text(), d.unread || err != nil
	known.Tables, known.Beside, known.Pending = d.tables, d.beside, d.pending
	if d.Error == "" {
		known.Format, known.Indexed = d.Format, d.Indexed
	}
}

// members makes the record of a container, with a line if it is damaged, and those of all that it
// holds.
func (s *scan) members(ctx context.Context, it *item, c archive.Container) {
	r := &it.Record
	r.Open = false
	ctxSaved := cache.SavedOnly(ctx)
	problems, err := c.Problems(ctxSaved)
	var dir nodes.Dir
	if err == nil {
		dir, err = c.Resolve(ctxSaved)
	}
	if missing, ok := errors.AsType[*cache.NotSavedError](err); ok {
		r.Pending, r.Unlisted = missing.Name, true
		return
	}
	if err != nil {
		r.Line, r.Open = unreadableLine(r.Path, err), true
		return
	}
	r.Line = containerLine(r.Path, c, problems)
	if _, ok := archive.FolderOf(dir); !ok { // it does not open
		return
	}
	view, _ := archive.Of(dir)
	inner := &scan{c: s.c, view: view, cache: s.cache, inner: true, found: s.found.Beside()}
	if inner.all(ctx, dir, r.Path) != nil {
		r.Line, r.Open = "", true
		return
	}
	it.holds = inner.found
}

// renewed returns what is known as of the time of a scan.
func (s *scan) renewed(list *ledger.List) *survey {
	r := &survey{file{list, s.c.pages}, time.Now(), s.state, s.watch}
	r.watch.ended = r.since
	return r
}
