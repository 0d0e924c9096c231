package formats

import (
	"context"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"recfs/cache"
)

// A scan finds the recordings of an archive, and opens those of which the
// catalogue on disk does not know all there is to know.
type scan struct {
	a       *archive
	old     map[string]record
	c       *cache.Cache
	records []record
	todo    []task
	changed bool
}

// A task is a recording to open for records[i].
type task struct {
	i   int
	key recordingKey
}

// folder adds what is below d, which is called name in the mount.
func (s *scan) folder(ctx context.Context, d folder, name string) error {
	l, err := s.a.listing(ctx, d.path)
	if err != nil {
		if name == "" || ctx.Err() != nil {
			return err
		}
		return nil // one directory that cannot be read hides no other
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
		return ctx.Err() // it vanished, or cannot be read
	}
	switch dir := e.Dir.(type) {
	case folder:
		return s.folder(ctx, dir, at)
	case recording:
		s.found(at, dir.key)
	}
	return nil
}

// file adds a file. What the catalogue knows of this version of it need not
// be opened to learn what it is.
func (s *scan) file(ctx context.Context, d folder, at, name string) error {
	if _, _, ok := s.a.byName(name); !ok && !s.a.opt.Sniff {
		return nil
	}
	source := path.Join(d.path, name)
	info, err := s.a.lstat(source)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	v := versionKey(versionOf(info), "")
	if s.known(at, v) {
		return nil
	}
	e, err := s.a.fileEntry(ctx, source, name, info)
	if err != nil {
		return err
	}
	if r, ok := e.Dir.(recording); ok {
		s.found(at, r.key)
		return nil
	}
	s.records = append(s.records, record{path: at, version: v})
	s.changed = true
	return nil
}

// known takes over what the catalogue knows, if that is all there is to know.
func (s *scan) known(at, v string) bool {
	old, ok := s.old[at]
	if !ok || old.version != v || old.pending != "" && s.a.opt.Disk.Has(old.pending) {
		return false
	}
	s.records = append(s.records, old)
	return true
}

// found adds a recording.
func (s *scan) found(at string, key recordingKey) {
	v := versionKey(key.v, key.segments)
	if !s.known(at, v) {
		s.todo = append(s.todo, task{len(s.records), key})
		s.records = append(s.records, record{path: at, version: v})
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
				r := &s.records[t.i]
				r.line, r.pending = s.a.summary(ctx, r.path, t.key, s.c)
			}
		})
	}
	wg.Wait()
	s.changed = s.changed || len(s.todo) > 0
	return ctx.Err()
}

// done returns the records that are finished; the rest is for the next time.
func (s *scan) done() []record {
	open := map[int]bool{}
	for _, t := range s.todo {
		open[t.i] = len(s.records[t.i].line) == 0
	}
	var list []record
	for i, r := range s.records {
		if !open[i] {
			list = append(list, r)
		}
	}
	return list
}
