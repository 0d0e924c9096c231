package catalogue

import (
	"context"
	"encoding/json"
	"errors"
	iofs "io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/source"
	"recfs/nodes"
)

// A scan finds the recordings of an archive, and opens those of which it is
// not known from before what there is to know.
type scan struct {
	c       *Catalogue
	view    archive.View
	old     *survey                // what was known before; may be nil
	place   int                    // in old, where the next one is expected
	saved   func(name string) bool // what is in the disk cache, if there is one
	state   string                 // of the disk cache
	cache   *cache.Cache
	records []record
	taken   int // records that are from before
	todo    []task
	changed bool // there are records to save
	watch   watchlist
}

// A task is a recording or container to open for records[i].
type task struct {
	i   int
	dir nodes.Dir
}

// nothingNew reports whether all is as it was before.
func (s *scan) nothingNew() bool {
	return s.taken == len(s.records) && s.taken == len(s.old.records)
}

// lines returns what was found, and what on disk would tell more.
func (s *scan) lines() (found record) {
	var lines, tables, runs strings.Builder
	var names []string
	for _, r := range s.records {
		lines.WriteString(r.lines)
		tables.WriteString(r.tables)
		runs.WriteString(r.runs)
		if r.pending != "" {
			names = append(names, r.pending)
		}
	}
	found.lines, found.tables, found.runs = lines.String(), tables.String(), runs.String()
	found.pending = strings.Join(names, pendingSep)
	return found
}

// unreadable adds the line of what could not be read this time.
func (s *scan) unreadable(at string, err error) {
	line := unreadableLine(at, err)
	s.records = append(s.records, record{path: at, lines: line, tables: blankLines(line), runs: blankLines(line), open: true})
}

// unreadableLine tells why what is called at could not be read this time,
// unless it is gone.
func unreadableLine(at string, err error) string {
	if source.IsGone(err) || errors.Is(err, nodes.ErrStale) {
		return ""
	}
	line := unreadLine{Path: at, PathHex: formats.HexOf(at), Error: readReason(err)}
	b, err := json.Marshal(line)
	if err != nil {
		return ""
	}
	return string(b) + "\n"
}

// An unreadLine is a Summary of which nothing is known.
type unreadLine struct {
	Path       string    `json:"path"`
	PathHex    string    `json:"path_hex,omitempty"`
	Format     *struct{} `json:"format"`
	Indexed    bool      `json:"indexed"`
	Start      *struct{} `json:"start"`
	DurationMS *struct{} `json:"duration_ms"`
	Ticks      *struct{} `json:"ticks"`
	Map        *struct{} `json:"map"`
	Players    *struct{} `json:"players"`
	Size       *struct{} `json:"size"`
	Modified   *struct{} `json:"modified"`
	Complete   *struct{} `json:"complete"`
	Finished   *struct{} `json:"finished"`
	Problems   *struct{} `json:"problems"`
	Error      string    `json:"error"`
}

// readReason is why something could not be read, without its path.
func readReason(err error) string {
	if p := (*iofs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return formats.OneLine(err.Error())
}

// dir adds what dir, which is called at, is or holds.
func (s *scan) dir(ctx context.Context, dir nodes.Dir, at string) error {
	if name, ok := archive.FolderOf(dir); ok {
		return s.folder(ctx, name, at)
	}
	if r, ok := archive.RecordingOf(dir); ok {
		if files, ok := r.Segments(); ok {
			s.watch.folder(ctx, s.view, r.Path())
			s.watch.segments(files)
		}
		s.found(at, r.Stamp(), dir)
	}
	if c, ok := archive.ContainerOf(dir); ok {
		s.found(at, c.Stamp(), dir)
	}
	return nil
}

// folder adds what is below dir of the source, which is called at in the mount.
func (s *scan) folder(ctx context.Context, dir, at string) error {
	s.watch.folder(ctx, s.view, dir)
	names, err := s.view.Names(ctx, dir)
	if err != nil {
		if at == "" || ctx.Err() != nil {
			return err
		}
		s.unreadable(at, err) // it hides no other
		return nil
	}
	for i := range names.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		name, typ := names.At(i)
		if err := s.entry(ctx, path.Join(at, name), dir, name, typ); err != nil {
			return err
		}
		if len(s.todo) < manyTasks {
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
		s.unreadable(at, err)
		return ctx.Err()
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
		s.unreadable(at, err)
		return ctx.Err()
	}
	if info.Type != 0 {
		return nil
	}
	v := info.Version
	s.watch.file(inSource, v)
	if s.known(at, v.Stamp) {
		return nil
	}
	e, err := s.view.File(ctx, inSource, info)
	if err != nil {
		s.unreadable(at, err)
		return ctx.Err()
	}
	if e.Dir != nil {
		s.found(at, v.Stamp, e.Dir)
		return nil
	}
	s.records = append(s.records, record{path: at, stamp: v.Stamp})
	s.changed = true
	return nil
}

// known takes over what was known before, if that is all there is to know.
func (s *scan) known(at string, stamp formats.Stamp) bool {
	old, ok := s.before(at)
	if !ok || old.open || !stamp.Same(old.stamp) || s.savedAny(old.pending) {
		return false
	}
	s.records = append(s.records, *old)
	s.taken++
	return true
}

// before returns what was known of at.
func (s *scan) before(at string) (*record, bool) {
	if s.old == nil {
		return nil, false
	}
	all := s.old.records
	if s.place >= len(all) || all[s.place].path != at {
		i, ok := s.old.find(at)
		if !ok {
			return nil, false
		}
		s.place = i
	}
	s.place++
	return &all[s.place-1], true
}

// savedAny tells whether the disk cache has one of the names in pending, where
// that was not looked for since it changed.
func (s *scan) savedAny(pending string) bool {
	if s.saved == nil || s.state == s.old.state {
		return false
	}
	for name := range pendings(pending) {
		if name != "" && s.saved(name) {
			return true
		}
	}
	return false
}

// found adds a recording or a container.
func (s *scan) found(at string, stamp formats.Stamp, dir nodes.Dir) {
	if !s.known(at, stamp) {
		s.todo = append(s.todo, task{len(s.records), dir})
		s.records = append(s.records, record{path: at, stamp: stamp, open: true})
	}
}

// manyTasks is how many recordings are found before they are opened, so that what was looked up to open them need not
// be there for all at once.
const manyTasks = 1024

// summarise opens the recordings of which too little is known.
func (s *scan) summarise(ctx context.Context) error {
	ctx = cache.Separate(ctx) // each takes memory for itself
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.todo)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(s.todo)) {
					return
				}
				t := s.todo[i]
				s.open(ctx, &s.records[t.i], t.dir)
			}
		})
	}
	wg.Wait()
	s.changed = s.changed || len(s.todo) > 0
	s.todo = s.todo[:0]
	clear(s.todo[:cap(s.todo)])
	return ctx.Err()
}

// open makes the lines of a recording or container.
func (s *scan) open(ctx context.Context, r *record, dir nodes.Dir) {
	if rec, ok := archive.RecordingOf(dir); ok {
		s.summary(ctx, r, rec)
	} else if c, ok := archive.ContainerOf(dir); ok {
		s.members(ctx, r, c)
	}
}

// members makes the lines of all recordings in a container, after one of its own if it is damaged.
func (s *scan) members(ctx context.Context, r *record, c archive.Container) {
	r.lines, r.tables, r.runs, r.pending, r.open = "", "", "", "", false
	ctxSaved := cache.SavedOnly(ctx)
	problems, err := c.Problems(ctxSaved)
	var dir nodes.Dir
	if err == nil {
		dir, err = c.Dir(ctxSaved)
	}
	if missing := (*cache.NotSavedError)(nil); errors.As(err, &missing) {
		r.pending = missing.Name + unlistedSep + r.path
		return
	}
	if err != nil {
		r.lines, r.open = unreadableLine(r.path, err), true
		r.tables, r.runs = blankLines(r.lines), blankLines(r.lines)
		return
	}
	own := containerLine(r.path, c, problems)
	r.lines, r.tables, r.runs = own, blankLines(own), blankLines(own)
	if _, ok := archive.FolderOf(dir); !ok { // it does not open
		return
	}
	view, _ := archive.ViewOf(dir)
	inner := &scan{c: s.c, view: view, cache: s.cache}
	if inner.dir(ctx, dir, r.path) != nil || inner.summarise(ctx) != nil {
		r.lines, r.tables, r.runs, r.open = "", "", "", true
		return
	}
	found := inner.lines()
	r.lines += found.lines
	r.tables += found.tables
	r.runs += found.runs
	r.pending = found.pending
	r.open = slices.ContainsFunc(inner.records, func(r record) bool { return r.open })
}
