package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	iofs "io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/cespare/xxhash/v2"

	"recfs/formats/source"
	"recfs/nodes"
)

// A segment is a file of a directory that is a recording.
type segment struct {
	name string
	at   string // its path in the source, free of links
	v    source.Version
}

// A segmentList is the files of a directory that is a recording, sorted by name. It does not change.
// Two lists of one segmentLists are the same pointer exactly if they have the same files at the same
// versions: a list is a part of keys, which are compared often, and a recording may have thousands of
// segments.
type segmentList struct {
	files []segment
	inode uint64 // stands for all of it in a stamp
}

// segmentLists have those of the lists that are in use.
type segmentLists struct {
	mu  sync.Mutex
	all map[segmentSum]weak.Pointer[segmentList]
}

// A segmentSum is the checksum of a list.
type segmentSum [sha256.Size]byte

func newSegmentLists() *segmentLists {
	return &segmentLists{all: map[segmentSum]weak.Pointer[segmentList]{}}
}

// list returns the list of files. What tells lists apart has all that is known of each version, while the
// stamp leaves out what a remount or another link to the file changes.
func (s *segmentLists) list(files []segment) *segmentList {
	var all, stamps []byte
	for _, f := range files {
		for _, text := range []string{f.name, f.at} {
			all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
		}
		all = f.v.AppendAll(all)
		stamps = f.v.Append(append(append(stamps, f.name...), 0))
	}
	sum := segmentSum(sha256.Sum256(all))
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.all[sum].Value(); l != nil {
		return l
	}
	l := &segmentList{files, xxhash.Sum64(stamps)}
	s.all[sum] = weak.Make(l)
	runtime.AddCleanup(l, s.drop, sum)
	return l
}

// drop forgets a list that is not in use any more.
func (s *segmentLists) drop(sum segmentSum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[sum].Value() == nil { // else there is one again
		delete(s.all, sum)
	}
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
		rights = limited(rights, info.Rights)
		files = append(files, segment{name, at, info.Version})
	}
	return files, v, rights
}

// A segmentFS shows the regular files of a directory as they were at one
// version. Its files hold nothing open: a format may keep thousands of them
// without a descriptor of the process.
type segmentFS struct {
	ctx   context.Context // see [formats.InContext]
	files []segmentFile   // sorted by name
}

var _ iofs.ReadDirFS = (*segmentFS)(nil)

func newSegmentFS(segments *segmentList, reader func(string, source.Version) nodes.ReaderAt) *segmentFS {
	fsys := &segmentFS{ctx: context.Background()}
	for _, s := range segments.files {
		fsys.files = append(fsys.files, segmentFile{reader(s.at, s.v), s})
	}
	return fsys
}

// InContext tells [formats.InContext].
func (s *segmentFS) InContext(ctx context.Context) iofs.FS { return &segmentFS{ctx, s.files} }

// Open implements io/fs.FS.
func (s *segmentFS) Open(name string) (iofs.File, error) {
	i, ok := slices.BinarySearchFunc(s.files, name, func(f segmentFile, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	f := s.files[i]
	return source.IOFile(s.ctx, name, f, f.info()), nil
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
