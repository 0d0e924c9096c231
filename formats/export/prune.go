package export

import (
	"errors"
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
func Prune(dir string, n *Namer, wanted func(format, table string) bool, tell func(Gone)) (err error) {
	for _, d := range tableDirs(dir) {
		if !wanted(d.format, d.table) {
			continue
		}
		err = errors.Join(err, d.each(func(name string) {
			whole, isTable := strings.CutSuffix(name, parquet.Extension)
			if !isTable || n.has(d.format+"/"+whole) {
				return
			}
			at := filepath.Join(d.path, name)
			if m := readMetadata(at); m[madeKey] != "" {
				tell(Gone{d.format, d.table, m[pathKey], at, os.Remove(at)})
			}
		}))
	}
	return err
}
