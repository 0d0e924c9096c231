package export

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"recfs/formats/internal/parquet"
	"recfs/formats/outfile"
)

// A directory is that of a destination. What is in it goes by its path there, and no folder on the
// way is a link, which may lead to files of others.
type directory string

// name returns what people call a file.
func (d directory) name(at string) string { return filepath.Join(string(d), at) }

// folder opens a folder. It makes those that are missing, if makes says so.
func (d directory) folder(at string, makes bool) (*os.Root, error) {
	root, err := outfile.OpenDir(string(d))
	if at == "." || err != nil {
		return root, err
	}
	for name := range strings.SplitSeq(at, string(filepath.Separator)) {
		next, err := outfile.OpenFolder(root, name)
		if makes && errors.Is(err, iofs.ErrNotExist) {
			if err = root.Mkdir(name, 0o777); err == nil || errors.Is(err, iofs.ErrExist) {
				next, err = outfile.OpenFolder(root, name)
			}
		}
		root.Close()
		if err != nil {
			return nil, err
		}
		root = next
	}
	return root, nil
}

// in calls do with the folder of a file, and the last name of that.
func (d directory) in(at string, makes bool, do func(root *os.Root, name string) error) error {
	root, err := d.folder(filepath.Dir(at), makes)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root, filepath.Base(at))
}

// named returns an error of an operation in a folder with the whole name of the file.
func (d directory) named(err error, at string) error {
	if e, ok := err.(*iofs.PathError); ok {
		e.Path = d.name(at)
	}
	return err
}

// open opens a regular file.
func (d directory) open(at string) (f *os.File, err error) {
	err = d.in(at, false, func(root *os.Root, name string) error {
		f, err = outfile.OpenRegular(root, name)
		return d.named(err, at)
	})
	return f, err
}

// stat tells of a file, and of a link itself.
func (d directory) stat(at string) (info os.FileInfo, err error) {
	err = d.in(at, false, func(root *os.Root, name string) error {
		info, err = root.Lstat(name)
		return d.named(err, at)
	})
	return info, err
}

// begin returns what a regular file begins with.
func (d directory) begin(at string, limit int64) ([]byte, error) {
	f, err := d.open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// rows opens a file to read rows of it.
func (d directory) rows(at string) (r *parquet.Reader, closeFile func(), err error) {
	f, err := d.open(at)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		r, err = parquet.NewReader(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", d.name(at), err)
	}
	return r, func() { f.Close() }, nil
}

// metadata returns that of a file, nil if it is not there or cannot be read.
func (d directory) metadata(at string) map[string]string {
	r, closeFile, err := d.rows(at)
	if err != nil {
		return nil
	}
	closeFile()
	return r.Metadata
}

// write writes a file whole or not at all.
func (d directory) write(at string, mode iofs.FileMode, write func(out *outfile.File) error) error {
	return d.in(at, true, func(root *os.Root, name string) error {
		out, err := outfile.CreateIn(root, name, mode)
		if err != nil {
			return err
		}
		return out.Fill(write)
	})
}

// remove removes a file, and the folders around it that are empty then.
func (d directory) remove(at string) error {
	err := d.in(at, false, (*os.Root).Remove)
	if err == nil {
		d.removeEmpty(filepath.Dir(at))
	}
	return d.named(err, at)
}

// removeEmpty removes a folder and those around it that are empty.
func (d directory) removeEmpty(at string) {
	for at != "." && d.in(at, false, (*os.Root).Remove) == nil {
		at = filepath.Dir(at)
	}
}

// removeAbandoned removes from a folder what exports left there that were killed.
func (d directory) removeAbandoned(at string) {
	if root, err := d.folder(at, false); err == nil {
		outfile.RemoveAbandoned(root)
		root.Close()
	}
}

// foldersIn returns how the folders in one that begin with key go on, and the links that begin so.
func (d directory) foldersIn(at, key string) (names, links []string, err error) {
	root, err := d.folder(at, false)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	all, err := iofs.ReadDir(root.FS(), ".")
	for _, e := range all {
		name, ok := strings.CutPrefix(e.Name(), key)
		switch {
		case ok && e.IsDir():
			names = append(names, name)
		case ok && e.Type() == iofs.ModeSymlink:
			links = append(links, filepath.Join(at, e.Name()))
		}
	}
	return names, links, err
}

// namesAtOnce is how many names of a directory are in memory: it has one for each recording of an
// archive.
const namesAtOnce = 1000

// each calls fn for the paths of the files in a folder and below, from there on. The error is why
// there are no more.
func (d directory) each(at string, fn func(name string)) error {
	root, err := d.folder(at, false)
	if err != nil {
		return err
	}
	defer root.Close()
	return eachBelow(root, "", fn)
}

// eachBelow is each for a folder at a path below that.
func eachBelow(root *os.Root, at string, fn func(name string)) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	var failed error
	for {
		list, err := f.ReadDir(namesAtOnce)
		for _, e := range list {
			name := filepath.Join(at, e.Name())
			if !e.IsDir() {
				fn(name)
				continue
			}
			below, err := outfile.OpenFolder(root, e.Name())
			if err == nil {
				err = eachBelow(below, name, fn)
				below.Close()
			}
			failed = errors.Join(failed, err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, iofs.ErrNotExist) { // fn may have removed it
			return failed
		}
		if err != nil {
			return errors.Join(failed, err)
		}
	}
}
