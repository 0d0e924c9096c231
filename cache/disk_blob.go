package cache

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A Blob is a file of a Disk that is being written: what is in it can be
// read already, but it has a name only after Commit.
type Blob struct {
	d    *Disk
	f    *os.File
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
	dest := d.file(name, ext)
	f, err := createTemp(filepath.Dir(dest))
	if err != nil {
		d.failed(err)
		return nil, err
	}
	return &Blob{d: d, f: f, dest: dest}, nil
}

func createTemp(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, fmt.Sprintf("%s%d-*", tempPrefix, os.Getpid()))
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
	if err := os.Rename(b.f.Name(), b.dest); err != nil {
		b.Discard()
		return nil, err
	}
	return b.f, nil
}

// Discard removes the file.
func (b *Blob) Discard() {
	b.f.Close()
	os.Remove(b.f.Name())
	b.d.mu.Lock()
	b.d.used -= b.Size()
	b.d.mu.Unlock()
}

// Open opens a large file.
func (d *Disk) Open(name string) (*os.File, error) {
	file := d.file(name, blobExt)
	f, err := os.Open(file)
	if err == nil {
		touch(file)
	}
	return f, err
}

// Remove removes a large file that turned out to be damaged.
func (d *Disk) Remove(name string) { os.Remove(d.file(name, blobExt)) }

func sortItems(items []Item) {
	slices.SortFunc(items, func(a, b Item) int { return a.Used.Compare(b.Used) })
}
