package container

import (
	"context"
	"encoding/binary"
	"io"
	iofs "io/fs"
	"time"

	"github.com/cespare/xxhash/v2"

	"recfs/formats"
	"recfs/formats/source"
	"recfs/formats/unpack"
	"recfs/nodes"
)

// An FS is the file system in a container. It holds no more than what
// the container is: the list is asked for each time.
type FS struct {
	Kind    *Kind
	Version source.Version // of the container
	Name    string         // a name for it that no file has; "": none
	Unpack  *unpack.Unpacker

	// list returns the list and what it is of, or no list if the container does
	// not open.
	List func(context.Context) (*Members, formats.Input, error)
}

// Path returns a name for the container that no file has.
func (m *FS) Path() string { return m.Name }

// A found is a member and the list that it stands in.
type found struct {
	*Members
	i   uint32
	src formats.Input
}

func (m *FS) find(op, name string) (found, error) {
	l, src, err := m.List(context.Background())
	if err != nil {
		return found{}, err
	}
	if l != nil {
		if i, ok := l.find(name); ok {
			return found{l, i, src}, nil
		}
	}
	return found{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrNotExist}
}

// Open implements io/fs.FS. Links are not followed.
func (m *FS) Open(name string) (iofs.File, error) {
	f, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	switch f.at(f.i).kind {
	case dirMember:
		return &memberDir{found: f, v: m.Version}, nil
	case linkMember:
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	r, err := m.Kind.open(context.Background(), f.src, m.Version, f.Members, *f.at(f.i), m.Unpack)
	if err != nil {
		return nil, err
	}
	info := f.info(m.Version)
	return source.NewFile(r, info.size, info), nil
}

// Lstat implements io/fs.ReadLinkFS.
func (m *FS) Lstat(name string) (iofs.FileInfo, error) {
	f, err := m.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return f.info(m.Version), nil
}

// ReadLink implements io/fs.ReadLinkFS.
func (m *FS) ReadLink(name string) (string, error) {
	f, err := m.find("readlink", name)
	if err == nil && f.at(f.i).kind != linkMember {
		err = &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return f.target(f.i), nil
}

// info returns the FileInfo of a member of a container of version v.
func (f found) info(v source.Version) *memberInfo {
	m := f.at(f.i)
	info := &memberInfo{name: string(f.name(f.i)), modified: m.modified(), mode: m.mode()}
	if info.mode == 0 {
		info.size = m.size
	}
	info.stamp = m.stamp(v.Stamp, info.size)
	return info
}

// stamp returns the stamp of a member of that size: what a container says of
// its members can be anything, so all that is known of the container is part
// of it, and the place there.
func (m *member) stamp(container formats.Stamp, size int64) formats.Stamp {
	place := binary.LittleEndian.AppendUint64(container.Append(nil), uint64(m.at))
	return formats.Stamp{
		Size: size, Modified: m.sec, Nanos: int64(m.nsec),
		Changed: container.Changed, Born: container.Born, Inode: xxhash.Sum64(place),
	}
}

func (m *member) mode() iofs.FileMode {
	switch m.kind {
	case dirMember:
		return iofs.ModeDir
	case linkMember:
		return iofs.ModeSymlink
	}
	return 0
}

// A memberInfo is the FileInfo and DirEntry of a member.
type memberInfo struct {
	name     string
	size     int64
	modified time.Time
	mode     iofs.FileMode
	stamp    formats.Stamp
}

func (i *memberInfo) Name() string                 { return i.name }
func (i *memberInfo) Size() int64                  { return i.size }
func (i *memberInfo) Mode() iofs.FileMode          { return i.mode }
func (i *memberInfo) Type() iofs.FileMode          { return i.mode.Type() }
func (i *memberInfo) ModTime() time.Time           { return i.modified }
func (i *memberInfo) IsDir() bool                  { return i.mode.IsDir() }
func (i *memberInfo) Sys() any                     { return source.Immutable{} }
func (i *memberInfo) Version() source.Version      { return source.Version{Stamp: i.stamp} }
func (i *memberInfo) Stamp() formats.Stamp         { return i.stamp }
func (i *memberInfo) Info() (iofs.FileInfo, error) { return i, nil }

type memberDir struct {
	found
	v    source.Version // of the container
	next int
}

func (d *memberDir) Stat() (iofs.FileInfo, error) { return d.info(d.v), nil }
func (d *memberDir) Close() error                 { return nil }
func (d *memberDir) Read([]byte) (int, error)     { return 0, iofs.ErrInvalid }

func (d *memberDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	all := d.in(d.i)
	return source.Entries(len(all), &d.next, n, func(i int) iofs.DirEntry { return found{d.Members, all[i], d.src}.info(d.v) })
}

var _ iofs.ReadDirFile = (*memberDir)(nil)

// A memberSection is the stored bytes of a member, which begin at at.
type memberSection struct {
	nodes.Content
	at int64
}

func sectionOf(src formats.Input, at, n int64) memberSection {
	return memberSection{nodes.SectionContent(src, at, n), at}
}

// expand returns a reader of a member that is stored in another form than
// its own: size bytes that c makes of stored ones, in a container of version v.
func expand(ctx context.Context, p *unpack.Unpacker, c unpack.Compression, stored memberSection, size int64, v source.Version) (nodes.ReaderAt, error) {
	v.Stamp = (&member{at: stored.at}).stamp(v.Stamp, stored.Size())
	u, err := p.Expand(ctx, c, stored, v, size)
	if err != nil {
		return nil, err
	}
	return memberReader{u, size}, nil
}

// A memberReader holds a member against the size and checksum its container
// states: its last byte is read only if they are right.
type memberReader struct {
	u    *unpack.Stream
	size int64
}

func (r memberReader) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := r.u.ReadAt(ctx, p, off)
	if err == nil && off+int64(n) < r.size || err != nil && err != io.EOF {
		return n, err
	}
	d, failed := r.u.Damaged(ctx)
	switch {
	case failed != nil:
		return 0, failed
	case d != nil:
		return 0, d
	case off+int64(n) < r.size:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}
