package catalogue

import (
	"cmp"
	"context"
	"crypto/sha256"
	iofs "io/fs"
	"path"
	"time"

	"recfs/formats/archive"
	"recfs/formats/internal/ledger"
	"recfs/formats/source"
	"recfs/nodes"
)

// A lakeKey is a directory of the lake when the survey with that sum was made.
type lakeKey struct {
	sum [sha256.Size]byte
	at  string
}

// namesPeak is what is needed to read a block of the catalogue. Names are charged as they are found.
const namesPeak = 2 << 20

// A lakeDir is a directory of the lake. It is a value.
type lakeDir struct {
	r    *root
	path string // below tables/
}

var _ nodes.Volatile = lakeDir{}

// Lookup implements nodes.Volatile. A table is that of the recording as it is now.
func (d lakeDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	s, since, err := d.r.lakeNow(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	if name == "." {
		return d.r.lakeEntry(path.Base(d.path), d.path, since), nil
	}
	p, ok := placeOf(d.path)
	if !ok {
		return nodes.Entry{}, notExist(name)
	}
	r, t, err := s.table(ctx, p, name)
	if err != nil {
		return nodes.Entry{}, err
	}
	if r != nil {
		return d.r.lakeTable(ctx, r, t, name)
	}
	if ok, err := s.hasDir(ctx, p, name); err != nil || !ok {
		return nodes.Entry{}, cmp.Or(err, notExist(name))
	}
	return d.r.lakeEntry(name, path.Join(d.path, name), since), nil
}

// lakeEntry returns the entry of a directory of the lake. It names what others may not be allowed to see.
func (r *root) lakeEntry(name, at string, since time.Time) nodes.Entry {
	return nodes.Entry{Name: name, Attr: nodes.Attr{Time: since, Rights: nodes.Private(0o700)}, Dir: lakeDir{r, at}}
}

// lakeTable returns the entry called name of table t, which the recording of r had. It has the size that is known of this
// version.
func (r *root) lakeTable(ctx context.Context, known *ledger.Record, t ledger.Table, name string) (nodes.Entry, error) {
	dir, err := r.Current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	found, err := nodes.Lookup(ctx, dir, known.Path)
	if err != nil {
		return nodes.Entry{}, err
	}
	recording, ok := archive.RecordingOf(found.Dir)
	if !ok {
		return nodes.Entry{}, notExist(name)
	}
	if !recording.Stamp().Same(known.Stamp) {
		t.Size = ledger.Unknown
	}
	table := nodes.Entry{Name: name, Attr: nodes.Attr{Time: recording.Modified(), Rights: found.Rights}, File: r.c.digests.tableOf(recording, t)}
	table.Rights.Mode &^= 0o111
	return table, nil
}

// Snapshot implements nodes.Volatile.
func (d lakeDir) Snapshot(ctx context.Context) (nodes.Dir, error) {
	s, since, err := d.r.lakeNow(ctx)
	if err != nil {
		return nil, err
	}
	names, err := d.r.names.GetFrom(ctx, lakeKey{s.Sum(), d.path}, func(ctx context.Context, k lakeKey) (source.Names, int64, error) {
		p, ok := placeOf(k.at)
		if !ok {
			return nil, 0, notExist(k.at)
		}
		names, err := s.names(ctx, p)
		if err != nil {
			return nil, 0, err
		}
		return names, names.Cost(), nil
	})
	if err != nil {
		return nil, err
	}
	return &lakeNames{d, names, since}, nil
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
	names source.Names
	since time.Time
}

var _ nodes.Namer = (*lakeNames)(nil)

// Len implements nodes.Dir.
func (s *lakeNames) Len(context.Context) (int, error) { return s.names.Len(), nil }

// At implements nodes.Dir.
func (s *lakeNames) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= s.names.Len() {
		return nodes.Entry{}, notExist("")
	}
	name, typ := s.names.At(i)
	if typ == iofs.ModeDir {
		return s.d.r.lakeEntry(name, path.Join(s.d.path, name), s.since), nil
	}
	e, err := s.d.Lookup(ctx, name)
	e.Name = name
	return e, err
}

// AppendName implements nodes.Namer.
func (s *lakeNames) AppendName(_ context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i < 0 || i >= s.names.Len() {
		return b, 0, notExist("")
	}
	name, typ := s.names.At(i)
	return append(b, name...), typ, nil
}

// Find implements nodes.Dir.
func (s *lakeNames) Find(_ context.Context, name string) (int, error) {
	i, ok := s.names.Find(name)
	if !ok {
		return 0, notExist(name)
	}
	return i, nil
}
