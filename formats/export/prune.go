package export

import (
	"errors"
	"path/filepath"
	"strings"

	"recfs/formats/internal/parquet"
)

// A Pruner removes the tables of recordings that are gone.
type Pruner struct {
	To     *Destination
	Began  int64 // when the run did, see [Destination.Now]: what was made since stays
	Named  Places
	Wanted func(format, table string) bool

	// Gone reports whether a recording that was not named is gone for sure.
	Gone func(format, at string) (bool, error)

	Kept int // tables that Remove came by and left, though no recording of this run has them
}

// Count returns how many tables there are, and of how many the recording is gone.
func (p *Pruner) Count() (gone, all int, err error) {
	err = p.each(func(_ *File, why string, _ error) {
		switch why {
		case isGone:
			gone++
			all++
		case isNamed, isThere, isNew, isUnwanted:
			all++
		}
	})
	return gone, all, err
}

// Remove removes the tables of recordings that are gone, and tells of each one that it removes or
// cannot remove, and of what it leaves, and why. The error is that of a directory that cannot be
// read.
func (p *Pruner) Remove(tell func(*File), left func(name, why string)) error {
	return p.each(func(f *File, why string, err error) {
		switch {
		case err != nil:
			f.Err = err
			tell(f)
		case why == isGone:
			f.Err, f.Removed = p.To.dir.remove(f.at), true
			tell(f)
		case why != isNamed && why != isUnwanted:
			left(f.File, why)
		}
		if why == isUnwanted || err == nil && (why == isThere || why == isNew) {
			p.Kept++
		}
	})
}

// each calls fn for all that may be a table and for the links to where others may be, with what
// they are.
func (p *Pruner) each(fn func(f *File, why string, err error)) error {
	dirs, links, err := p.To.tableDirs()
	for _, name := range links {
		fn(&File{File: p.To.dir.name(name)}, isLink, nil)
	}
	for _, d := range dirs {
		err = errors.Join(err, d.files(func(name string) {
			switch {
			case !strings.HasSuffix(name, parquet.Extension):
			case p.Wanted(d.format, d.table):
				fn(p.judge(d, name))
			default:
				fn(nil, isUnwanted, nil)
			}
		}))
	}
	return err
}

// What a table is whose recording was named by this run or is gone, and why others stay.
const (
	isNamed    = "named"
	isGone     = "gone"
	isUnwanted = "unwanted"
	isThere    = "what it was made of is still there"
	isNew      = "it was made since this run began"
	isLink     = "it is a link"
	isOther    = "it is no regular file"
	isAlien    = "no export wrote it"
	isMoved    = "an export wrote it under another name"
)

// judge tells what a file is. The error is why it is not known whether its recording is gone.
func (p *Pruner) judge(d tableDir, name string) (f *File, why string, err error) {
	f = d.file(name)
	if p.Named.has(d.format, filepath.ToSlash(name)) {
		return f, isNamed, nil
	}
	info, err := d.stat(f.at)
	if err != nil {
		return f, "", err
	}
	if !info.Mode().IsRegular() {
		return f, isOther, nil
	}
	m := d.metadata(f.at)
	at, ok := recordingOf(filepath.ToSlash(name), m[pathKey])
	switch f.of(at); {
	case m[madeKey] == "":
		return f, isAlien, nil
	case !ok, !isOf(m, d):
		return f, isMoved, nil
	case changed(info) >= p.Began:
		return f, isNew, nil
	}
	gone, err := p.Gone(d.format, at)
	if !gone {
		return f, isThere, err
	}
	return f, isGone, nil
}

// RemoveOld removes what exports of an older layout wrote, of the formats and tables that are
// wanted, and returns how many files those were.
func (p *Pruner) RemoveOld() (removed int, err error) {
	dirs, _, err := p.To.oldDirs()
	for _, d := range dirs {
		if !p.Wanted(d.format, d.table) {
			continue
		}
		err = errors.Join(err, d.files(func(name string) {
			at := filepath.Join(d.path, name)
			info, failed := d.stat(at)
			if failed != nil || !info.Mode().IsRegular() || changed(info) >= p.Began {
				return
			}
			if m := d.metadata(at); m[madeKey] == "" || !isOf(m, d) {
				return
			}
			if failed := d.remove(at); failed != nil {
				err = errors.Join(err, failed)
				return
			}
			removed++
		}))
		d.removeEmpty(d.path)
	}
	return removed, err
}
