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
	"strings"
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
	dir, source string
	form        Form
	formats     []string // of which there may be tables
	locks       []*os.File
	note        *note // nil: nothing was exported to it
}

// OpenDestination opens a directory to export a source to, in a form. Exports of several shards may
// have it open, each of them once.
func OpenDestination(dir, source string, form Form, shard Shard, formats []string) (*Destination, error) {
	d := &Destination{dir: dir, source: string([]rune(source)), form: form, formats: formats}
	err := d.lock(shard)
	if err == nil {
		d.note, err = d.readNote()
	}
	if err == nil && d.note != nil && d.note.Layout == layout && d.note.Form != form && d.note.Source != "" {
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
	lock, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	if err := d.take(lock, shard.N == 1); err != nil || shard.N == 1 {
		return err
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return err
	}
	defer root.Close()
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
	dirs, links, _ := dirsOf(d.dir, "format=")
	return len(dirs)+len(links) > 0
}

// Foreign says of what else than the source there may be tables, "" if there are none.
func (d *Destination) Foreign() string {
	switch {
	case d.note == nil, !d.note.Mixed && d.note.Source == d.source:
		return ""
	case d.note.Mixed:
		return d.dir + " may have tables of another SOURCE"
	}
	return d.dir + " has the tables of " + d.note.Source
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
	f, err := outfile.Create(filepath.Join(d.dir, noteName), 0o666)
	if err != nil {
		return err
	}
	err = f.Fill(func(f *outfile.File) error {
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
	n, unknown := new(note), &note{Layout: layout, Mixed: true}
	b, err := readRegular(filepath.Join(d.dir, noteName), noteSize)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		dirs, links, err := d.tableDirs()
		if len(dirs)+len(links) == 0 && !d.Old() {
			return nil, err
		}
		return unknown, err
	case err != nil:
		return nil, err
	case json.Unmarshal(b, n) != nil:
		return unknown, nil
	case n.Layout != layout && n.Layout != oldLayout:
		return nil, fmt.Errorf("%s was written by another version of recfs", d.dir)
	}
	return n, nil
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

// tableDirs returns those below a destination. Behind links they are not its own: these are links.
func (d *Destination) tableDirs() (list []tableDir, links []string, err error) {
	known := func(format string) bool { return slices.Contains(d.formats, format) }
	list, links, err = d.dirs("", "", known)
	return list, slices.DeleteFunc(links, func(link string) bool {
		return filepath.Dir(link) == d.dir && !known(filepath.Base(link))
	}), err
}

// oldDirs returns the directories of tables as an older layout has them.
func (d *Destination) oldDirs() (list []tableDir, links []string, err error) {
	return d.dirs("format=", "table=", func(string) bool { return true })
}

// dirs returns the directories of tables whose names, and those of wanted formats around them,
// begin so, and the links that may be one.
func (d *Destination) dirs(format, table string, wanted func(format string) bool) (list []tableDir, links []string, err error) {
	formats, links, err := dirsOf(d.dir, format)
	for _, f := range formats {
		if !wanted(f) {
			continue
		}
		dir := filepath.Join(d.dir, format+f)
		tables, more, failed := dirsOf(dir, table)
		links, err = append(links, more...), errors.Join(err, failed)
		for _, t := range tables {
			list = append(list, tableDir{f, t, filepath.Join(dir, table+t)})
		}
	}
	return list, links, err
}

// RemoveAbandoned removes what exports to a directory left there that were killed.
func (d *Destination) RemoveAbandoned() {
	removeAbandoned(d.dir)
	dirs, _, _ := d.tableDirs()
	for _, t := range dirs {
		removeAbandoned(filepath.Dir(t.path))
		_ = t.each(func(name string) {
			if outfile.IsTemporary(filepath.Base(name)) {
				removeAbandoned(filepath.Join(t.path, filepath.Dir(name)))
			}
		})
	}
}

// A tableDir is the directory of the files of a table.
type tableDir struct{ format, table, path string }

// isOf reports whether the metadata of a file is of the table.
func isOf(m map[string]string, d tableDir) bool {
	return m["recfs.format"] == d.format && m["recfs.table"] == d.table
}

// dirsOf returns how the directories in dir that begin with key go on, and the links that begin so.
func dirsOf(dir, key string) (names, links []string, err error) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		name, ok := strings.CutPrefix(e.Name(), key)
		switch {
		case ok && e.IsDir():
			names = append(names, name)
		case ok && e.Type() == iofs.ModeSymlink:
			links = append(links, filepath.Join(dir, e.Name()))
		}
	}
	return names, links, err
}

// namesAtOnce is how many names of a directory are in memory: it has one for each recording of an
// archive.
const namesAtOnce = 1000

// each calls fn for the paths of the files in the directory and below. The error is why there are
// no more.
func (d tableDir) each(fn func(name string)) error { return eachBelow(d.path, "", fn) }

// eachBelow is each for a directory at a path below dir.
func eachBelow(dir, at string, fn func(name string)) error {
	f, err := os.Open(filepath.Join(dir, at) + "/.") // and not a fifo
	if err != nil {
		return err
	}
	defer f.Close()
	var failed error
	for {
		list, err := f.ReadDir(namesAtOnce)
		for _, e := range list {
			if name := filepath.Join(at, e.Name()); e.IsDir() {
				failed = errors.Join(failed, eachBelow(dir, name, fn))
			} else {
				fn(name)
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, iofs.ErrNotExist) { // fn may have removed it
			return failed
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
}

func removeAbandoned(dir string) {
	if root, err := outfile.OpenDir(dir); err == nil {
		outfile.RemoveAbandoned(root)
		root.Close()
	}
}

// removeEmpty removes a directory and those around it, below top, that are empty.
func removeEmpty(top, dir string) {
	for dir != top && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
