package catalogue

import (
	"context"
	iofs "io/fs"
	"path"
	"strings"
	"time"

	"recfs/formats/archive"
	"recfs/nodes"
)

// A lakeRoot is the archive that a lake is of.
type lakeRoot struct {
	current func(context.Context) (nodes.Dir, error)        // the directory of the source
	lake    func(context.Context) (*lake, time.Time, error) // as it is now, and since when it is that
}

// A lakeDir is a directory of the lake. It is a value.
type lakeDir struct {
	r    *lakeRoot
	path string // below tables/
}

var _ nodes.Volatile = lakeDir{}

// Lookup implements nodes.Volatile. A table is that of the recording as it is now.
func (d lakeDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	l, since, err := d.r.lake(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	if name == "." {
		return d.r.entry(path.Base(d.path), d.path, since), nil
	}
	e, ok := l.find(d.path, name)
	if !ok {
		return nodes.Entry{}, notExist(name)
	}
	return d.entry(ctx, e, since)
}

func notExist(name string) error {
	return &iofs.PathError{Op: "lookup", Path: name, Err: iofs.ErrNotExist}
}

// entry returns the entry of a directory of the lake. It names what others may not be allowed to see.
func (r *lakeRoot) entry(name, at string, since time.Time) nodes.Entry {
	return nodes.Entry{Name: name, Attr: nodes.Attr{Time: since, Rights: nodes.Private(0o700)}, Dir: lakeDir{r, at}}
}

// entry returns an entry of the directory.
func (d lakeDir) entry(ctx context.Context, e lakeEntry, since time.Time) (nodes.Entry, error) {
	at := path.Join(d.path, e.name)
	if e.path == "" {
		return d.r.entry(e.name, at, since), nil
	}
	dir, err := d.r.current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	found, err := nodes.Lookup(ctx, dir, e.path)
	if err != nil {
		return nodes.Entry{}, err
	}
	recording, ok := archive.RecordingOf(found.Dir)
	if !ok {
		return nodes.Entry{}, notExist(e.name)
	}
	table := nodes.Entry{Name: e.name, Attr: nodes.Attr{Time: recording.Modified(), Rights: found.Rights}}
	table.Rights.Mode &^= 0o111
	table.File = lakeTable{nodes.DeferredFile[lakeFile]{Target: lakeFile{recording, tableOf(at) + tableSuffix}}}
	return table, nil
}

// tableOf returns the table of which a path below tables/ is.
func tableOf(at string) string { return strings.SplitN(at, "/", 3)[1] }

// Snapshot implements nodes.Volatile.
func (d lakeDir) Snapshot(ctx context.Context) (nodes.Dir, error) {
	l, since, err := d.r.lake(ctx)
	if err != nil {
		return nil, err
	}
	return &lakeNames{d, l, since}, nil
}

// Len implements nodes.Dir.
func (d lakeDir) Len(ctx context.Context) (int, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Len(ctx)
}

// At implements nodes.Dir.
func (d lakeDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return s.At(ctx, i)
}

// Find implements nodes.Dir.
func (d lakeDir) Find(ctx context.Context, name string) (int, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Find(ctx, name)
}

// lakeNames is a directory of the lake at one moment.
type lakeNames struct {
	d     lakeDir
	l     *lake
	since time.Time
}

var _ nodes.Namer = (*lakeNames)(nil)

func (s *lakeNames) list() []lakeEntry { return s.l.dirs[s.d.path] }

// Len implements nodes.Dir.
func (s *lakeNames) Len(context.Context) (int, error) { return len(s.list()), nil }

// At implements nodes.Dir.
func (s *lakeNames) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= len(s.list()) {
		return nodes.Entry{}, notExist("")
	}
	e, err := s.d.entry(ctx, s.list()[i], s.since)
	if err != nil {
		e.Name = s.list()[i].name
	}
	return e, err
}

// AppendName implements nodes.Namer.
func (s *lakeNames) AppendName(_ context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i < 0 || i >= len(s.list()) {
		return b, 0, notExist("")
	}
	e := s.list()[i]
	if e.path == "" {
		return append(b, e.name...), iofs.ModeDir, nil
	}
	return append(b, e.name...), 0, nil
}

// Find implements nodes.Dir.
func (s *lakeNames) Find(_ context.Context, name string) (int, error) {
	for i, e := range s.list() {
		if e.name == name {
			return i, nil
		}
	}
	return 0, notExist(name)
}

// A lakeFile is a table of one version of a recording. It is a value.
type lakeFile struct {
	recording archive.Recording
	name      string // in its tables/
}

// Resolve implements the target of a nodes.DeferredFile.
func (f lakeFile) Resolve(ctx context.Context) (nodes.File, error) {
	tree, err := f.recording.Tree(ctx)
	if err != nil {
		return nil, err
	}
	e, err := nodes.Lookup(ctx, tree, path.Join(tablesName, f.name))
	if err != nil {
		return nil, err
	}
	if e.File == nil {
		return nil, notExist(f.name)
	}
	return e.File, nil
}

// A lakeTable is a lakeFile as a file, whose size a listing leaves out where the recording does.
type lakeTable struct{ nodes.DeferredFile[lakeFile] }

var _ nodes.Measured = lakeTable{}

// IsMeasured implements nodes.Measured.
func (t lakeTable) IsMeasured(ctx context.Context) bool {
	f, err := t.Target.Resolve(ctx)
	if err != nil {
		return true // there is nothing to make
	}
	m, ok := f.(nodes.Measured)
	return !ok || m.IsMeasured(ctx)
}
