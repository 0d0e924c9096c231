//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The floor is the least that a filesystem on go-fuse can do: it serves the
// tree from tables, without a table of directories, errors, logging,
// contexts or counters. Towards the kernel it behaves like the house, so both
// get the same requests.
type floor struct {
	fuse.RawFileSystem
	owner  fuse.Owner
	time   time.Time
	source io.ReaderAt
	size   int64
	names  []string
	dirs   []directory
}

const (
	indexBits = 40
	indexMask = 1<<indexBits - 1
	rawID     = 2 << indexBits // dirs[i] is (i+3)<<indexBits
	firstDir  = 3
)

func newFloor(source io.ReaderAt, size int64) *floor {
	f := &floor{
		RawFileSystem: fuse.NewDefaultRawFileSystem(), owner: *fuse.CurrentOwner(), time: time.Now(),
		source: source, size: size, dirs: directories(),
		names: make([]string, max(*small, *large)),
	}
	for i := range f.names {
		f.names[i] = fmt.Sprintf("%08d.json", i)
	}
	return f
}

func (f *floor) attr(id uint64, out *fuse.Attr) {
	*out = fuse.Attr{Ino: id, Nlink: 1, Owner: f.owner, Blksize: 4096, Mode: syscall.S_IFREG | 0o444}
	switch {
	case id == rawID:
		out.Size = uint64(f.size)
	case id&indexMask == 0 || id == fuse.FUSE_ROOT_ID:
		out.Mode = syscall.S_IFDIR | 0o555
	default:
		out.Size = uint64(contentSize(int(id&indexMask) - 1))
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
	if header.NodeId != fuse.FUSE_ROOT_ID {
		n := 0
		for _, c := range strings.TrimSuffix(name, ".json") {
			n = n*10 + int(c-'0')
		}
		f.enter(header.NodeId|uint64(n+1), out)
		return fuse.OK
	}
	if name == "raw" {
		f.enter(rawID, out)
		return fuse.OK
	}
	for i, d := range f.dirs {
		if d.name == name {
			f.enter(uint64(i+firstDir)<<indexBits, out)
			return fuse.OK
		}
	}
	return fuse.ENOENT
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
	b := content(int(in.NodeId&indexMask) - 1)
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
		for i := int(in.Offset); i < len(f.dirs); i++ {
			d := fuse.DirEntry{Name: f.dirs[i].name, Mode: syscall.S_IFDIR, Ino: uint64(i+firstDir) << indexBits, Off: uint64(i + 1)}
			if !add(d) {
				return
			}
		}
		return
	}
	files := f.dirs[in.NodeId>>indexBits-firstDir].files
	for i := int(in.Offset); i < files; i++ {
		d := fuse.DirEntry{Name: f.names[i], Mode: syscall.S_IFREG, Ino: in.NodeId | uint64(i+1), Off: uint64(i + 1)}
		if !add(d) {
			return
		}
	}
}

func mountFloor(dir string, f *floor) error {
	server, err := fuse.NewServer(f, dir, &fuse.MountOptions{
		Name: "floor", FsName: "floor", Options: []string{"ro", "default_permissions"},
		DirectMount: true, MaxWrite: 256 << 10, MaxBackground: 16, DisableXAttrs: true, DisableSplice: true,
		ExtraCapabilities: fuse.CAP_READDIRPLUS_AUTO,
	})
	if err != nil {
		return err
	}
	go server.Serve()
	return server.WaitMount()
}
