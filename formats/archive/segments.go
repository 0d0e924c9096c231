package archive

import (
	"context"
	"errors"
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
func (a *Archive) segments(ctx context.Context, dir string, names source.Names, info source.Info) ([]segment, source.Version, nodes.Rights) {
	v, rights := info.Version, insideOf(info)
	v.Size = 0
	through := func(dir source.Info) { rights = limitedBy(rights, dir) }
	var files []segment
	untimed := v.Modified == 0 // as folders of web servers are: the newest file gives the time
	for i := range names.Len() {
		name, _ := names.At(i)
		at := path.Join(dir, name)
		info, err := a.tree.Stat(ctx, at)
		if err == nil && info.Type == iofs.ModeSymlink {
			at, info, err = a.resolve(ctx, dir, name, through)
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

// A beside is the directory of a recording, with all its names, for those who have certain rights.
type beside struct {
	a      *Archive
	dir    string
	rights nodes.Rights
}

// Open implements [formats.Folder].
func (b beside) Open(ctx context.Context, name string) (formats.File, error) {
	if !validName(name) {
		return formats.File{}, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	rights := b.rights
	at, info, err := b.a.resolve(ctx, b.dir, name, func(dir source.Info) { rights = limitedBy(rights, dir) })
	_, nowhere := errors.AsType[linkError](err)
	switch {
	case nowhere: // the link dangles
		return formats.File{}, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrNotExist}
	case err != nil:
		return formats.File{}, err
	case limited(rights, info.Rights) != b.rights:
		return formats.File{}, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrPermission}
	case info.Type != 0:
		return formats.File{}, formats.ErrNoFile
	}
	return formats.File{ReaderAt: source.NewReader(b.a.openFiles, source.FileKey{Path: at, Version: info.Version}), Name: name, Stamp: info.Stamp}, nil
}

// validName is iofs.ValidPath without asking for UTF-8.
func validName(name string) bool { return iofs.ValidPath(strings.ToValidUTF8(name, "_")) }
