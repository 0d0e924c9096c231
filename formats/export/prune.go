package export

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"recfs/formats/internal/parquet"
)

// A Gone is a file of a table whose recording is gone.
type Gone struct {
	Format, Table string
	Recording     string // its path in what was exported
	Path          string // on disk
	Err           error  // why it could not be removed
}

// Prune removes below a directory what exports wrote of recordings that n did not name, of the formats and tables that
// are wanted. Other files, and those in which no export says what it made them of, stay. It tells of each one that it
// removes, or cannot remove. The error is that of a directory that cannot be read.
func Prune(dir string, n *Namer, wanted func(format, table string) bool, tell func(Gone)) error {
	tables, err := iofs.Glob(os.DirFS(dir), "format=*/table=*")
	for _, at := range tables {
		format, table, _ := strings.Cut(strings.TrimPrefix(at, "format="), "/table=")
		if wanted(format, table) {
			err = errors.Join(err, pruneTable(filepath.Join(dir, at), n, Gone{Format: format, Table: table}, tell))
		}
	}
	return err
}

// namesAtOnce is how many names of a directory are in memory.
const namesAtOnce = 1000

func pruneTable(dir string, n *Namer, of Gone, tell func(Gone)) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(namesAtOnce)
		for _, name := range names {
			whole, isTable := strings.CutSuffix(name, parquet.Extension)
			if !isTable || n.has(of.Format+"/"+whole) {
				continue
			}
			of.Path = filepath.Join(dir, name)
			if m := readMetadata(of.Path); m[madeKey] != "" {
				of.Recording, of.Err = m[pathKey], os.Remove(of.Path)
				tell(of)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
