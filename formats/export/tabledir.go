package export

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"recfs/formats/outfile"
)

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
