package cache

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
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

// Temp begins a large file that is never given a name: it is there until it is discarded.
func (d *Disk) Temp() (*Blob, error) { return d.create("", blobExt) }

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
func (b *Blob) Commit() (*os.File, error) {
	if err := b.root.Rename(b.temp, b.dest); err != nil {
		b.Discard()
		return nil, err
	}
	return b.f, nil
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

func sortItems(items []Item) {
	slices.SortFunc(items, func(a, b Item) int { return a.Used.Compare(b.Used) })
}
