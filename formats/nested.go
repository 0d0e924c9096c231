package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"recfs/cache"
	"recfs/nodes"
)

// A file that holds files (.tar, also compressed, and .zip) is shown as the
// directory of what it holds, an archive like the one it lies in: its
// recordings are opened, its files passed through. One that does not open is
// shown like a recording that does not, as raw and error.txt.

const (
	maxDepth   = 4       // containers in containers
	maxMembers = 1 << 20 // files and directories in one
	maxMember  = 4096    // bytes in a path in it
)

// A container is a kind of file that holds files.
type container struct {
	name string
	open func(ctx context.Context, a *archive, src Source) (*memberFS, error)
}

var (
	tarContainer = &container{"tar", openTar}
	zipContainer = &container{"zip", openZip}
)

// containerOf tells by its name whether a file is shown as a directory, and
// whether it is compressed as a whole.
func (a *archive) containerOf(name string) (c *container, packed bool) {
	if a.depth >= maxDepth {
		return nil, false
	}
	if stem, ok := strings.CutSuffix(name, ".zip"); ok && stem != "" {
		return zipContainer, false
	}
	for _, ext := range append([]string{""}, outerExtensions...) {
		if stem, ok := strings.CutSuffix(name, ".tar"+ext); ok && stem != "" {
			return tarContainer, ext != ""
		}
	}
	if stem, ok := strings.CutSuffix(name, ".tgz"); ok && stem != "" {
		return tarContainer, true
	}
	return nil, false
}

// A nested is the directory of what a container holds. It is a value, equal
// to another of the same version of the same file.
type nested struct {
	a   *archive
	key nestedKey
}

type nestedKey struct {
	recordingKey
	c *container
}

func (n nested) dir(ctx context.Context) (nodes.Dir, error) { return n.a.nests.Get(ctx, n.key) }

func (n nested) Len(ctx context.Context) (int, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return 0, err
	}
	return d.Len(ctx)
}

func (n nested) At(ctx context.Context, i int) (nodes.Entry, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return nodes.Entry{}, err
	}
	return d.At(ctx, i)
}

func (n nested) Find(ctx context.Context, name string) (int, error) {
	d, err := n.dir(ctx)
	if err != nil {
		return 0, err
	}
	return d.Find(ctx, name)
}

// memberCost is what a member of an opened container counts for in the cache
// besides its name.
const memberCost = 256

// loadNested opens a container.
func (a *archive) loadNested(ctx context.Context, k nestedKey, c *cache.Cache) (nodes.Dir, int64, error) {
	src, reads := a.source(k.recordingKey)
	var hurt damageFunc
	var err error
	if k.packed {
		hurt, err = a.unpack(ctx, k.recordingKey, &src, reads)
	}
	var fsys *memberFS
	if err == nil {
		fsys, err = openContainer(ctx, a, k.c, src)
	}
	switch {
	case err == nil:
		inner := newArchive(fsys, a.list, c, a.opt)
		inner.depth = a.depth + 1
		return fixed{folder{inner, ".", ""}}, fsys.cost(), nil
	case ctx.Err() != nil:
		return nil, 0, err
	case reads.failure() != nil:
		return nil, 0, reads.failure()
	}
	a.warn(k.path, k.v, "archive does not open", "format", k.c.name, "err", err)
	return broken(src, a.errorText(ctx, src, k.c.name, err, hurt)), treeCost, nil
}

// openContainer is the open of a container that does not panic.
func openContainer(ctx context.Context, a *archive, c *container, src Source) (fsys *memberFS, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{c.name, 0, fmt.Errorf("internal error: %v", p)}
		}
	}()
	return c.open(ctx, a, src)
}

// A fixed is a folder of a container: unlike others it never changes.
type fixed struct{ d folder }

func (f fixed) Len(ctx context.Context) (int, error) { return f.d.Len(ctx) }

func (f fixed) Find(ctx context.Context, name string) (int, error) { return f.d.Find(ctx, name) }

func (f fixed) AppendName(ctx context.Context, b []byte, i int) ([]byte, iofs.FileMode, error) {
	s, err := f.d.Snapshot(ctx)
	if err != nil {
		return b, 0, err
	}
	return nodes.AppendName(ctx, s, b, i)
}

func (f fixed) At(ctx context.Context, i int) (nodes.Entry, error) {
	e, err := f.d.At(ctx, i)
	if d, ok := e.Dir.(folder); ok {
		e.Dir = fixed{d}
	}
	return e, err
}

// A memberFS is the file system in a container.
type memberFS struct {
	path    string // of the container on disk, if it has one
	members map[string]*member
	names   int64 // bytes in them
}

// A member is a file, directory or symbolic link in a container, and its
// FileInfo and DirEntry.
type member struct {
	name     string // the last part of its path
	size     int64
	modified time.Time
	mode     iofs.FileMode
	link     string
	children []*member // of a directory, sorted when complete
	open     func() (io.ReaderAt, error)
}

func newMemberFS(src Source) *memberFS {
	fsys := &memberFS{members: map[string]*member{}}
	if src.ID != "" {
		fsys.path = path.Join("/", src.ID, src.Name)
	}
	fsys.members["."] = &member{name: ".", mode: iofs.ModeDir, modified: src.ModTime}
	return fsys
}

// Path returns a name for the container that no file has.
func (m *memberFS) Path() string { return m.path }

func (m *memberFS) cost() int64 { return treeCost + m.names + memberCost*int64(len(m.members)) }

// errMembers says that a container holds more than is shown.
var errMembers = errors.New("too many files in it")

// memberPath returns where a member of that name is shown: inside, whatever
// the name says; "" if nowhere.
func memberPath(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if len(name) > maxMember || strings.Contains(name, "\x00") {
		return ""
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 {
			return ""
		}
	}
	return name
}

// add puts a member at a path. Of two files of one name the later counts, as
// when unpacking; a directory stays one.
func (m *memberFS) add(name string, f member) error {
	at := memberPath(name)
	if at == "" {
		return nil
	}
	if len(m.members) >= maxMembers {
		return errMembers
	}
	if old := m.members[at]; old != nil {
		if f.mode.IsDir() && old.mode.IsDir() {
			old.modified = f.modified
		}
		if !f.mode.IsDir() && !old.mode.IsDir() {
			f.name = old.name
			*old = f
		}
		return nil
	}
	parent, err := m.mkdir(path.Dir(at), f.modified)
	if err != nil || parent == nil {
		return err
	}
	f.name = path.Base(at)
	m.put(parent, at, &f)
	return nil
}

func (m *memberFS) put(parent *member, at string, f *member) {
	parent.children = append(parent.children, f)
	m.members[at] = f
	m.names += int64(len(at) + len(f.name))
}

// mkdir returns the directory at a path, which it makes if the container
// does not mention it; nil if there is a file.
func (m *memberFS) mkdir(at string, modified time.Time) (*member, error) {
	if d := m.members[at]; d != nil {
		if !d.mode.IsDir() {
			return nil, nil
		}
		return d, nil
	}
	if len(m.members) >= maxMembers {
		return nil, errMembers
	}
	parent, err := m.mkdir(path.Dir(at), modified)
	if err != nil || parent == nil {
		return nil, err
	}
	d := &member{name: path.Base(at), mode: iofs.ModeDir, modified: modified}
	m.put(parent, at, d)
	return d, nil
}

func (m *memberFS) find(op, name string) (*member, error) {
	if f := m.members[name]; f != nil {
		return f, nil
	}
	return nil, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrNotExist}
}

// Open implements io/fs.FS. Links are not followed.
func (m *memberFS) Open(name string) (iofs.File, error) {
	f, err := m.find("open", name)
	if err != nil {
		return nil, err
	}
	if f.mode.IsDir() {
		return &memberDir{member: f}, nil
	}
	if f.open == nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	return memberFile{io.NewSectionReader(r, 0, f.size), f}, nil
}

// Lstat implements io/fs.ReadLinkFS.
func (m *memberFS) Lstat(name string) (iofs.FileInfo, error) { return m.find("lstat", name) }

// ReadLink implements io/fs.ReadLinkFS.
func (m *memberFS) ReadLink(name string) (string, error) {
	f, err := m.find("readlink", name)
	if err == nil && f.mode != iofs.ModeSymlink {
		err = &iofs.PathError{Op: "readlink", Path: name, Err: iofs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return f.link, nil
}

func (f *member) Name() string                 { return f.name }
func (f *member) Size() int64                  { return f.size }
func (f *member) Mode() iofs.FileMode          { return f.mode }
func (f *member) Type() iofs.FileMode          { return f.mode.Type() }
func (f *member) ModTime() time.Time           { return f.modified }
func (f *member) IsDir() bool                  { return f.mode.IsDir() }
func (f *member) Sys() any                     { return immutable{} }
func (f *member) Info() (iofs.FileInfo, error) { return f, nil }

// immutable is the Sys of a file that cannot change while it is open.
type immutable struct{}

type memberFile struct {
	*io.SectionReader
	f *member
}

func (f memberFile) Stat() (iofs.FileInfo, error) { return f.f, nil }
func (f memberFile) Close() error                 { return nil }

type memberDir struct {
	*member
	next int
}

func (d *memberDir) Stat() (iofs.FileInfo, error) { return d.member, nil }
func (d *memberDir) Close() error                 { return nil }
func (d *memberDir) Read([]byte) (int, error)     { return 0, iofs.ErrInvalid }

func (d *memberDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	return nextEntries(d.children, &d.next, n)
}

var _ nodes.Namer = fixed{}

var _ iofs.ReadDirFile = (*memberDir)(nil)

// expand returns a reader of a member that is stored in another form than
// its own: size bytes that c makes of stored ones.
func (a *archive) expand(c compression, stored io.ReaderAt, n, size int64, modified time.Time) func() (io.ReaderAt, error) {
	return func() (io.ReaderAt, error) {
		v := version{size: n, sec: modified.Unix(), nsec: modified.Nanosecond()}
		u, err := a.newUnpacked(c, stored, v)
		if err != nil {
			return nil, err
		}
		u.inMemory = size <= a.wholeSize
		return memberReader{u, size}, nil
	}
}

// A memberReader holds a member against the size and checksum its container
// states: its last byte is read only if they are right.
type memberReader struct {
	u    *unpacked
	size int64
}

func (r memberReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.u.ReadAt(p, off)
	if err == nil && off+int64(n) < r.size || err != nil && err != io.EOF {
		return n, err
	}
	d, failed := r.u.damageOf(context.Background())
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

// sort completes a file system.
func (m *memberFS) sort() {
	for _, f := range m.members {
		slices.SortFunc(f.children, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	}
}
