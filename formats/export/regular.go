package export

import (
	"io"
	"os"
	"path/filepath"

	"recfs/formats/outfile"
)

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
