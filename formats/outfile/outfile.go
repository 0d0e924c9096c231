// Package outfile writes files that are there whole or not at all (docs/decisions.md). What had
// the name before is as it was until the new file is whole.
package outfile

import (
	"crypto/rand"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A File is written under a temporary name, and locked for as long as it has that.
type File struct {
	Modified  time.Time // that others are to see; zero: when it was written
	Durable   bool      // Commit waits for the disk
	Exclusive bool      // Commit replaces nothing

	f          *os.File
	root       *os.Root
	ownRoot    bool   // it is open for this file alone
	temp, name string // in root
	path       string // that errors name
	mode       iofs.FileMode
	committed  bool
}

// Create begins the file of a path, see [CreateIn], and removes what is abandoned in its directory.
func Create(path string, mode iofs.FileMode) (*File, error) {
	root, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, named(err, path)
	}
	RemoveAbandoned(root)
	f, err := CreateIn(root, filepath.Base(path), mode)
	if err != nil {
		root.Close()
		return nil, named(err, path)
	}
	f.path, f.ownRoot = path, true
	return f, nil
}

// CreateIn begins a file in a directory. Discard ends it. Its mode is that of the file which it
// replaces, its owner, too, where the system allows that, or else mode, from which the system
// takes the umask. A link is replaced itself; what else is no regular file is an error.
func CreateIn(root *os.Root, name string, mode iofs.FileMode) (*File, error) {
	f := &File{root: root, name: name, path: filepath.Join(root.Name(), name)}
	old, err := root.Lstat(name)
	replaces := err == nil && old.Mode().IsRegular()
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		err = nil
	case replaces:
		mode = old.Mode().Perm()
	case err == nil && old.IsDir():
		err = &iofs.PathError{Op: "create", Err: syscall.EISDIR}
	case err == nil && (old.Mode()&iofs.ModeSymlink == 0 || leadsToProc(root, name)):
		err = &iofs.PathError{Op: "create", Err: errors.New("is no regular file, and is not replaced")}
	}
	if err == nil {
		err = f.create(mode)
	}
	if err != nil {
		return nil, named(err, f.path)
	}
	if replaces {
		keepOwner(f.f, old)
		f.mode = mode
	}
	return f, nil
}

// leadsToProc reports whether a link is one of those in /dev that stand for open files.
func leadsToProc(root *os.Root, name string) bool {
	to, err := root.Readlink(name)
	return err == nil && strings.HasPrefix(to, "/proc/")
}

// ownerMay is what the owner may do with any temporary file: to take its lock it has to be opened.
const ownerMay = 0o600

// create makes the temporary file, and another one if a process took it for abandoned before it
// was locked.
func (f *File) create(mode iofs.FileMode) (err error) {
	for {
		f.temp = temporaryName()
		f.f, err = f.root.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|ownerMay)
		if err != nil {
			return err
		}
		if !errors.Is(Lock(f.f, true), syscall.EWOULDBLOCK) {
			info, err := f.root.Lstat(f.temp)
			if err == nil {
				f.mode = info.Mode().Perm() &^ (ownerMay &^ mode)
				return nil
			}
			if !errors.Is(err, iofs.ErrNotExist) {
				f.Discard()
				return err
			}
		}
		f.f.Close()
	}
}

// temporaryName returns a name that no other file has.
func temporaryName() string { return ".recfs-" + rand.Text() + ".tmp" }

// named returns an error of an operation on a temporary file with the name that this is to have.
func named(err error, name string) error {
	if e, ok := errors.AsType[*iofs.PathError](err); ok {
		return &iofs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &iofs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	return n, named(err, f.path)
}

// WriteAt implements io.WriterAt.
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.f.WriteAt(b, off)
	return n, named(err, f.path)
}

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(b []byte, off int64) (int, error) { return f.f.ReadAt(b, off) }

// Stat tells of the file as it is so far.
func (f *File) Stat() (iofs.FileInfo, error) { return f.f.Stat() }

// Fill makes the file of what write writes, and ends it. Without all of that there is none.
func (f *File) Fill(write func(*File) error) error {
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Commit gives the file its name.
func (f *File) Commit() error {
	err := f.finish()
	if err == nil {
		err = f.publish()
	}
	f.committed = err == nil
	if f.committed && f.Durable {
		if dir, err := f.root.Open("."); err == nil {
			_ = dir.Sync() // as far as the system can
			dir.Close()
		}
	}
	return named(err, f.path)
}

// finish gives the file all but its name. Not every file system has modes.
func (f *File) finish() error {
	_ = f.f.Chmod(f.mode)
	if f.Durable {
		if err := f.f.Sync(); err != nil {
			return err
		}
	}
	if err := flush(f.f); err != nil || f.Modified.IsZero() {
		return err
	}
	return f.root.Chtimes(f.temp, f.Modified, f.Modified)
}

// publish gives the file its name while it is still locked. Not every file system has hard links.
func (f *File) publish() error {
	if !f.Exclusive {
		return f.root.Rename(f.temp, f.name)
	}
	err := f.root.Link(f.temp, f.name)
	if err == nil {
		_ = f.root.Remove(f.temp) // the next process will
		return nil
	}
	if _, taken := f.root.Lstat(f.name); taken == nil || errors.Is(err, iofs.ErrExist) {
		return &iofs.PathError{Op: "link", Err: iofs.ErrExist}
	}
	return f.root.Rename(f.temp, f.name)
}

// Discard closes the file, and removes it unless it was committed.
func (f *File) Discard() {
	if !f.committed {
		_ = f.root.Remove(f.temp) // the next process will
	}
	f.f.Close()
	if f.ownRoot {
		f.root.Close()
	}
}

// Limit takes away what a mode does not allow.
func (f *File) Limit(mode iofs.FileMode) { f.mode &= mode }

// Truncate changes how many bytes the file has.
func (f *File) Truncate(size int64) error { return named(f.f.Truncate(size), f.path) }
