package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"recfs/formats/outfile"
)

const (
	noteName = "_recfs.json" // the file of a destination that says what is exported to it
	noteSize = 64 << 10      // more than it has
	layout   = 1             // number of the layout of a destination
)

// A note says of what the tables of a destination were made.
type note struct {
	Layout int    `json:"layout"`
	Source string `json:"source"`          // the first one: an absolute path
	Mixed  bool   `json:"mixed,omitempty"` // there may be tables of others as well
}

// A Destination is a directory that exports write to.
type Destination struct {
	dir, source string
	lock        *os.File
	note        *note // nil: nothing was exported to it
}

// OpenDestination opens a directory to export a source to. Any number of exports may have it open,
// unless one of them has it alone.
func OpenDestination(dir, source string) (*Destination, error) {
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	d := &Destination{dir: dir, source: string([]rune(source)), lock: lock}
	if !tryLock(lock, false) {
		err = fmt.Errorf("another export removes tables from %s", dir)
	} else {
		d.note, err = readNote(dir)
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return d, nil
}

// tryLock reports whether it could lock a directory, alone or with others. Where there are no locks
// it can.
func tryLock(dir *os.File, alone bool) bool {
	return !errors.Is(outfile.Lock(dir, alone), syscall.EWOULDBLOCK)
}

// Close lets others have the directory.
func (d *Destination) Close() { d.lock.Close() }

// Alone reports whether no other export has the directory open, and keeps it so.
func (d *Destination) Alone() bool { return tryLock(d.lock, true) }

// Foreign says of what else than the source there may be tables, "" if there are none.
func (d *Destination) Foreign() string {
	switch {
	case d.note == nil, *d.note == note{layout, d.source, false}:
		return ""
	case d.note.Mixed:
		return d.dir + " may have tables of another SOURCE"
	}
	return d.dir + " has the tables of " + d.note.Source
}

// HasTable reports whether tables of that name were written to the directory.
func (d *Destination) HasTable(name string) bool {
	dirs, _, _ := tableDirs(d.dir)
	return slices.ContainsFunc(dirs, func(t tableDir) bool { return t.table == name })
}

// Join notes that there will be tables of the source, unless that is noted.
func (d *Destination) Join() error {
	switch {
	case d.note == nil:
		return d.write(note{layout, d.source, false})
	case d.note.Mixed, d.note.Source == d.source:
		return nil
	}
	return d.write(note{layout, d.note.Source, true})
}

// Own notes that there are tables of the source alone.
func (d *Destination) Own() error { return d.write(note{layout, d.source, false}) }

func (d *Destination) write(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := outfile.Create(filepath.Join(d.dir, noteName), 0o666)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err = f.Write(append(b, '\n')); err == nil {
		err = f.Commit()
	}
	if err == nil {
		d.note = &n
	}
	return err
}

// readNote returns the note of a directory, nil if there is none. Tables without a note may be of
// any source.
func readNote(dir string) (*note, error) {
	n, unknown := new(note), &note{Layout: layout, Mixed: true}
	b, err := readRegular(filepath.Join(dir, noteName), noteSize)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		dirs, links, err := tableDirs(dir)
		if len(dirs)+len(links) == 0 {
			return nil, err
		}
		return unknown, err
	case err != nil:
		return nil, err
	case json.Unmarshal(b, n) != nil:
		return unknown, nil
	case n.Layout != layout:
		return nil, fmt.Errorf("%s was written by another version of recfs", dir)
	}
	return n, nil
}

// openRegular opens a regular file.
func openRegular(name string) (*os.File, error) {
	root, err := outfile.OpenDir(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return outfile.OpenRegular(root, filepath.Base(name))
}

// readRegular returns what a regular file begins with.
func readRegular(name string, limit int64) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// maxTick is more than the clock of a file system takes from one time to the next: that of FAT goes
// by two seconds.
const maxTick = 3 * time.Second

// Now returns the time that a file made now has, later than that of all files that are there.
func (d *Destination) Now() (int64, error) {
	first, err := d.now()
	for now, began := first, time.Now(); ; now, err = d.now() {
		if err != nil || now > first || time.Since(began) > maxTick {
			return now, err
		}
		time.Sleep(time.Millisecond)
	}
}

// now returns the time of a file that it makes.
func (d *Destination) now() (int64, error) {
	f, err := outfile.Create(filepath.Join(d.dir, noteName), 0o666)
	if err != nil {
		return 0, err
	}
	defer f.Discard()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return changed(info), nil
}
