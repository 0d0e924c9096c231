package catalogue

import (
	"cmp"
	"context"
	iofs "io/fs"
	"slices"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/archive"
	"recfs/formats/columnar"
	"recfs/formats/internal/ledger"
	"recfs/formats/internal/parquet"
	"recfs/formats/internal/wire"
	"recfs/formats/source"
	"recfs/nodes"
)

// A tableRef is a table of one version of a recording, which lies at a path. It is a value.
type tableRef struct {
	r    *root
	dir  nodes.Dir // of the recording
	path string
	name string
	kept bool // whole, once it is made
}

// Resolve implements the target of a nodes.DeferredFile.
func (t tableRef) Resolve(ctx context.Context) (nodes.File, error) { return t.r.named.Get(ctx, t) }

// load opens the recording for its table.
func (t tableRef) load(ctx context.Context) (*parquet.Named, error) {
	recording, _ := archive.RecordingOf(t.dir)
	o, err := recording.Open(ctx)
	if err != nil {
		return nil, err
	}
	table := o.Table(t.name)
	if table == nil {
		return nil, nodes.NotExist("lookup", t.name)
	}
	format := recording.Format()
	origin := func(ctx context.Context) (columnar.Origin, error) {
		k, err := o.Summary(ctx)
		if err != nil {
			return columnar.Origin{}, err
		}
		var s Summary
		s.take(k, true)
		return originOf(t.path, s.Start), nil
	}
	return &parquet.Named{Table: table, Format: format.Name, Timeless: format.Timeless, Origin: origin}, nil
}

// loadNamed makes the file of a table. That of a small one is kept compressed.
func loadNamed(ctx context.Context, t tableRef) (nodes.File, int64, error) {
	n, err := t.load(ctx)
	if err != nil {
		return nil, 0, err
	}
	if !t.kept {
		const cost = 4 << 10
		return parquet.NamedFile(t.r.c.cache, n), cost, nil
	}
	b, err := n.Bytes(ctx)
	packed := wire.Pack(b)
	return nodes.Opened(func(context.Context) (nodes.Content, error) {
		b, err := wire.Unzstd(packed, smallTable)
		return nodes.BytesContent(b), err
	}), int64(cap(packed)), err
}

// A tableFile is a table as a file, whose recording is opened when it is read, or its size is not
// known. A listing leaves that out then where the recording does. It is a value.
type tableFile struct {
	nodes.DeferredFile[tableRef]
	size int64 // [ledger.Unknown]: only the recording tells
}

var _ nodes.Measured = tableFile{}

// tableOf returns a table of a recording, given what is known of the table.
func (r *root) tableOf(recording nodes.Dir, at string, t ledger.Table) tableFile {
	size := t.Size
	if size != ledger.Unknown {
		size = parquet.NamedSize(size, t.Groups, string([]rune(at)))
	}
	ref := tableRef{r, recording, at, t.Name, size != ledger.Unknown && size <= smallTable}
	return tableFile{nodes.DeferredFile[tableRef]{Target: ref}, size}
}

// Size implements nodes.File.
func (t tableFile) Size(ctx context.Context) (int64, error) {
	if t.size != ledger.Unknown {
		return t.size, nil
	}
	return t.DeferredFile.Size(ctx)
}

// Open implements nodes.File. A table of another size than is known is stale.
func (t tableFile) Open(ctx context.Context) (nodes.Content, error) {
	content, err := t.DeferredFile.Open(ctx)
	if err != nil || t.size == ledger.Unknown || content.Size() == t.size {
		return content, err
	}
	defer nodes.CloseContent(content)
	return nil, nodes.SizeError(t.size, content.Size())
}

// smallTable is how many bytes a table has at most that is kept whole, compressed: it takes less
// than the tree of its recording.
const smallTable = 64 << 10

// Version implements nodes.Versioned.
func (t tableFile) Version(ctx context.Context, _ string) (string, error) {
	r, _ := archive.RecordingOf(t.Target.dir)
	return r.VersionOf(ctx, tablesName)
}

// IsMeasured implements nodes.Measured.
func (t tableFile) IsMeasured(ctx context.Context) bool {
	if t.size != ledger.Unknown {
		return true
	}
	f, err := t.Target.Resolve(ctx)
	if err != nil {
		return true // there is nothing to make
	}
	return nodes.IsMeasured(ctx, f)
}

// A namesKey is a directory below tables/ at one moment.
type namesKey struct {
	file
	at place
}

// namesPeak is what is needed to read a block of the catalogue. Names are charged as they are
// found.
const namesPeak = 2 << 20

// A tablesDir is tables/ at the root of an archive, or a directory below. It is a value.
type tablesDir struct {
	nodes.Deferred[tablesPath]
}

// A tablesPath leads to what a directory is at one moment.
type tablesPath struct {
	r *root
	place
}

var _ nodes.Volatile = tablesDir{}

// Lookup implements nodes.Volatile. A table is that of the recording as it is now.
func (d tablesDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	t := d.Target
	s, err := t.r.recent(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	if name == "." {
		return t.r.tablesEntry(name, t.place, s.since), nil
	}
	if _, ok := t.r.fileIn(s, t.place, name); ok {
		if s, err = t.r.current(ctx, s); err != nil {
			return nodes.Entry{}, err
		}
		if kind, ok := t.r.fileIn(s, t.place, name); ok {
			return t.r.mergedEntry(name, s, kind), nil
		}
	}
	r, table, err := s.table(ctx, t.place, name)
	if r != nil && r.Open { // as it was being written
		if s, err = t.r.current(ctx, nil); err == nil {
			r, table, err = s.table(ctx, t.place, name)
		}
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	if r != nil && !r.Open {
		return t.r.tableEntry(ctx, r, table, name)
	}
	in, ok, err := s.dirIn(ctx, t.place, name)
	if err != nil || !ok {
		return nodes.Entry{}, cmp.Or(err, nodes.NotExist("lookup", name))
	}
	return t.r.tablesEntry(name, in, s.since), nil
}

// tablesEntry returns the entry of a directory below tables/. It names what others may not be
// allowed to see.
func (r *root) tablesEntry(name string, at place, since time.Time) nodes.Entry {
	dir := tablesDir{nodes.Deferred[tablesPath]{Target: tablesPath{r, at}}}
	return nodes.Entry{Name: name, Attr: nodes.Attr{Time: since, Rights: nodes.Private(0o700)}, Dir: dir}
}

// tableEntry returns the entry called name of table t, which the recording of known had. It has the
// size that is known of this version.
func (r *root) tableEntry(ctx context.Context, known *ledger.Record, t ledger.Table, name string) (nodes.Entry, error) {
	found, err := r.entryOf(ctx, known)
	if err != nil {
		return nodes.Entry{}, err
	}
	recording, ok := archive.RecordingOf(found.Dir)
	if !ok {
		return nodes.Entry{}, nodes.NotExist("lookup", name)
	}
	if !recording.Stamp().Same(known.Stamp) {
		t.Size = ledger.Unknown
	}
	table := nodes.Entry{Name: name, Attr: nodes.Attr{Time: recording.Modified(), Rights: found.Rights}, File: r.tableOf(found.Dir, known.Path, t)}
	table.Rights.Mode &^= 0o111
	return table, nil
}

// entryOf returns the entry of the recording that a record is of. A file of the source that is what
// it was need not be looked up from the root on: it lies where it lay.
func (r *root) entryOf(ctx context.Context, known *ledger.Record) (nodes.Entry, error) {
	if !known.Inner {
		info, err := r.view.Stat(ctx, known.Path)
		if err == nil && info.Type == 0 && info.Version.Stamp.Same(known.Stamp) {
			return r.view.File(ctx, known.Path, info)
		}
	}
	dir, err := r.Current(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return nodes.Lookup(ctx, dir, known.Path)
}

// Snapshot implements nodes.Volatile.
func (d tablesDir) Snapshot(ctx context.Context) (nodes.Dir, error) { return d.Resolve(ctx) }

// Resolve implements the target of a nodes.Deferred.
func (t tablesPath) Resolve(ctx context.Context) (nodes.Dir, error) {
	s, err := t.r.recent(ctx)
	if err != nil {
		return nil, err
	}
	if t.table == "" {
		return &tablesList{t, t.r.namesOf(s, t.place), s.since}, nil
	}
	names, err := t.r.names.Get(ctx, namesKey{s.file, t.place})
	if err != nil {
		return nil, err
	}
	return &tablesList{t, names, s.since}, nil
}

// A tablesList is a directory below tables/ at one moment.
type tablesList struct {
	at    tablesPath // not embedded: a list resolves no further
	names source.Names
	since time.Time
}

var _ nodes.Namer = (*tablesList)(nil)

// Len implements nodes.Dir.
func (s *tablesList) Len(context.Context) (int, error) { return s.names.Len(), nil }

// At implements nodes.Dir.
func (s *tablesList) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= s.names.Len() {
		return nodes.Entry{}, nodes.NotExist("lookup", "")
	}
	name, _ := s.names.At(i)
	e, err := tablesDir{nodes.Deferred[tablesPath]{Target: s.at}}.Lookup(ctx, name)
	e.Name = name
	return e, err
}

// AppendName implements nodes.Namer.
func (s *tablesList) AppendName(_ context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i < 0 || i >= s.names.Len() {
		return b, 0, nodes.NotExist("lookup", "")
	}
	name, typ := s.names.At(i)
	return append(b, name...), typ, nil
}

// Find implements nodes.Dir.
func (s *tablesList) Find(_ context.Context, name string) (int, error) {
	i, ok := s.names.Find(name)
	if !ok {
		return 0, nodes.NotExist("lookup", name)
	}
	return i, nil
}

// single returns the table of a kind, FORMAT/TABLE, if one file has it for all recordings.
func (r *root) single(kind string) (*formats.Format, *columnar.Table, bool) {
	format, table, _ := strings.Cut(kind, "/")
	if i := slices.IndexFunc(r.formats, func(f formats.Format) bool { return f.Name == format }); i >= 0 {
		t := r.formats[i].SingleTable(table)
		return &r.formats[i], t, t != nil
	}
	return nil, nil, false
}

// kinds returns all tables that a recording has.
func (r *root) kinds(f file) (list []parquet.Kind) {
	for _, kind := range f.Kinds() {
		format, table, _ := strings.Cut(kind, "/")
		_, _, one := r.single(kind)
		list = append(list, parquet.Kind{Format: format, Table: table, Single: one})
	}
	return list
}

// fileIn returns what [root.mergedEntry] takes for the file called name in a directory of formats
// or tables, which shows all recordings.
func (r *root) fileIn(s *survey, p place, name string) (kind string, ok bool) {
	switch {
	case p.table != "":
		return "", false
	case p.format != "":
		table, isTable := strings.CutSuffix(name, parquet.Extension)
		if !isTable {
			return "", false
		}
		kind = p.format + "/" + table
		_, _, ok = r.single(kind)
		return kind, ok && slices.Contains(s.Kinds(), kind)
	case name == viewsName:
		return viewsName, r.c.tablesPrefix() != ""
	}
	return "", name == parquetName
}

// namesOf returns the names in a directory of formats or tables.
func (r *root) namesOf(s *survey, p place) source.Names {
	var list []source.Name
	files := []string{parquetName, viewsName}
	for _, name := range s.kindsIn(p) {
		list = append(list, source.Name{Name: name, Type: iofs.ModeDir})
		if p.format != "" {
			files = append(files, name+parquet.Extension)
		}
	}
	for _, name := range files {
		if _, ok := r.fileIn(s, p, name); ok {
			list = append(list, source.Name{Name: name})
		}
	}
	return source.NewNames(list)
}
