//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// The floor is the least that a filesystem on go-fuse can do: it serves the tree from tables,
// without a table of directories, errors, logging, contexts or counters. Towards the kernel it
// behaves like recfs, so both get the same requests.
type floor struct {
	fuse.RawFileSystem
	tree
	owner fuse.Owner
	time  time.Time
	names []string
}

// Ids of nodes; the files follow.
const (
	filesID = 2 + iota
	rawID
	firstID
)

// floor mounts the floor.
func (t tree) floor(mnt string) (unmount func() error, err error) {
	f := &floor{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), tree: t, owner: *fuse.CurrentOwner(), time: time.Now(),
		names: make([]string, t.files),
	}
	for i := range f.names {
		f.names[i] = fmt.Sprintf("%08d.json", i)
	}
	server, err := fuse.NewServer(f, mnt, &fuse.MountOptions{
		Name: "floor", FsName: "floor", Options: []string{"ro", "default_permissions"},
		DirectMount: true, MaxWrite: 256 << 10, MaxBackground: 16, DisableXAttrs: true, DisableSplice: true,
		ExtraCapabilities: fuse.CAP_READDIRPLUS_AUTO,
	})
	if err != nil {
		return nil, err
	}
	go server.Serve()
	return func() error { return unix.Unmount(mnt, unix.MNT_DETACH) }, server.WaitMount()
}

func (f *floor) attr(id uint64, out *fuse.Attr) {
	*out = fuse.Attr{Ino: id, Nlink: 1, Owner: f.owner, Blksize: 4096, Mode: syscall.S_IFREG | 0o444}
	switch id {
	case rawID:
		out.Size = uint64(f.size)
	case filesID, fuse.FUSE_ROOT_ID:
		out.Mode = syscall.S_IFDIR | 0o555
	default:
		out.Size = uint64(contentSize(int(id - firstID)))
	}
	out.Blocks = (out.Size + 511) / 512
	out.SetTimes(&f.time, &f.time, &f.time)
}

func (f *floor) enter(id uint64, out *fuse.EntryOut) {
	out.NodeId = id
	out.SetEntryTimeout(time.Hour)
	out.SetAttrTimeout(time.Hour)
	f.attr(id, &out.Attr)
}

func (f *floor) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	switch {
	case header.NodeId == filesID:
		n := 0
		for _, c := range strings.TrimSuffix(name, ".json") {
			n = n*10 + int(c-'0')
		}
		f.enter(uint64(n+firstID), out)
	case name == "raw":
		f.enter(rawID, out)
	case name == "files":
		f.enter(filesID, out)
	default:
		return fuse.ENOENT
	}
	return fuse.OK
}

func (f *floor) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(time.Hour)
	f.attr(in.NodeId, &out.Attr)
	return fuse.OK
}

func (f *floor) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.ENOSYS }

func (f *floor) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if in.NodeId == rawID {
		n, err := f.source.ReadAt(buf, int64(in.Offset))
		if err != nil && err != io.EOF {
			return nil, fuse.EIO
		}
		return fuse.ReadResultData(buf[:n]), fuse.OK
	}
	b := content(int(in.NodeId - firstID))
	return fuse.ReadResultData(b[min(int(in.Offset), len(b)):]), fuse.OK
}

func (f *floor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }

func (f *floor) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.list(in, func(e fuse.DirEntry) bool { return out.AddDirEntry(e) })
	return fuse.OK
}

func (f *floor) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.list(in, func(e fuse.DirEntry) bool {
		entry := out.AddDirLookupEntry(e)
		if entry != nil && in.Offset > 0 {
			f.enter(e.Ino, entry)
		}
		return entry != nil
	})
	return fuse.OK
}

func (f *floor) list(in *fuse.ReadIn, add func(fuse.DirEntry) bool) {
	if in.NodeId == fuse.FUSE_ROOT_ID {
		for i, d := range []fuse.DirEntry{{Name: "files", Mode: syscall.S_IFDIR, Ino: filesID, Off: 1}, {Name: "raw", Mode: syscall.S_IFREG, Ino: rawID, Off: 2}} {
			if uint64(i) >= in.Offset && !add(d) {
				return
			}
		}
		return
	}
	for i := int(in.Offset); i < len(f.names); i++ {
		d := fuse.DirEntry{Name: f.names[i], Mode: syscall.S_IFREG, Ino: uint64(i + firstID), Off: uint64(i + 1)}
		if !add(d) {
			return
		}
	}
}
