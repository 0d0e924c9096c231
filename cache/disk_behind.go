package cache

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
)

// A Behind is what others made, which lies behind a Disk.
type Behind interface {
	// Load returns the bytes that lie under a name.
	Load(ctx context.Context, name string) ([]byte, bool)
	// Elsewhere reports whether there may be bytes under a name, or under any for "".
	Elsewhere(name string) bool
	// Open opens the large file that lies under a name, to be read in parts.
	Open(ctx context.Context, name string) (BehindFile, error)
	// Used hears of the large files that are opened here.
	Used(name string)
	// Parts yields the parts of the catalogue that others made.
	Parts(ctx context.Context) iter.Seq2[string, BehindFile]
}

// A BehindFile is a large file that lies behind a Disk.
type BehindFile interface {
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
	Close() error
}

// A LocalFile is a BehindFile of this machine.
type LocalFile struct {
	*os.File
	Info os.FileInfo
}

// NewLocalFile closes f if it fails.
func NewLocalFile(f *os.File) (*LocalFile, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &LocalFile{f, info}, nil
}

// Size implements BehindFile.
func (f *LocalFile) Size() int64 { return f.Info.Size() }

// ReadAt implements BehindFile.
func (f *LocalFile) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return f.File.ReadAt(p, off)
}

// OpenBehind opens the large file that others have under a name; io/fs.ErrNotExist: there is none.
func (d *Disk) OpenBehind(ctx context.Context, name string) (BehindFile, error) {
	if d.behind == nil {
		return nil, os.ErrNotExist
	}
	return d.behind.Open(ctx, name)
}

// FetchParts copies the parts of the catalogue that others made, and returns the names of the
// copies.
func (d *Disk) FetchParts(ctx context.Context) (names []string) {
	if d.behind == nil {
		return nil
	}
	for part, f := range d.behind.Parts(ctx) {
		if name := "shared catalogue " + part; d.fetch(ctx, name, f) == nil {
			names = append(names, name)
		}
		f.Close()
	}
	return names
}

// fetch copies a large file.
func (d *Disk) fetch(ctx context.Context, name string, f BehindFile) error {
	blob, err := d.Create(name)
	if err != nil {
		return err
	}
	b := make([]byte, 1<<20)
	for at := int64(0); at < f.Size() && err == nil; {
		n, readErr := f.ReadAt(ctx, b[:min(int64(len(b)), f.Size()-at)], at)
		if _, err = blob.Write(b[:n]); err == nil && n == 0 {
			err = errors.Join(readErr, io.ErrUnexpectedEOF)
		}
		at += int64(n)
	}
	if err != nil {
		blob.Discard()
		return err
	}
	done, err := blob.Commit()
	if err == nil {
		err = done.Close()
	}
	return err
}

// Used tells what lies behind that a large file is here.
func (d *Disk) Used(name string) {
	if d.behind != nil {
		d.behind.Used(name)
	}
}

// PutBehind has Load ask b for what the Disk does not have. It is called before all else.
func (d *Disk) PutBehind(b Behind) { d.behind = b }

// Elsewhere reports whether others may have put something under a name. Nothing of that is marked.
func (d *Disk) Elsewhere(name string) bool { return d.behind != nil && d.behind.Elsewhere(name) }
