package export

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"recfs/formats/outfile"
)

const (
	noteName  = "_recfs.json" // the file of a destination that says what is exported to it
	noteSize  = 64 << 10      // more than it has
	layout    = 2             // number of the layout of a destination
	oldLayout = 1             // format=F/table=T/NAME-HHHHHHHH.parquet
)

// A Form says how the tables of a destination lie.
type Form struct {
	Merge bool   `json:"merge"`        // in parts, which have those of many recordings
	By    string `json:"by,omitempty"` // of parts: [ByNone], [ByMonth] or [ByMap]
}

// Whose parts lie together in a folder.
const (
	ByNone  = "none"
	ByMonth = "month"
	ByMap   = "map"
)

// flags are those that give the form.
func (f Form) flags() string {
	switch {
	case !f.Merge:
		return "without --merge"
	case f.By == ByNone:
		return "with --merge"
	}
	return "with --merge --by " + f.By
}

// A note says of what the tables of a destination were made.
type note struct {
	Layout int `json:"layout"`
	Form
	Source string `json:"source"`          // the first one: an absolute path
	Mixed  bool   `json:"mixed,omitempty"` // there may be tables of others as well
}

// A Destination is a directory that exports write to.
type Destination struct {
	dir     directory
	source  string
	form    Form
	formats []string // of which there may be tables
	locks   []*os.File
	note    *note // nil: nothing was exported to it
}

// OpenDestination opens a directory to export a source to, in a form. Exports of several shards may
// have it open, each of them once.
func OpenDestination(dir, source string, form Form, shard Shard, formats []string) (*Destination, error) {
	d := &Destination{dir: directory(dir), source: string([]rune(source)), form: form, formats: formats}
	err := d.lock(shard)
	if err == nil {
		d.note, err = d.readNote()
	}
	if err == nil && d.note != nil && d.note.Layout == layout && d.note.Form != form {
		err = fmt.Errorf("%s was written %s; give that, or another DESTINATION", dir, d.note.flags())
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// lock locks the directory: for all shards alone, and for one of them its own file.
func (d *Destination) lock(shard Shard) error {
	root, err := d.dir.folder(".", false)
	if err != nil {
		return err
	}
	defer root.Close()
	lock, err := root.Open(".")
	if err != nil {
		return err
	}
	if err := d.take(lock, shard.N == 1); err != nil || shard.N == 1 {
		return err
	}
	name := fmt.Sprintf("_lock-%d-%d", shard.I, shard.N)
	if lock, err = root.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o666); err != nil {
		return err
	}
	return d.take(lock, true)
}

// take locks a file of the directory, alone or with others, where there are locks.
func (d *Destination) take(lock *os.File, alone bool) error {
	d.locks = append(d.locks, lock)
	if errors.Is(outfile.Lock(lock, alone), syscall.EWOULDBLOCK) {
		return fmt.Errorf("another export writes to %s", d.dir)
	}
	return nil
}

// Close lets others have the directory.
func (d *Destination) Close() {
	for _, lock := range d.locks {
		lock.Close()
	}
}

// Old reports whether there are tables of an older layout.
func (d *Destination) Old() bool {
	dirs, links, _ := d.dir.foldersIn(".", "format=")
	return len(dirs)+len(links) > 0
}

// Foreign says of what else than the source there may be tables, "" if there are none.
func (d *Destination) Foreign() string {
	switch {
	case d.note == nil, !d.note.Mixed && d.note.Source == d.source:
		return ""
	case d.note.Mixed:
		return string(d.dir) + " may have tables of another SOURCE"
	}
	return string(d.dir) + " has the tables of " + d.note.Source
}

// HasTable reports whether tables of that name were written to the directory.
func (d *Destination) HasTable(name string) bool {
	dirs, _, _ := d.tableDirs()
	return slices.ContainsFunc(dirs, func(t tableDir) bool { return t.table == name })
}

// HasNote reports whether something was exported to the directory.
func (d *Destination) HasNote() bool { return d.note != nil }

// Join notes that there will be tables of the source, unless that is noted.
func (d *Destination) Join() error {
	n := note{layout, d.form, d.source, false}
	if d.note != nil && (d.note.Mixed || d.note.Source != d.source) {
		n.Source, n.Mixed = d.note.Source, true
	}
	if d.note != nil && *d.note == n {
		return nil
	}
	return d.write(n)
}

// Own notes that there are tables of the source alone.
func (d *Destination) Own() error { return d.write(note{layout, d.form, d.source, false}) }

func (d *Destination) write(n note) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	err = d.dir.write(noteName, 0o666, func(f *outfile.File) error {
		f.Durable = true // without it nothing tells of which source and form the tables are
		_, err := f.Write(append(b, '\n'))
		return err
	})
	if err == nil {
		d.note = &n
	}
	return err
}

// readNote returns the note of a directory, nil if there is none. Tables without a note may be of
// any source.
func (d *Destination) readNote() (*note, error) {
	n := new(note)
	b, err := d.dir.begin(noteName, noteSize)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		dirs, links, err := d.tableDirs()
		if len(dirs)+len(links) == 0 && !d.Old() {
			return nil, err
		}
		return d.unknown(dirs), err
	case err != nil:
		return nil, err
	case json.Unmarshal(b, n) != nil:
		dirs, _, err := d.tableDirs()
		return d.unknown(dirs), err
	case n.Layout != layout && n.Layout != oldLayout:
		return nil, fmt.Errorf("%s was written by another version of recfs", d.dir)
	}
	return n, nil
}

// unknown returns the note of tables without one, in the form that the first of them tells.
func (d *Destination) unknown(dirs []tableDir) *note {
	n, told := &note{Layout: layout, Form: d.form, Mixed: true}, false
	for _, t := range dirs {
		_ = t.files(func(name string) {
			if told {
				return
			}
			m := t.metadata(filepath.Join(t.path, name))
			if by := m[byKey]; isOf(m, t) && (by != "" || m[pathKey] != "") {
				n.Form, told = Form{Merge: by != "", By: by}, true
			}
		})
	}
	return n
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
func (d *Destination) now() (at int64, err error) {
	err = d.dir.in(noteName, false, func(root *os.Root, name string) error {
		f, err := outfile.CreateIn(root, name, 0o666)
		if err != nil {
			return err
		}
		defer f.Discard()
		info, err := f.Stat()
		if err == nil {
			at = changed(info)
		}
		return err
	})
	return at, err
}

// tableDirs returns those below a destination. Behind links they are not its own: these are links.
func (d *Destination) tableDirs() (list []tableDir, links []string, err error) {
	known := func(format string) bool { return slices.Contains(d.formats, format) }
	list, links, err = d.dirs("", "", known)
	return list, slices.DeleteFunc(links, func(link string) bool {
		return filepath.Dir(link) == "." && !known(filepath.Base(link))
	}), err
}

// oldDirs returns the directories of tables as an older layout has them.
func (d *Destination) oldDirs() (list []tableDir, links []string, err error) {
	return d.dirs("format=", "table=", func(string) bool { return true })
}

// dirs returns the directories of tables whose names, and those of wanted formats around them,
// begin so, and the links that may be one.
func (d *Destination) dirs(format, table string, wanted func(format string) bool) (list []tableDir, links []string, err error) {
	formats, links, err := d.dir.foldersIn(".", format)
	for _, f := range formats {
		if !wanted(f) {
			continue
		}
		tables, more, failed := d.dir.foldersIn(format+f, table)
		links, err = append(links, more...), errors.Join(err, failed)
		for _, t := range tables {
			list = append(list, tableDir{d.dir, f, t, filepath.Join(format+f, table+t)})
		}
	}
	return list, links, err
}

// RemoveAbandoned removes what exports to a directory left there that were killed.
func (d *Destination) RemoveAbandoned() {
	d.dir.removeAbandoned(".")
	dirs, _, _ := d.tableDirs()
	for _, t := range dirs {
		d.dir.removeAbandoned(t.format)
		_ = t.files(func(name string) {
			if outfile.IsTemporary(filepath.Base(name)) {
				d.dir.removeAbandoned(filepath.Join(t.path, filepath.Dir(name)))
			}
		})
	}
}
