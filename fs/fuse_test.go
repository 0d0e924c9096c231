//go:build linux && (amd64 || arm64 || riscv64)

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"recfs/nodes"
)

const estale = fuse.Status(syscall.ESTALE)

// A kernel makes requests as the kernel does.
type kernel struct {
	t      *testing.T
	server *server
}

func newKernel(t *testing.T, root nodes.Dir, opt Options) *kernel {
	if opt.Time.IsZero() {
		opt.Time = sampleTime
	}
	k := &kernel{t, newServer(root, &opt)}
	t.Cleanup(k.server.OnUnmount)
	return k
}

func (k *kernel) tryLookup(parent uint64, name string) (fuse.EntryOut, fuse.Status) {
	var out fuse.EntryOut
	status := k.server.Lookup(nil, &fuse.InHeader{NodeId: parent}, name, &out)
	return out, status
}

// walk looks up every element of a path.
func (k *kernel) walk(name string) fuse.EntryOut {
	k.t.Helper()
	out := fuse.EntryOut{NodeId: rootID}
	for part := range strings.SplitSeq(name, "/") {
		var status fuse.Status
		if out, status = k.tryLookup(out.NodeId, part); status != fuse.OK || out.NodeId == 0 {
			k.t.Fatalf("lookup of %s in %s: %v, node %d", part, name, status, out.NodeId)
		}
	}
	return out
}

func (k *kernel) getattr(id uint64) (fuse.AttrOut, fuse.Status) {
	var out fuse.AttrOut
	status := k.server.GetAttr(nil, &fuse.GetAttrIn{InHeader: fuse.InHeader{NodeId: id}}, &out)
	return out, status
}

func (k *kernel) read(id uint64, off int64, size int) ([]byte, fuse.Status) {
	k.t.Helper()
	buf := make([]byte, size)
	result, status := k.server.Read(nil, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: id}, Offset: uint64(off)}, buf)
	if status != fuse.OK {
		return nil, status
	}
	defer result.Done()
	b, status := result.Bytes(nil)
	return b, status
}

// readFile reads a file from its beginning to its end.
func (k *kernel) readFile(id uint64) (string, fuse.Status) {
	k.t.Helper()
	var all []byte
	for {
		b, status := k.read(id, int64(len(all)), 4096)
		if status != fuse.OK || len(b) == 0 {
			return string(all), status
		}
		all = append(all, b...)
	}
}

// A lister is an open directory.
type lister struct {
	k  *kernel
	in fuse.ReadIn
}

func (k *kernel) opendir(id uint64) *lister {
	k.t.Helper()
	var out fuse.OpenOut
	if status := k.server.OpenDir(nil, &fuse.OpenIn{InHeader: fuse.InHeader{NodeId: id}}, &out); status != fuse.OK {
		k.t.Fatalf("opendir: %v", status)
	}
	return &lister{k, fuse.ReadIn{InHeader: fuse.InHeader{NodeId: id}, Fh: out.Fh}}
}

// next returns what the next READDIR with a buffer of that size returns.
func (l *lister) next(size int) []fuse.DirEntry {
	l.k.t.Helper()
	list := fuse.NewDirEntryList(make([]byte, size), l.in.Offset)
	if status := l.k.server.ReadDir(nil, &l.in, list); status != fuse.OK {
		l.k.t.Fatalf("readdir at %d: %v", l.in.Offset, status)
	}
	entries, err := fuse.ParseDirEntries(list.Bytes())
	if err != nil {
		l.k.t.Fatal(err)
	}
	if n := len(entries); n > 0 {
		l.in.Offset = entries[n-1].Off
	}
	return entries
}

func (l *lister) nextPlus(size int) ([]fuse.DirEntry, []fuse.EntryOut) {
	l.k.t.Helper()
	list := fuse.NewDirEntryList(make([]byte, size), l.in.Offset)
	if status := l.k.server.ReadDirPlus(nil, &l.in, list); status != fuse.OK {
		l.k.t.Fatalf("readdirplus at %d: %v", l.in.Offset, status)
	}
	entries, outs, err := fuse.ParseDirLookupEntries(list.Bytes())
	if err != nil {
		l.k.t.Fatal(err)
	}
	if n := len(entries); n > 0 {
		l.in.Offset = entries[n-1].Off
	}
	return entries, outs
}

func (l *lister) rest() []fuse.DirEntry {
	l.k.t.Helper()
	var all []fuse.DirEntry
	for {
		entries := l.next(4096)
		if len(entries) == 0 {
			return all
		}
		all = append(all, entries...)
	}
}

func (l *lister) close() {
	l.k.server.ReleaseDir(&fuse.ReleaseIn{InHeader: l.in.InHeader, Fh: l.in.Fh})
}

func names(entries []fuse.DirEntry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, e.Name)
	}
	return list
}

func TestLookup(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	for name, want := range map[string]struct {
		mode  uint32
		size  uint64
		mtime time.Time
	}{
		"a.recording":                      {syscall.S_IFDIR | 0o555, 0, sampleTime},
		"a.recording/raw":                  {syscall.S_IFREG | 0o444, 3 << 20, sampleTime},
		"a.recording/empty":                {syscall.S_IFREG | 0o444, 0, sampleTime},
		"a.recording/ticks":                {syscall.S_IFDIR | 0o555, 0, sampleTime},
		"a.recording/ticks/00000001.json":  {syscall.S_IFREG | 0o444, 17, sampleTime},
		"a.recording/ticks/1.json":         {syscall.S_IFREG | 0o444, 17, sampleTime},
		"a.recording/states/00000010.json": {syscall.S_IFREG | 0o444, 12, sampleTime},
		"a.recording/states/11.json":       {syscall.S_IFREG | 0o444, 12, sampleTime}, // not listed
		"damaged/whole":                    {syscall.S_IFREG | 0o444, 6, sampleTime.Add(time.Hour)},
		"link":                             {syscall.S_IFLNK | 0o777, 14, sampleTime},
	} {
		out := k.walk(name)
		a := out.Attr
		if a.Mode != want.mode || a.Size != want.size || !a.ModTime().Equal(want.mtime) {
			t.Errorf("%s: mode %o, size %d, mtime %v, want %v", name, a.Mode, a.Size, a.ModTime(), want)
		}
		if a.Blocks != (a.Size+511)/512 || a.Nlink != 1 || a.Ino <= rootID {
			t.Errorf("%s: %d blocks, %d links, inode %d", name, a.Blocks, a.Nlink, a.Ino)
		}
		attrTimeout := time.Hour
		if want.size == 0 && want.mode&syscall.S_IFREG != 0 {
			attrTimeout = 0
		}
		if out.EntryTimeout() != time.Hour || out.AttrTimeout() != attrTimeout {
			t.Errorf("%s: timeouts %v, %v", name, out.EntryTimeout(), out.AttrTimeout())
		}
		attr, status := k.getattr(out.NodeId)
		if status != fuse.OK || attr.Attr != out.Attr || attr.Timeout() != attrTimeout {
			t.Errorf("%s: GETATTR %v, %v differs from LOOKUP %v", name, attr, status, out.Attr)
		}
	}
	if root, status := k.getattr(rootID); status != fuse.OK || root.Ino != rootID || root.Mode != syscall.S_IFDIR|0o555 {
		t.Errorf("root: %v, %v", root, status)
	}
}

func TestOwnerAndMode(t *testing.T) {
	uid, gid := uint32(1234), uint32(0)
	k := newKernel(t, sampleTree(), Options{UID: &uid, GID: &gid, Umask: 0o027})
	for name, mode := range map[string]uint32{"damaged": 0o550, "damaged/whole": 0o440, "link": 0o750} {
		a := k.walk(name).Attr
		if a.Uid != uid || a.Gid != gid || a.Mode&0o777 != mode {
			t.Errorf("%s: %d:%d %o, want %d:%d %o", name, a.Uid, a.Gid, a.Mode&0o777, uid, gid, mode)
		}
	}
}

// A recording has the rights of its source, and what is in it has those.
func TestRights(t *testing.T) {
	rec := sampleRecording(1)
	rec.Rights = nodes.NewRights(0o640, 5, 6).Searchable()
	tool := nodes.Entry{Name: "tool", File: nodes.Bytes(nil)}
	tool.Rights = nodes.NewRights(0o711, 7, 8)
	live := newLiveDir(rec, tool)
	k := newKernel(t, live, Options{Umask: 0o100})
	for name, want := range map[string]fuse.Attr{
		"a.recording":                     {Mode: 0o650, Owner: fuse.Owner{Uid: 5, Gid: 6}},
		"a.recording/ticks":               {Mode: 0o650, Owner: fuse.Owner{Uid: 5, Gid: 6}},
		"a.recording/ticks/00000000.json": {Mode: 0o640, Owner: fuse.Owner{Uid: 5, Gid: 6}},
		"tool":                            {Mode: 0o611, Owner: fuse.Owner{Uid: 7, Gid: 8}},
	} {
		if a := k.walk(name).Attr; a.Owner != want.Owner || a.Mode&0o7777 != want.Mode {
			t.Errorf("%s: %v %o, want %v %o", name, a.Owner, a.Mode, want.Owner, want.Mode)
		}
	}
	old := k.walk("a.recording")
	rec.Rights.Mode = 0o700
	live.set(rec)
	if closed := k.walk("a.recording"); closed.NodeId == old.NodeId || closed.Mode&0o777 != 0o600 {
		t.Errorf("after chmod it is node %#x, mode %o; before node %#x", closed.NodeId, closed.Mode, old.NodeId)
	}
}

// A program in a directory of the source learns of its new mode;
// one that is gone keeps the last.
func TestRightsOfVolatile(t *testing.T) {
	live := newLiveDir()
	k := newKernel(t, live, Options{})
	for _, mode := range []uint32{0o700, 0o755} {
		live.set(nodes.Entry{Name: ".", Attr: nodes.Attr{Rights: nodes.NewRights(iofs.FileMode(mode), 5, 6)}, Dir: live})
		if a, status := k.getattr(rootID); status != fuse.OK || a.Mode&0o7777 != mode || a.Uid != 5 || !a.ModTime().Equal(sampleTime) {
			t.Errorf("root: %v, %v, want mode %o", a, status, mode)
		}
	}
	live.remove(".")
	if _, status := k.getattr(rootID); status != fuse.OK {
		t.Errorf("a root that is gone: %v", status)
	}
}

// Only where others are let in does the kernel check their rights.
func TestMountWords(t *testing.T) {
	for allow, want := range map[bool]string{false: "ro", true: "ro,default_permissions"} {
		if got := strings.Join((&Options{AllowOther: allow}).words(), ","); got != want {
			t.Errorf("with AllowOther %v: %q, want %q", allow, got, want)
		}
	}
}

func TestLookupErrors(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	out, status := k.tryLookup(rootID, "missing")
	if status != fuse.OK || out.NodeId != 0 || out.EntryTimeout() != time.Hour {
		t.Errorf("a name that can never appear: %v, node %d, timeout %v", status, out.NodeId, out.EntryTimeout())
	}
	damaged := k.walk("damaged").NodeId
	if _, status := k.tryLookup(damaged, "broken"); status != fuse.EIO {
		t.Errorf("a file of unknown size: %v, want EIO", status)
	}
	if _, status := k.tryLookup(k.walk("notes.txt").NodeId, "x"); status != fuse.ENOTDIR {
		t.Errorf("a name in a file: %v, want ENOTDIR", status)
	}
	if _, status := k.tryLookup(rootID, strings.Repeat("x", nameMax+1)); status != fuse.Status(syscall.ENAMETOOLONG) {
		t.Errorf("a name that is too long: %v, want ENAMETOOLONG", status)
	}
	for _, id := range []uint64{0, 2, rootNumber<<indexBits | 77, 99 << indexBits, 99<<indexBits | 1, ^uint64(0)} {
		if _, status := k.getattr(id); status == fuse.OK {
			t.Errorf("node id %#x, which the kernel was not given: %v", id, status)
		}
		if _, status := k.tryLookup(id, "x"); status == fuse.OK {
			t.Errorf("lookup in node id %#x, which the kernel was not given: %v", id, status)
		}
		k.server.Forget(id, 1)
	}
	if k.server.table.len() != 1 {
		t.Errorf("%d nodes are held, want 1", k.server.table.len())
	}
}

func TestRead(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	raw := k.walk("a.recording/raw").NodeId
	want := pattern(3<<20 + 17)[5 : 5+3<<20]
	for _, at := range []struct{ off, size, n int }{
		{0, 4096, 4096}, {1, 131072, 131072}, {3<<20 - 10, 4096, 10}, {3 << 20, 4096, 0}, {4 << 20, 4096, 0}, {12345, 0, 0},
	} {
		b, status := k.read(raw, int64(at.off), at.size)
		if status != fuse.OK || len(b) != at.n || at.n > 0 && !bytes.Equal(b, want[at.off:at.off+at.n]) {
			t.Errorf("%d bytes at %d: %d bytes, %v, want %d", at.size, at.off, len(b), status, at.n)
		}
	}
	for name, want := range map[string]string{
		"a.recording/empty":                "",
		"a.recording/header.json":          "{}\n",
		"a.recording/states/00000019.json": "{\"tick\":19}\n",
		"a.recording/ticks/00004999.json":  "{\"tick\":4999,\"x\":24990001}\n",
	} {
		if got, status := k.readFile(k.walk(name).NodeId); got != want || status != fuse.OK {
			t.Errorf("%s: %q, %v, want %q", name, got, status, want)
		}
	}
	if _, status := k.read(k.walk("damaged").NodeId, 0, 10); status != fuse.Status(syscall.EISDIR) {
		t.Errorf("read of a directory: %v", status)
	}
	if _, status := k.read(k.walk("damaged/short").NodeId, 0, 10); status != estale {
		t.Errorf("read of a file that is not as long as announced: %v, want ESTALE", status)
	}
	if _, status := k.read(99<<indexBits|1, 0, 10); status != estale {
		t.Errorf("read of an unknown node: %v", status)
	}
	if status := k.server.Open(nil, &fuse.OpenIn{}, nil); status != fuse.ENOSYS {
		t.Errorf("open: %v", status)
	}
}

// A truncated Content has 10 of 100 bytes.
type truncated struct{ err error }

func (truncated) Size() int64 { return 100 }
func (c truncated) ReadAt(_ context.Context, b []byte, _ int64) (int, error) {
	return min(len(b), 10), c.err
}

func TestShortReads(t *testing.T) {
	for err, want := range map[error]fuse.Status{io.EOF: estale, nodes.ErrStale: estale, nil: estale, io.ErrUnexpectedEOF: fuse.EIO} {
		n, got := readFull(t.Context(), truncated{err}, make([]byte, 50), 0)
		if n != 0 || errno(got) != want {
			t.Errorf("a read that ends early with %v: %d bytes, %v, want %v", err, n, got, want)
		}
	}
}

func TestReadlink(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	target, status := k.server.Readlink(nil, &fuse.InHeader{NodeId: k.walk("link").NodeId})
	if string(target) != "../elsewhere/x" || status != fuse.OK {
		t.Errorf("readlink: %q, %v", target, status)
	}
	if _, status := k.server.Readlink(nil, &fuse.InHeader{NodeId: k.walk("notes.txt").NodeId}); status != fuse.EINVAL {
		t.Errorf("readlink of a file: %v", status)
	}
}

func TestForget(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	first := k.walk("a.recording/ticks")
	again := k.walk("a.recording/ticks")
	if first.NodeId != again.NodeId || first.Generation != again.Generation {
		t.Errorf("the same directory has the ids %#x and %#x", first.NodeId, again.NodeId)
	}
	recording := k.walk("a.recording").NodeId
	for i := range 1000 {
		k.walk(fmt.Sprintf("a.recording/ticks/%08d.json", i))
	}
	if n := k.server.table.len(); n != 2 {
		t.Errorf("%d nodes are held, want the 2 directories", n)
	}
	k.server.Forget(first.NodeId|1, 1) // a file: nothing happens
	k.server.Forget(first.NodeId, 1001)
	if _, status := k.getattr(first.NodeId); status != fuse.OK {
		t.Errorf("the directory is gone after 1001 of 1002 lookups were forgotten: %v", status)
	}
	k.server.Forget(first.NodeId, 1)
	if _, status := k.getattr(first.NodeId | 1); status != estale {
		t.Errorf("a file in a forgotten directory: %v", status)
	}
	other := k.walk("damaged")
	if other.NodeId != first.NodeId {
		t.Errorf("a free number is not used again: %#x, want %#x", other.NodeId, first.NodeId)
	}
	if other.Generation == first.Generation {
		t.Error("a number is used again with the same generation")
	}
	k.server.Forget(other.NodeId, 1)
	k.server.Forget(recording, 1003)
	k.server.Forget(rootID, 5) // the root stays
	if n := k.server.table.len(); n != 0 {
		t.Errorf("%d nodes are held after all were forgotten", n)
	}
	k.walk("a.recording/ticks/00000000.json")
}

func TestInodesAreStable(t *testing.T) {
	ids := map[string]uint64{}
	for round := range 2 {
		entries := []nodes.Entry{
			{Name: "live", Dir: newLiveDir(
				nodes.Entry{Name: "a", Dir: sampleTree()}, nodes.Entry{Name: "b", File: nodes.Bytes(nil)},
			)},
			{Name: "z", Dir: sampleTree()},
		}
		if round == 1 {
			entries = append(entries, nodes.Entry{Name: "a", File: nodes.Bytes(nil)}) // other indexes
		}
		k := newKernel(t, nodes.List(entries...), Options{})
		if round == 1 {
			k.walk("z/a.recording/ticks") // numbers are given in another order
		}
		for _, name := range []string{"live", "live/b", "live/a/a.recording/ticks", "live/a/a.recording/ticks/00000005.json", "z/damaged/whole"} {
			ino := k.walk(name).Attr.Ino
			if other, ok := ids[name]; ok && other != ino {
				t.Errorf("%s: inode %d, was %d at the last mount", name, ino, other)
			}
			ids[name] = ino
		}
	}
	if len(slices.Compact(slices.Sorted(func(yield func(uint64) bool) {
		for _, ino := range ids {
			if !yield(ino) {
				return
			}
		}
	}))) != len(ids) {
		t.Errorf("inodes are not unique: %v", ids)
	}
}

func TestVolatile(t *testing.T) {
	live := newLiveDir()
	k := newKernel(t, live, Options{})
	if _, status := k.tryLookup(rootID, "f"); status != fuse.ENOENT {
		t.Errorf("a name that may appear: %v, want ENOENT, which is not kept", status)
	}
	live.set(nodes.Entry{Name: "f", Attr: nodes.Attr{Time: sampleTime}, File: nodes.Bytes([]byte("old"))})
	old := k.walk("f")
	if old.EntryTimeout() != 0 || old.AttrTimeout() != time.Hour {
		t.Errorf("timeouts %v, %v, want 0 for the name and an hour for the version", old.EntryTimeout(), old.AttrTimeout())
	}
	if again := k.walk("f"); again.NodeId != old.NodeId || again.Generation != old.Generation {
		t.Errorf("the same version has the ids %#x and %#x", old.NodeId, again.NodeId)
	}
	live.set(nodes.Entry{Name: "f", Attr: nodes.Attr{Time: sampleTime}, File: nodes.Bytes([]byte("newer"))})
	newer := k.walk("f")
	if newer.NodeId == old.NodeId || newer.Attr.Size != 5 || newer.Attr.Ino != old.Attr.Ino {
		t.Errorf("the new version: %+v, the old: %+v", newer, old)
	}
	live.remove("f")
	for id, want := range map[uint64]string{old.NodeId: "old", newer.NodeId: "newer"} {
		if got, status := k.readFile(id); got != want || status != fuse.OK {
			t.Errorf("node %#x: %q, %v, want %q", id, got, status, want)
		}
	}
	k.server.Forget(old.NodeId, 2)
	if got, status := k.readFile(newer.NodeId); got != "newer" || status != fuse.OK {
		t.Errorf("after the old version was forgotten: %q, %v", got, status)
	}
	live.set(nodes.Entry{Name: "f", Link: "g"})
	if out := k.walk("f"); out.Attr.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		t.Errorf("the file became a link: %o", out.Attr.Mode)
	}
}

// Forgetting an old version does not lose the place of the one that replaced
// it.
func TestForgetOldVersion(t *testing.T) {
	entry := func(content string) nodes.Entry {
		return nodes.Entry{Name: "file", File: nodes.Bytes([]byte(content))}
	}
	live := newLiveDir(entry("old"))
	k := newKernel(t, live, Options{})
	old := k.walk("file").NodeId
	live.set(entry("new"))
	renewed := k.walk("file").NodeId
	k.server.Forget(old, 1)
	if again := k.walk("file").NodeId; again != renewed || renewed == old {
		t.Errorf("ids %#x, %#x, %#x", old, renewed, again)
	}
}

func TestEntryTimeout(t *testing.T) {
	root := newLiveDir(nodes.Entry{Name: "f", File: nodes.Bytes(nil)}, nodes.Entry{Name: "sub", Dir: newLiveDir()})
	k := newKernel(t, root, Options{EntryTimeout: time.Minute})
	for _, name := range []string{"f", "sub"} {
		out := k.walk(name)
		if got := out.EntryTimeout(); got != time.Minute {
			t.Errorf("%s is kept for %v", name, got)
		}
	}
}

func TestVolatileDirectoryKeepsItsNode(t *testing.T) {
	sub := newLiveDir()
	root := newLiveDir(nodes.Entry{Name: "sub", Attr: nodes.Attr{Time: sampleTime}, Dir: sub})
	k := newKernel(t, root, Options{})
	first := k.walk("sub")
	if first.AttrTimeout() != volatile || first.EntryTimeout() != volatile {
		t.Errorf("a volatile directory is kept for %v, its attributes for %v", first.EntryTimeout(), first.AttrTimeout())
	}
	later := sampleTime.Add(time.Minute)
	root.set(nodes.Entry{Name: "sub", Attr: nodes.Attr{Time: later}, Dir: sub})
	second := k.walk("sub")
	if second.NodeId != first.NodeId || !second.Attr.ModTime().Equal(later) {
		t.Errorf("node %#x at %v, was %#x", second.NodeId, second.Attr.ModTime(), first.NodeId)
	}
	if attr, _ := k.getattr(first.NodeId); !attr.ModTime().Equal(later) {
		t.Errorf("GETATTR still has %v", attr.ModTime())
	}
}

func TestReadDir(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	dir := k.walk("a.recording/ticks")
	all := k.opendir(dir.NodeId).rest()
	if len(all) != 5002 || all[0].Name != "." || all[1].Name != ".." || all[5001].Name != "00004999.json" {
		t.Fatalf("%d entries: %v …", len(all), all[:3])
	}
	if all[0].Ino != dir.Attr.Ino || all[1].Ino != k.walk("a.recording").Attr.Ino {
		t.Errorf("inodes of . and ..: %v", all[:2])
	}
	if e := all[1002]; e.Ino != k.walk("a.recording/ticks/00001000.json").Attr.Ino || e.Mode != syscall.S_IFREG || e.Off != 1003 {
		t.Errorf("entry %v", e)
	}
	for _, off := range []uint64{0, 1, 2, 3, 1777, 5001, 5002, 1 << 40, 1 << 62} {
		l := k.opendir(dir.NodeId)
		l.in.Offset = off
		if got, want := names(l.rest()), names(all[min(off, 5002):]); !slices.Equal(got, want) {
			t.Errorf("listing from offset %d on: %d entries, want %d", off, len(got), len(want))
		}
	}
}

func TestTwoListers(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{})
	dir := k.walk("a.recording/ticks").NodeId
	want := names(k.opendir(dir).rest())
	a, b := k.opendir(dir), k.opendir(dir)
	var gotA, gotB []string
	rewound := false
	for {
		nextA, nextB := names(a.next(4096)), names(b.next(1000))
		gotA, gotB = append(gotA, nextA...), append(gotB, nextB...)
		if len(gotB) > 2000 && !rewound {
			b.in.Offset, gotB, rewound = 0, nil, true
		}
		if len(nextA) == 0 && len(nextB) == 0 {
			break
		}
	}
	if !slices.Equal(gotA, want) || !slices.Equal(gotB, want) {
		t.Errorf("two listers got %d and %d names, want %d", len(gotA), len(gotB), len(want))
	}
}

func TestReadDirPlus(t *testing.T) {
	for mode, first := range map[ReadDirPlus]bool{ReadDirPlusAuto: false, ReadDirPlusOn: true} {
		k := newKernel(t, sampleTree(), Options{ReadDirPlus: mode})
		l := k.opendir(k.walk("a.recording/ticks").NodeId)
		entries, outs := l.nextPlus(4096)
		for i, e := range entries {
			if known := outs[i].NodeId != 0; known != (first && i >= dotEntries) {
				t.Errorf("%v: first entries: %s comes with node id %d", mode, e.Name, outs[i].NodeId)
			}
		}
		entries, outs = l.nextPlus(4096)
		if len(entries) < 10 {
			t.Fatalf("%v: %d entries", mode, len(entries))
		}
		for i, e := range entries {
			if want := k.walk("a.recording/ticks/" + e.Name); outs[i] != want || e.Ino != want.Attr.Ino {
				t.Errorf("%v: %s comes with %+v, a look-up gives %+v", mode, e.Name, outs[i], want)
			}
		}
	}
}

// earlyDir knows the entry "raw" before the others, and so under an index of its own.
type earlyDir struct{ nodes.Dir }

const earlyIndex = 1 << 30

func (d earlyDir) Find(ctx context.Context, name string) (int, error) {
	if name == "raw" {
		return earlyIndex, nil
	}
	return d.Dir.Find(ctx, name)
}

func (d earlyDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i == earlyIndex {
		i = 1
	}
	return d.Dir.At(ctx, i)
}

// What opens by name under another index than in the listing has one node id, also while it grows.
func TestReadDirPlusOneNode(t *testing.T) {
	for _, grows := range []bool{false, true} {
		file := nodes.Bytes([]byte("abc"))
		list := nodes.List(nodes.Entry{Name: "a", File: file}, nodes.Entry{Name: "raw", File: file, Grows: grows})
		k := newKernel(t, earlyDir{list}, Options{ReadDirPlus: ReadDirPlusOn})
		_, outs := k.opendir(rootID).nextPlus(4096)
		for i, name := range []string{"a", "raw"} {
			if want := k.walk(name); outs[dotEntries+i].NodeId != want.NodeId {
				t.Errorf("%s is node %d in the listing and %d by its name", name, outs[dotEntries+i].NodeId, want.NodeId)
			}
		}
	}
}

// unmeasured is a file whose size is not known until somebody asks for it.
type unmeasured struct {
	nodes.File
	measured *atomic.Bool
}

func (u unmeasured) IsMeasured(context.Context) bool { return u.measured.Load() }

func (u unmeasured) Size(ctx context.Context) (int64, error) {
	u.measured.Store(true)
	return u.File.Size(ctx)
}

func TestReadDirPlusMeasuresNothing(t *testing.T) {
	var measured atomic.Bool
	root := nodes.List(nodes.Entry{Name: "a", File: unmeasured{nodes.Bytes([]byte("abc")), &measured}})
	k := newKernel(t, root, Options{ReadDirPlus: ReadDirPlusOn})
	if _, outs := k.opendir(rootID).nextPlus(4096); outs[dotEntries].NodeId != 0 || measured.Load() {
		t.Errorf("a listing has measured the file: %+v", outs[dotEntries])
	}
	if want := k.walk("a"); want.Attr.Size != 3 {
		t.Errorf("a look-up gives %+v", want)
	}
	if _, outs := k.opendir(rootID).nextPlus(4096); outs[dotEntries].Attr.Size != 3 {
		t.Errorf("a listing does not give what is known: %+v", outs[dotEntries])
	}
}

func TestReadDirPlusHoldsDirectories(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{ReadDirPlus: ReadDirPlusOn})
	entries, outs := k.opendir(rootID).nextPlus(4096)
	for i, e := range entries[dotEntries:] {
		out := outs[i+dotEntries]
		if out.NodeId == 0 {
			t.Errorf("%s comes without attributes", e.Name)
		}
		k.server.Forget(out.NodeId, 1)
	}
	if n := k.server.table.len(); n != 0 {
		t.Errorf("%d nodes are held after all were forgotten", n)
	}
	_, outs = k.opendir(k.walk("damaged").NodeId).nextPlus(4096)
	if outs[dotEntries].NodeId != 0 || outs[dotEntries+1].NodeId == 0 {
		t.Errorf("only the broken file has no attributes: %v", outs)
	}
}

func TestListVolatile(t *testing.T) {
	live := newLiveDir()
	for i := range 100 {
		live.set(nodes.Entry{Name: fmt.Sprintf("f%02d", i), File: nodes.Bytes(nil)})
	}
	k := newKernel(t, live, Options{ReadDirPlus: ReadDirPlusOn})
	l := k.opendir(rootID)
	got := names(l.next(1000))
	live.remove("f00")
	live.set(nodes.Entry{Name: "g", File: nodes.Bytes(nil)})
	got = append(got, names(l.rest())...)
	if len(got) != 102 || got[2] != "f00" || got[101] != "f99" {
		t.Errorf("a listing changed while it was read: %v", got)
	}
	l.in.Offset = 0
	if got := names(l.rest()); len(got) != 102 || got[2] != "f01" || got[101] != "g" {
		t.Errorf("a rewound listing is not fresh: %v", got)
	}
	other := k.opendir(rootID)
	other.in.Offset = 90 + dotEntries
	if got := names(other.rest()); len(got) != 10 || got[9] != "g" {
		t.Errorf("a listing that goes on where another one stopped: %v", got)
	}
	other.close()
	l.in.Offset = 0
	entries, outs := l.nextPlus(1 << 16)
	for i, out := range outs {
		if out.NodeId != 0 {
			t.Errorf("%s is held by a listing, which cannot be kept", entries[i].Name)
		}
	}
	if e, f := entries[5], k.walk(entries[5].Name); e.Ino != f.Attr.Ino {
		t.Errorf("%s: inode %d when listed, %d when looked up", e.Name, e.Ino, f.Attr.Ino)
	}
	l.close()
	for handle := range k.server.listings.dirs.Range {
		t.Errorf("the snapshot of handle %d is held after the directory was closed", handle)
	}
}

// A pagedDir is known as far as somebody waited for it, a page of ten entries at least.
type pagedDir struct {
	nodes.Dir
	known int
}

func (d *pagedDir) LenTo(ctx context.Context, n int) (int, error) {
	all, err := d.Len(ctx)
	d.known = max(d.known, min(n+9, all))
	return d.known, err
}

func (d *pagedDir) Snapshot(context.Context) (nodes.Dir, error) { return d, nil }

func (d *pagedDir) Lookup(ctx context.Context, name string) (nodes.Entry, error) {
	return nodes.Child(ctx, d.Dir, name)
}

// TestListPaged answers with the names that are known, and goes on wherever a program does.
func TestListPaged(t *testing.T) {
	var all []nodes.Entry
	for i := range 100 {
		all = append(all, nodes.Entry{Name: fmt.Sprintf("f%02d", i), File: nodes.Bytes(nil)})
	}
	dir := &pagedDir{Dir: nodes.List(all...)}
	k := newKernel(t, dir, Options{})
	l := k.opendir(rootID)
	if got := l.next(1 << 16); len(got) != 10+dotEntries || dir.known != 10 {
		t.Errorf("%d names first, of which %d are known", len(got), dir.known)
	}
	if got := names(l.rest()); len(got) != 90 || got[0] != "f10" || got[89] != "f99" {
		t.Errorf("then %v", got)
	}
	dir.known = 0
	l = k.opendir(rootID)
	l.in.Offset = 95 + dotEntries
	if got := names(l.rest()); len(got) != 5 || got[0] != "f95" {
		t.Errorf("from the middle: %v", got)
	}
}

// holeyDir has an entry that vanished and one that fails.
type holeyDir struct{ nodes.Dir }

func (d holeyDir) At(ctx context.Context, i int) (nodes.Entry, error) {
	switch i {
	case 3:
		return nodes.Entry{}, iofs.ErrNotExist
	case 6:
		return nodes.Entry{}, errors.New("unreadable")
	}
	return d.Dir.At(ctx, i)
}

func TestListWithErrors(t *testing.T) {
	k := newKernel(t, holeyDir{ticks(9)}, Options{})
	l := k.opendir(rootID)
	if got := names(l.next(4096)); len(got) != 7 || got[5] != "00000004.json" {
		t.Errorf("up to the error: %v", got)
	}
	list := fuse.NewDirEntryList(make([]byte, 4096), l.in.Offset)
	if status := k.server.ReadDir(nil, &l.in, list); status != fuse.EIO {
		t.Errorf("at the error: %v", status)
	}
	l.in.Offset = 7 + dotEntries
	if got := names(l.rest()); len(got) != 2 {
		t.Errorf("behind the error: %v", got)
	}
}

// A serverError is what a server says that does not support what it is asked for.
type serverError struct{ text string }

func (e serverError) Error() string { return e.text }
func (serverError) OfServer()       {}
func (serverError) Unwrap() error   { return errors.ErrUnsupported }

func TestErrno(t *testing.T) {
	const enfile = fuse.Status(syscall.ENFILE)
	for err, want := range map[error]fuse.Status{
		nil:                         fuse.OK,
		iofs.ErrNotExist:            fuse.ENOENT,
		iofs.ErrPermission:          fuse.EACCES,
		nodes.ErrStale:              estale,
		errors.ErrUnsupported:       fuse.EIO,
		context.Canceled:            fuse.EINTR,
		context.DeadlineExceeded:    fuse.Status(syscall.ETIMEDOUT),
		io.ErrUnexpectedEOF:         fuse.EIO,
		errIsDir:                    fuse.EISDIR,
		errNotDir:                   fuse.ENOTDIR,
		errTableFull:                enfile,
		os.ErrClosed:                fuse.EIO,
		errors.New("anything else"): fuse.EIO,

		// of a server
		nodes.ErrUnavailable:   fuse.Status(syscall.ETIMEDOUT),
		nodes.ErrRemote:        fuse.Status(syscall.EREMOTEIO),
		serverError{"no part"}: fuse.Status(syscall.ENOTSUP),

		// of a source
		syscall.ENOENT:       fuse.ENOENT,
		syscall.ENOTDIR:      fuse.ENOTDIR,
		syscall.EISDIR:       fuse.EISDIR,
		syscall.ELOOP:        fuse.Status(syscall.ELOOP),
		syscall.ENAMETOOLONG: fuse.Status(syscall.ENAMETOOLONG),
		syscall.ESTALE:       estale,
		syscall.EACCES:       fuse.EACCES,
		syscall.EPERM:        fuse.EPERM,
		syscall.ENOMEM:       fuse.Status(syscall.ENOMEM),
		syscall.ETIMEDOUT:    fuse.Status(syscall.ETIMEDOUT),
		syscall.EMFILE:       enfile,
		syscall.ENFILE:       enfile,
		syscall.ENOSYS:       fuse.EIO, // after ENOSYS the kernel would never ask again
		syscall.EINTR:        fuse.EIO,
		syscall.EAGAIN:       fuse.EIO,
		syscall.EIO:          fuse.EIO,
		syscall.EINVAL:       fuse.EIO,
		syscall.EBADF:        fuse.EIO,
		syscall.ENODEV:       fuse.EIO,
		syscall.ENXIO:        fuse.EIO,
		syscall.ENOTCONN:     fuse.EIO,
		syscall.ECONNABORTED: fuse.EIO,
		syscall.EHOSTDOWN:    fuse.EIO,
		syscall.EUCLEAN:      fuse.EIO,
		syscall.ENOSPC:       fuse.EIO,
		syscall.EROFS:        fuse.EIO,
	} {
		if got := errno(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
		if err == nil {
			continue
		}
		if got := errno(&iofs.PathError{Op: "read", Path: "x", Err: fmt.Errorf("wrapped: %w", err)}); got != want {
			t.Errorf("wrapped %v: %v, want %v", err, got, want)
		}
	}
}

func TestFailuresAreLogged(t *testing.T) {
	var buf bytes.Buffer
	k := newKernel(t, sampleTree(), Options{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	id := k.walk("damaged/short").NodeId
	k.tryLookup(k.walk("damaged").NodeId, "broken")
	if !strings.Contains(buf.String(), "path=damaged/broken") {
		t.Errorf("log of a look-up:\n%s", &buf)
	}
	for range 99 {
		k.read(id, 0, 10)
	}
	k.tryLookup(rootID, "missing")
	lines := strings.Split(strings.TrimSpace(buf.String()), "\n")
	if len(lines) != 100 || !strings.Contains(lines[1], "path=damaged/short") {
		t.Errorf("log:\n%s", &buf)
	}
	if n := k.server.counters.errors.Load(); n != 100 {
		t.Errorf("%d errors counted, want 100", n)
	}
}

// A failure costs no more than what failed: to name the file in the log its
// directory is not asked again, least of all uninterruptibly.
func TestFailureIsNotRepeated(t *testing.T) {
	calls := 0
	lazy := nodes.Lazy(func(ctx context.Context) (nodes.Dir, error) {
		if calls++; calls == 1 { // to find the entry
			return ticks(3), nil
		}
		return nil, errors.New("unreadable")
	})
	var buf bytes.Buffer
	k := newKernel(t, nodes.List(nodes.Entry{Name: "ticks", Dir: lazy}), Options{Log: slog.New(slog.NewTextHandler(&buf, nil))})
	id := k.walk("ticks/1.json").NodeId
	if _, status := k.read(id, 0, 10); status != fuse.EIO {
		t.Errorf("read: %v", status)
	}
	if calls != 2 || !strings.Contains(buf.String(), "path=ticks ") {
		t.Errorf("%d calls, log:\n%s", calls, &buf)
	}
}

func TestStatFs(t *testing.T) {
	k := newKernel(t, sampleTree(), Options{Space: func() (uint64, uint64) { return 1 << 30, 1 << 20 }})
	var out fuse.StatfsOut
	if status := k.server.StatFs(nil, &fuse.InHeader{NodeId: rootID}, &out); status != fuse.OK {
		t.Fatal(status)
	}
	if out.Blocks*uint64(out.Bsize) != 1<<30 || out.Bfree*uint64(out.Bsize) != 1<<20 || out.Bavail != out.Bfree || out.NameLen != 255 {
		t.Errorf("statfs: %+v", out)
	}
}
