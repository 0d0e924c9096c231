package export

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A tableDir is the directory of the files of a table.
type tableDir struct{ format, table, path string }

// tableDirs returns those below a destination. Behind links they are not its own: these are links.
func tableDirs(dir string) (list []tableDir, links []string, err error) {
	formats, links, err := dirsOf(dir, "format=")
	for _, format := range formats {
		tables, more, failed := dirsOf(filepath.Join(dir, "format="+format), "table=")
		links, err = append(links, more...), errors.Join(err, failed)
		for _, table := range tables {
			list = append(list, tableDir{format, table, filepath.Join(dir, "format="+format, "table="+table)})
		}
	}
	return list, links, err
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

// each calls fn for the names in the directory. The error is why there are no more.
func (d tableDir) each(fn func(name string)) error {
	f, err := os.Open(d.path + "/.") // and not a fifo
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(namesAtOnce)
		for _, name := range names {
			fn(name)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
