package source

import (
	"context"
	"io"
	iofs "io/fs"
	"path"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// readNames returns the names in the opened directory dir.
func readNames(ctx context.Context, dir iofs.ReadDirFile) (Names, error) {
	var list []Name
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			list = append(list, Name{e.Name(), e.Type()})
		}
		if err == io.EOF {
			return NewNames(list), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
}

// InfoOf returns what info tells of a file: its version, if it has a method for that, or else what
// the system does.
func InfoOf(info iofs.FileInfo) Info {
	v, ok := info.(interface{ Version() Version })
	if ok {
		return Info{Version: v.Version(), Type: info.Mode().Type(), Rights: rightsOf(info)}
	}
	return Info{Version: systemVersion(info), Type: info.Mode().Type(), Rights: rightsOf(info)}
}

// plainVersion is what every FileInfo tells.
func plainVersion(info iofs.FileInfo) Version {
	t := info.ModTime()
	return Version{Stamp: formats.Stamp{Size: info.Size(), Modified: t.Unix(), Nanos: int64(t.Nanosecond())}}
}

// IOFile returns an opened file for callers that know io/fs alone: all reads are in ctx, which the
// result must not outlive, and info is what it tells of itself. It is an io.ReaderAt, too. Nothing
// of f is used once the result is closed, and f is closed then.
func IOFile(ctx context.Context, name string, f File, info Info) iofs.File {
	return &ioFile{SectionReader: io.NewSectionReader(nodes.At(ctx, f), 0, info.Size), f: f, info: IOInfo(name, info)}
}

type ioFile struct {
	*io.SectionReader
	f    File
	info iofs.FileInfo
}

func (f *ioFile) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *ioFile) Close() error                 { return f.f.Close() }

// IOInfo returns what info tells of the file called name for callers that know io/fs alone. It has
// a method Stamp for [formats.StampOf].
func IOInfo(name string, info Info) iofs.FileInfo { return ioInfo{path.Base(name), info} }

type ioInfo struct {
	name string
	info Info
}

func (i ioInfo) Name() string         { return i.name }
func (i ioInfo) Size() int64          { return i.info.Size }
func (i ioInfo) Mode() iofs.FileMode  { return i.info.Type | 0o444 }
func (i ioInfo) ModTime() time.Time   { return i.info.Time() }
func (i ioInfo) IsDir() bool          { return i.info.Type.IsDir() }
func (i ioInfo) Sys() any             { return nil }
func (i ioInfo) Version() Version     { return i.info.Version }
func (i ioInfo) Stamp() formats.Stamp { return i.info.Stamp }
