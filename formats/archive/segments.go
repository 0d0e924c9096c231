package archive

import (
	"encoding/binary"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/nodes"
)

// segments returns the regular files of a directory that is a recording, links
// to such files among them, and their versions as a string, so that a
// recordingKey stays comparable, and the version of the whole. The rights are
// those of a file of the recording: they allow what the directory and all the
// files allow.
func (a *archive) segments(dir string, l *listing, info iofs.FileInfo) (string, source.Version, nodes.Rights) {
	v, rights := source.VersionOf(info), insideOf(info)
	v.Size = 0
	through := func(dir iofs.FileInfo) { rights = limitedBy(rights, dir) }
	var b []byte
	for i := range l.len() {
		name := l.name(i)
		at := path.Join(dir, name)
		info, err := a.lstat(at)
		if err == nil && info.Mode().Type() == iofs.ModeSymlink {
			at, info, err = a.resolve(dir, name, through)
		}
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		f := source.VersionOf(info)
		v.Size += f.Size
		rights = limited(rights, source.RightsOf(info))
		for _, s := range []string{name, at} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		b = f.AppendAll(b)
	}
	return string(b) + "\x00", v, rights
}

// A segment is a file of a directory that is a recording.
type segment struct {
	name string
	at   string // its path in the source, free of links
	v    source.Version
}

func parseSegments(s string) []segment {
	var list []segment
	b := []byte(s[:len(s)-1])
	for len(b) > 0 {
		var seg segment
		for _, s := range []*string{&seg.name, &seg.at} {
			n, size := binary.Uvarint(b)
			*s = string(b[size:][:n])
			b = b[size:][n:]
		}
		seg.v, b = source.CutVersion(b)
		list = append(list, seg)
	}
	return list
}

// A segmentFS shows the regular files of a directory as they were at one
// version. Its files hold nothing open.
type segmentFS struct {
	modified time.Time
	files    []segmentInfo // sorted by name
}

func newSegmentFS(k recordingKey, reader func(string, source.Version) nodes.ReaderAt) *segmentFS {
	fsys := &segmentFS{modified: k.v.Time()}
	for _, s := range parseSegments(k.segments) {
		fsys.files = append(fsys.files, segmentInfo{s, reader(s.at, s.v)})
	}
	return fsys
}

func (s *segmentFS) Open(name string) (iofs.File, error) {
	if name == "." {
		return &segmentDir{fsys: s}, nil
	}
	i, ok := slices.BinarySearchFunc(s.files, name, func(f segmentInfo, name string) int { return strings.Compare(f.name, name) })
	if !ok {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	}
	f := s.files[i]
	return source.NewFile(f.r, f.v.Size, f), nil
}

// A segmentInfo is the DirEntry and FileInfo of a segment.
type segmentInfo struct {
	segment
	r nodes.ReaderAt
}

func (i segmentInfo) Name() string                 { return i.name }
func (i segmentInfo) Size() int64                  { return i.v.Size }
func (i segmentInfo) Mode() iofs.FileMode          { return 0o444 }
func (i segmentInfo) ModTime() time.Time           { return i.v.Time() }
func (i segmentInfo) IsDir() bool                  { return false }
func (i segmentInfo) Sys() any                     { return nil }
func (i segmentInfo) Version() source.Version      { return i.v }
func (i segmentInfo) Stamp() formats.Stamp         { return i.v.Stamp }
func (i segmentInfo) Type() iofs.FileMode          { return 0 }
func (i segmentInfo) Info() (iofs.FileInfo, error) { return i, nil }

// A segmentDir is the opened directory of a segmentFS, and its FileInfo.
type segmentDir struct {
	fsys *segmentFS
	next int
}

func (d *segmentDir) Stat() (iofs.FileInfo, error) { return segmentDirInfo{d.fsys}, nil }
func (d *segmentDir) Close() error                 { return nil }
func (d *segmentDir) Read([]byte) (int, error)     { return 0, iofs.ErrInvalid }
func (d *segmentDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	return source.Entries(len(d.fsys.files), &d.next, n, func(i int) iofs.DirEntry { return d.fsys.files[i] })
}

type segmentDirInfo struct{ fsys *segmentFS }

func (i segmentDirInfo) Name() string        { return "." }
func (i segmentDirInfo) Size() int64         { return 0 }
func (i segmentDirInfo) Mode() iofs.FileMode { return iofs.ModeDir | 0o555 }
func (i segmentDirInfo) ModTime() time.Time  { return i.fsys.modified }
func (i segmentDirInfo) IsDir() bool         { return true }
func (i segmentDirInfo) Sys() any            { return nil }

// raw shows the files as they lie there.
func (s *segmentFS) raw() nodes.Dir {
	var entries []nodes.Entry
	for _, f := range s.files {
		entries = append(entries, nodes.Entry{Name: f.name, Attr: nodes.Attr{Time: f.v.Time()}, File: nodes.Section(f.r, 0, f.v.Size)})
	}
	return nodes.List(entries...)
}
