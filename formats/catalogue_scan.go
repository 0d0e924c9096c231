package formats

import (
	"bytes"
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
	"recfs/nodes"
)

// A scan finds the recordings of an archive, and opens those of which the
// catalogue on disk does not know all there is to know.
type scan struct {
	a       *archive
	old     map[string]record
	saved   func(name string) bool // what is in the disk cache, if there are old records
	c       *cache.Cache
	records []record
	todo    []task
	changed bool
}

// A task is a recording or container to open for records[i].
type task struct {
	i   int
	dir nodes.Dir
}

// run scans dir, which is called at.
func (s *scan) run(ctx context.Context, dir nodes.Dir, at string) error {
	if err := s.dir(ctx, dir, at); err != nil {
		return err
	}
	return s.summarise(ctx)
}

// lines returns what was found, and what on disk would tell more.
func (s *scan) lines() (lines [][]byte, pending string) {
	var names []string
	for _, r := range s.records {
		if len(r.lines) > 0 {
			lines = append(lines, r.lines)
		}
		if r.pending != "" {
			names = append(names, r.pending)
		}
	}
	return lines, strings.Join(names, pendingSep)
}

// unreadable adds the line of what could not be read this time.
func (s *scan) unreadable(at string, err error) {
	s.records = append(s.records, record{path: at, lines: unreadableLine(at, err), open: true})
}

// unreadableLine tells why what is called at could not be read this time,
// unless it is gone.
func unreadableLine(at string, err error) []byte {
	if isGone(err) || errors.Is(err, nodes.ErrStale) {
		return nil
	}
	line := struct {
		Path    string `json:"path"`
		PathHex string `json:"path_hex,omitempty"`
		Error   string `json:"error"`
	}{at, hexOf(at), readReason(err)}
	b, err := json.Marshal(line)
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// readReason is why something could not be read, without its path.
func readReason(err error) string {
	if p := (*iofs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return oneLine(err.Error())
}

// dir adds what dir, which is called at, is or holds.
func (s *scan) dir(ctx context.Context, dir nodes.Dir, at string) error {
	switch d := dir.(type) {
	case folder:
		return s.folder(ctx, d, at)
	case fixed:
		return s.folder(ctx, d.d, at)
	case recording:
		s.found(at, d.key.stamp(), d)
	case nested:
		s.found(at, d.key.stamp(), d)
	}
	return nil
}

// folder adds what is below d, which is called name in the mount.
func (s *scan) folder(ctx context.Context, d folder, name string) error {
	l, err := s.a.listing(ctx, d.path)
	if err != nil {
		if name == "" || ctx.Err() != nil {
			return err
		}
		s.unreadable(name, err) // it hides no other
		return nil
	}
	for i := range l.len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.entry(ctx, d, path.Join(name, l.name(i)), l.name(i), l.types[i]); err != nil {
			return err
		}
	}
	return nil
}

// entry adds what the entry called name in d is or holds.
func (s *scan) entry(ctx context.Context, d folder, at, name string, kind byte) error {
	if kind == typeFile {
		return s.file(ctx, d, at, name)
	}
	e, err := s.a.lookup(ctx, d, name)
	if err != nil {
		s.unreadable(at, err)
		return ctx.Err()
	}
	return s.dir(ctx, e.Dir, at)
}

// file adds a file. What the catalogue knows of this version of it need not
// be opened to learn what it is.
func (s *scan) file(ctx context.Context, d folder, at, name string) error {
	if mode, ok := s.a.typeByName(name, typeFile); ok && !mode.IsDir() {
		return nil
	}
	source := path.Join(d.path, name)
	info, err := s.a.lstat(source)
	if err != nil {
		s.unreadable(at, err)
		return nil
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	v := versionOf(info)
	if s.known(at, v.Stamp) {
		return nil
	}
	if _, err := s.a.kind(ctx, kindKey{source, name, v}); err != nil {
		s.unreadable(at, err)
		return ctx.Err()
	}
	e, err := s.a.fileEntry(ctx, source, name, info)
	if err != nil {
		return err
	}
	if e.Dir != nil {
		s.found(at, v.Stamp, e.Dir)
		return nil
	}
	s.records = append(s.records, record{path: at, stamp: v.Stamp})
	s.changed = true
	return nil
}

// known takes over what the catalogue knows, if that is all there is to know.
func (s *scan) known(at string, stamp Stamp) bool {
	old, ok := s.old[at]
	if !ok || !stamp.Same(old.stamp) || s.savedAny(old.pending) {
		return false
	}
	s.records = append(s.records, old)
	return true
}

// savedAny tells whether the disk cache has one of the names in pending.
func (s *scan) savedAny(pending string) bool {
	for name := range strings.SplitSeq(pending, pendingSep) {
		if name != "" && s.saved(name) {
			return true
		}
	}
	return false
}

// found adds a recording or a container.
func (s *scan) found(at string, stamp Stamp, dir nodes.Dir) {
	if !s.known(at, stamp) {
		s.todo = append(s.todo, task{len(s.records), dir})
		s.records = append(s.records, record{path: at, stamp: stamp, open: true})
	}
}

// summarise opens the recordings of which too little is known.
func (s *scan) summarise(ctx context.Context) error {
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
	return ctx.Err()
}

// open makes the lines of a recording or container.
func (s *scan) open(ctx context.Context, r *record, dir nodes.Dir) {
	switch dir := dir.(type) {
	case recording:
		var keep bool
		r.lines, r.pending, keep = s.a.summary(ctx, r.path, dir.key, s.c)
		r.open = !keep
	case nested:
		r.lines, r.pending, r.open = s.members(ctx, r.path, dir)
	}
}

// members returns the lines of all recordings in a container.
func (s *scan) members(ctx context.Context, at string, n nested) (lines []byte, pending string, open bool) {
	dir, err := n.dir(cache.SavedOnly(ctx))
	if missing := (*cache.NotSavedError)(nil); errors.As(err, &missing) {
		return nil, missing.Name, false
	}
	if err != nil {
		return unreadableLine(at, err), "", true
	}
	f, ok := dir.(fixed)
	if !ok { // it does not open
		return nil, "", false
	}
	inner := &scan{a: f.d.a, c: s.c}
	if err := inner.run(ctx, f.d, at); err != nil {
		return nil, "", true
	}
	all, pending := inner.lines()
	return bytes.Join(all, nil), pending, slices.ContainsFunc(inner.records, func(r record) bool { return r.open })
}
