package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path"
	"sync"
)

// A Blob is a file of a Disk that is being written: what is in it can be
// read already, but it has a name only after Commit.
type Blob struct {
	d    *Disk
	f    *os.File
	root *os.Root
	temp string
	dest string

	mu   sync.Mutex
	size int64
}

// Create begins a large file.
func (d *Disk) Create(name string) (*Blob, error) { return d.create(name, blobExt) }

func (d *Disk) create(name, ext string) (*Blob, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(); err != nil {
		if err != errFull {
			d.failed(err)
		}
		return nil, err
	}
	b := &Blob{d: d, dest: place(name, ext)}
	if err := b.make(); err != nil {
		d.failed(err)
		return nil, err
	}
	return b, nil
}

// make makes the file under a name that no other has.
func (b *Blob) make() (err error) {
	dir := path.Dir(b.dest)
	b.root, err = b.d.dirWith(layoutDir)
	if errors.Is(err, iofs.ErrNotExist) { // removed since it was made
		if err = b.d.makeDir(); err == nil {
			b.root, err = b.d.dirWith(layoutDir)
		}
	}
	if err != nil {
		return err
	}
	if err := mkdir(b.root, dir); err != nil {
		return err
	}
	for range 100 {
		b.temp = path.Join(dir, fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), rand.Uint64()))
		b.f, err = b.root.OpenFile(b.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, iofs.ErrExist) {
			break
		}
	}
	return err
}

// Write appends to the file.
func (b *Blob) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.d.mu.Lock()
	err := b.d.reserve(b.size, int64(len(p)))
	b.d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := b.f.Write(p)
	b.size += int64(n)
	if err != nil {
		b.d.mu.Lock()
		b.d.failed(err)
		b.d.mu.Unlock()
	}
	return n, err
}

// ReadAt reads what was written.
func (b *Blob) ReadAt(p []byte, off int64) (int, error) { return b.f.ReadAt(p, off) }

// Size returns how many bytes were written.
func (b *Blob) Size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// Commit gives the file its name, replacing one that has it, and returns it.
// The Blob is of no use afterwards.
func (b *Blob) Commit() (*LocalFile, error) {
	if err := b.root.Rename(b.temp, b.dest); err != nil {
		b.Discard()
		return nil, err
	}
	return NewLocalFile(b.f)
}

// Discard removes the file.
func (b *Blob) Discard() {
	b.f.Close()
	b.root.Remove(b.temp) //nolint:errcheck // what stays is removed by the next process
	b.d.mu.Lock()
	b.d.used -= b.Size()
	b.d.mu.Unlock()
}

// Open opens a large file.
func (d *Disk) Open(name string) (*LocalFile, error) {
	at := place(name, blobExt)
	f, info, err := d.open(at)
	if err != nil {
		return nil, err
	}
	d.touch(at, info)
	return &LocalFile{f, info}, nil
}

// Remove removes a large file that turned out to be damaged. Where another
// process has replaced it meanwhile, the new one stays.
func (d *Disk) Remove(name string, damaged os.FileInfo) {
	d.removeFile(place(name, blobExt), damaged)
}

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
