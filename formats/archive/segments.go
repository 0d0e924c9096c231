package archive

import (
	"cmp"
	"context"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"unique"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// A segment is a file of a directory that is a recording.
type segment struct {
	name string
	at   string // its path in the source, free of links
	v    source.Version
}

// segments are the files of a directory that is a recording, sorted by name: the first one, and
// those after it. Two of the same files at the same versions are equal, and compared at once: they
// are a part of keys, and a recording may have thousands of files. The zero value has none.
type segments struct{ list unique.Handle[segmentNode] }

type segmentNode struct {
	segment
	next segments
}

func newSegments(files []segment) segments {
	all := segments{unique.Make(segmentNode{})} // the end
	for _, f := range slices.Backward(files) {
		all.list = unique.Make(segmentNode{f, all})
	}
	return all
}

// all yields the files.
func (s segments) all(yield func(segment) bool) {
	if s == (segments{}) {
		return
	}
	for n := s.list.Value(); n.next != (segments{}) && yield(n.segment); {
		n = n.next.list.Value()
	}
}

// inode stands for all of them in a stamp, which leaves out what a remount or another link to a
// file changes, and the time of what is known by its content.
func (s segments) inode() uint64 {
	var stamps []byte
	for f := range s.all {
		stamp := f.v.Stamp
		if stamp.Changed == formats.ByContent {
			stamp.Modified, stamp.Nanos = 0, 0
		}
		stamps = stamp.Append(append(append(stamps, f.name...), 0))
	}
	return xxhash.Sum64(stamps)
}

// segments returns the regular files of a directory that is a recording, links
// to such files among them, and the version of the whole. The rights are
// those of a file of the recording: they allow what the directory and all the
// files allow.
func (l links) segments(ctx context.Context, dir string, names source.Names, info source.Info) ([]segment, source.Version, nodes.Rights) {
	v, rights := info.Version, insideOf(info)
	v.Size = 0
	through := func(dir source.Info) { rights = limitedBy(rights, dir) }
	var files []segment
	untimed := v.Modified == 0 // as folders of web servers are: the newest file gives the time
	for i := range names.Len() {
		name, _ := names.At(i)
		at := path.Join(dir, name)
		info, err := l.tree.Stat(ctx, at)
		if err == nil && info.Type == iofs.ModeSymlink {
			at, info, err = l.resolve(ctx, dir, name, through)
		}
		if err != nil || info.Type != 0 {
			continue
		}
		v.Size += info.Size
		if v.Changed == formats.ByContent {
			v.Changed = info.Changed // the whole is known by its content if all files are
		}
		if untimed && info.Time().After(v.Time()) {
			v.Modified, v.Nanos = info.Modified, info.Nanos
		}
		rights = limited(rights, info.Rights)
		files = append(files, segment{name, at, info.Version})
	}
	return files, v, rights
}

// A segmentFS shows the regular files of a directory as they were at one
// version. Its files hold nothing open: a format may keep thousands of them
// without a descriptor of the process.
type segmentFS struct {
	files []segmentFile // sorted by name
}

var _ iofs.ReadDirFS = (*segmentFS)(nil)

func newSegmentFS(all segments, reader func(string, source.Version) nodes.ReaderAt) *segmentFS {
	fsys := &segmentFS{}
	for s := range all.all {
		fsys.files = append(fsys.files, segmentFile{reader(s.at, s.v), s})
	}
	return fsys
}

// Open implements io/fs.FS.
func (s *segmentFS) Open(name string) (iofs.File, error) {
	return s.OpenIn(context.Background(), name)
}

// OpenIn opens a file for one operation, see [formats.InContext].
func (s *segmentFS) OpenIn(ctx context.Context, name string) (iofs.File, error) {
	i, ok := slices.BinarySearchFunc(s.files, name, func(f segmentFile, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	f := s.files[i]
	return source.IOFile(ctx, name, f, f.info()), nil
}

// ReadDir implements io/fs.ReadDirFS.
func (s *segmentFS) ReadDir(name string) ([]iofs.DirEntry, error) {
	if name != "." {
		return nil, &iofs.PathError{Op: "readdir", Path: name, Err: iofs.ErrNotExist}
	}
	var entries []iofs.DirEntry
	for _, f := range s.files {
		entries = append(entries, iofs.FileInfoToDirEntry(source.IOInfo(f.name, f.info())))
	}
	return entries, nil
}

// A segmentFile is a segment with its bytes.
type segmentFile struct {
	nodes.ReaderAt
	segment
}

func (f segmentFile) info() source.Info { return source.Info{Version: f.v} }

// Info implements [source.File].
func (f segmentFile) Info(context.Context) (source.Info, error) { return f.info(), nil }

// Close implements [source.File].
func (f segmentFile) Close() error { return nil }

// raw shows the files as they lie there.
func (s *segmentFS) raw() nodes.Dir {
	var entries []nodes.Entry
	for _, f := range s.files {
		entries = append(entries, nodes.Entry{Name: f.name, Attr: nodes.Attr{Time: f.v.Time()}, File: nodes.Section(f, 0, f.v.Size)})
	}
	return nodes.List(entries...)
}

// besideFS is the directory of a recording, with all its names, for those who have
// certain rights. It opens files, and follows links to them.
type besideFS struct {
	links  links
	dir    string
	below  string // where names count from, below dir
	rights nodes.Rights
}

var _ iofs.SubFS = besideFS{}

// Sub implements io/fs.SubFS.
func (b besideFS) Sub(dir string) (iofs.FS, error) {
	if !validName(dir) {
		return nil, &iofs.PathError{Op: "sub", Path: dir, Err: iofs.ErrInvalid}
	}
	b.below = path.Join(b.below, dir)
	return b, nil
}

// Open implements io/fs.FS.
func (b besideFS) Open(name string) (iofs.File, error) { return b.OpenIn(context.Background(), name) }

// OpenIn opens a file for one operation, see [formats.InContext].
func (b besideFS) OpenIn(ctx context.Context, name string) (iofs.File, error) {
	if !validName(name) {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	rights := b.rights
	at, info, err := b.links.resolve(ctx, b.dir, path.Join(b.below, name), func(dir source.Info) { rights = limitedBy(rights, dir) })
	if err != nil {
		return nil, err
	}
	if limited(rights, info.Rights) != b.rights {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	}
	f, err := b.links.tree.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	now, err := f.Info(ctx)
	if err != nil || !info.SameFile(now) {
		f.Close()
		return nil, cmp.Or(err, source.Stale(at))
	}
	return source.IOFile(ctx, name, f, now), nil
}

// validName is iofs.ValidPath without asking for UTF-8.
func validName(name string) bool { return iofs.ValidPath(strings.ToValidUTF8(name, "_")) }
