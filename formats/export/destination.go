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

// tableDirs returns those below a destination.
func tableDirs(dir string) (list []tableDir) {
	names, _ := iofs.Glob(os.DirFS(dir), "format=*/table=*") // which leaves out what it cannot read
	for _, name := range names {
		format, table, _ := strings.Cut(strings.TrimPrefix(name, "format="), "/table=")
		list = append(list, tableDir{format, table, filepath.Join(dir, name)})
	}
	return list
}

// namesAtOnce is how many names of a directory are in memory: it has one for each recording of an archive.
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
