package archive

import (
	"context"
	"errors"
	iofs "io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A folder is a directory of the source. It is a value, so that two look-ups
// give equal ones.
type folder struct {
	a    *archive
	path string // in fsys, free of symbolic links
}

// Lookup returns the entry of that name as it is now.
func (d folder) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	if name == ".." || name == "" || strings.Contains(name, "/") {
		return nodes.Entry{}, notExist(name)
	}
	e, err := d.a.lookup(ctx, d, name)
	if err == nil && d.a.depth == 0 {
		d.a.hold(e)
	}
	return e, err
}

// hold keeps the file of an entry open for a moment.
func (a *archive) hold(e nodes.Entry) {
	switch dir := e.Dir.(type) {
	case recording:
		if dir.key.segments == "" {
			a.openFiles.Hold(source.FileKey{Path: dir.key.path, Version: dir.key.v})
		}
	case containerDir:
		a.openFiles.Hold(source.FileKey{Path: dir.key.path, Version: dir.key.v})
	}
	if f, ok := e.File.(plainFile); ok {
		a.openFiles.Hold(source.FileKey{Path: f.path, Version: f.v})
	}
}

// Snapshot returns the names as they are now.
func (d folder) Snapshot(ctx context.Context) (nodes.Dir, error) {
	l, err := d.a.listing(ctx, d.path)
	if err != nil {
		return nil, err
	}
	return snapshot{d, l}, nil
}

func (d folder) Len(ctx context.Context) (int, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Len(ctx)
}

func (d folder) At(ctx context.Context, i int) (nodes.Entry, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return s.At(ctx, i)
}

func (d folder) Find(ctx context.Context, name string) (int, error) {
	s, err := d.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Find(ctx, name)
}

// A snapshot is the names of a folder at one moment.
type snapshot struct {
	d folder
	l *listing
}

func (s snapshot) Len(context.Context) (int, error) { return s.l.len(), nil }

func (s snapshot) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i < 0 || i >= s.l.len() {
		return nodes.Entry{}, notExist("")
	}
	name := s.l.name(i)
	e, err := s.d.a.lookup(ctx, s.d, name)
	if err != nil {
		e.Name = name
	}
	return e, err
}

var _ nodes.Namer = snapshot{}

// AppendName implements nodes.Namer: it looks at a file only if neither its
// name nor the directory says what it is shown as.
func (s snapshot) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	if i < 0 || i >= s.l.len() {
		return b, 0, notExist("")
	}
	name := s.l.name(i)
	mode, ok := s.d.a.typeByName(name, s.l.types[i])
	if !ok {
		e, err := s.At(ctx, i)
		if err != nil {
			return b, 0, err
		}
		mode = e.Type()
	}
	return append(b, name...), mode, nil
}

// typeByName tells what an entry is shown as, if that takes no look at it.
func (a *archive) typeByName(name string, kind byte) (mode iofs.FileMode, ok bool) {
	switch kind {
	case typeDir:
		return iofs.ModeDir, true
	case typeLink:
		return iofs.ModeSymlink, true
	}
	if f, _, known := a.byName(name); known {
		return iofs.ModeDir, a.list[f].MatchNamed == nil
	}
	if c, _ := a.containerOf(name); c != nil {
		return iofs.ModeDir, !a.opt.Sniff
	}
	return 0, !a.opt.Sniff
}

func (s snapshot) Find(_ context.Context, name string) (int, error) {
	i, ok := s.l.find(name)
	if !ok {
		return 0, notExist(name)
	}
	return i, nil
}

func notExist(name string) error {
	return &iofs.PathError{Op: "lookup", Path: name, Err: iofs.ErrNotExist}
}

// lookup returns the entry called name in d; "." is d itself.
func (a *archive) lookup(ctx context.Context, d folder, name string) (nodes.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Entry{}, err
	}
	at := path.Join(d.path, name)
	info, err := a.lstat(at)
	if err != nil {
		return nodes.Entry{}, err
	}
	switch info.Mode().Type() {
	case iofs.ModeDir:
		return a.dirEntry(ctx, folder{a, at}, name, info)
	case iofs.ModeSymlink:
		return a.linkEntry(d, name, info)
	case 0:
		return a.fileEntry(ctx, at, info)
	}
	return nodes.Entry{}, notExist(name) // sockets, devices and fifos are not shown
}

// dirEntry returns the entry of a directory: a folder, or a recording in
// segments.
func (a *archive) dirEntry(ctx context.Context, d folder, name string, info iofs.FileInfo) (nodes.Entry, error) {
	e := nodes.Entry{Name: name, Attr: attrOf(info), Dir: d}
	format := a.dirFormat(d.path)
	if format == noFormat {
		return e, nil
	}
	l, err := a.listing(ctx, d.path)
	if err != nil {
		if ctx.Err() != nil {
			return nodes.Entry{}, err
		}
		return e, nil // to list it will give the error
	}
	segments, v, rights := a.segments(d.path, l, info)
	if !a.matchDir(ctx, format, parseSegments(segments)) {
		return e, nil
	}
	if l, ok := a.fsys.(interface{ Path() string }); ok && name == "." {
		name = path.Base(filepath.ToSlash(l.Path()))
	}
	e.Dir = recording{a, recordingKey{path: d.path, name: name, v: v, format: format, segments: segments}}
	e.Rights = rights.Searchable()
	return e, nil
}

// dirFormat returns the index of the format whose recording a directory may
// be, or noFormat. The directory, which may be large, is not read for it.
func (a *archive) dirFormat(dir string) int {
	return slices.IndexFunc(a.list, func(f formats.Format) bool {
		if f.DirFile == "" {
			return false
		}
		info, err := a.lstat(path.Join(dir, f.DirFile))
		return err == nil && (info.Mode().IsRegular() || info.Mode().Type() == iofs.ModeSymlink)
	})
}

// matchDir tells whether a directory with the files of a recording of a format
// is one. A file that cannot be read is an error of the recording.
func (a *archive) matchDir(ctx context.Context, format int, files []segment) bool {
	f := a.list[format]
	i := slices.IndexFunc(files, func(s segment) bool { return s.name == f.DirFile })
	if f.MatchDir == nil || i < 0 {
		return true
	}
	head, err := a.head(ctx, files[i].at, files[i].v)
	return err != nil || f.MatchDir(head, func(yield func(string) bool) {
		for _, s := range files {
			if !yield(s.name) {
				return
			}
		}
	})
}

// fileEntry returns the entry of a regular file: a recording or the file.
func (a *archive) fileEntry(ctx context.Context, at string, info iofs.FileInfo) (nodes.Entry, error) {
	v, name := source.VersionOf(info), path.Base(at)
	e := nodes.Entry{Name: name, Attr: attrOf(info)}
	k, err := a.kind(ctx, kindKey{at, v})
	if err != nil && ctx.Err() != nil {
		return nodes.Entry{}, err
	}
	if err == nil && k.recording {
		e.Dir = recording{a, recordingKey{
			path: at, name: name, v: v, format: k.format, packed: k.packed,
			distrust: k.packed && a.unpack.Distrusts(source.FileKey{Path: at, Version: v}), beside: a.beside(e.Rights),
		}}
		e.Rights = e.Rights.Searchable()
		return e, nil
	}
	if c, packed := a.containerOf(name); c != nil {
		e.Dir = containerDir{a, containerKey{recordingKey{path: at, name: name, v: v, format: noFormat, packed: packed}, c}}
		e.Rights = e.Rights.Searchable()
		return e, nil
	}
	e.File = plainFile{a, at, v} // also what cannot be read
	return e, nil
}

// A listing is the sorted names of a directory, of all that can be shown.
type listing struct {
	text  string // the names end to end
	ends  []uint32
	types []byte
}

// What a directory says of its entries.
const (
	typeFile = iota
	typeDir
	typeLink
)

func (l *listing) len() int { return len(l.ends) }

func (l *listing) name(i int) string {
	start := uint32(0)
	if i > 0 {
		start = l.ends[i-1]
	}
	return l.text[start:l.ends[i]]
}

func (l *listing) find(name string) (int, bool) {
	return sort.Find(l.len(), func(i int) int { return strings.Compare(name, l.name(i)) })
}

// listingKey: a listing holds until the directory changes.
type listingKey struct {
	path string
	v    source.Version
}

// settled is how old the last change of a directory must be before its
// listing is remembered: a change right after it may leave the same time.
const settled = 2 * time.Second

// listing returns the names in a directory.
func (a *archive) listing(ctx context.Context, name string) (*listing, error) {
	info, err := a.lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, source.Stale(name)
	}
	k := listingKey{name, source.VersionOf(info)}
	if a.depth == 0 && (info.ModTime().IsZero() || time.Since(info.ModTime()) < settled) {
		l, _, err := a.loadListing(ctx, k)
		return l, err
	}
	return a.listings.Get(ctx, k)
}

func (a *archive) loadListing(ctx context.Context, k listingKey) (*listing, int64, error) {
	type entry struct {
		name string
		kind byte
	}
	var entries []entry
	var size int
	err := source.ReadDir(a.fsys, k.path, func(e iofs.DirEntry) {
		found := entry{name: e.Name()}
		switch e.Type() {
		case 0:
		case iofs.ModeDir:
			found.kind = typeDir
		case iofs.ModeSymlink:
			found.kind = typeLink
		default:
			return // sockets, devices and fifos are not shown
		}
		entries = append(entries, found)
		size += len(found.name)
	})
	if err != nil {
		return nil, 0, err
	}
	if int64(size) > math.MaxUint32 {
		return nil, 0, &iofs.PathError{Op: "readdir", Path: k.path, Err: errors.ErrUnsupported}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	l := &listing{ends: make([]uint32, len(entries)), types: make([]byte, len(entries))}
	var text strings.Builder
	text.Grow(size)
	for i, e := range entries {
		text.WriteString(e.name)
		l.ends[i], l.types[i] = uint32(text.Len()), e.kind
	}
	l.text = text.String()
	return l, int64(size + 5*len(entries) + len(k.path) + 128), ctx.Err()
}
