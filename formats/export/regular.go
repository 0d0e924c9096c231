package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"recfs/formats/internal/parquet"
	"recfs/formats/outfile"
	"recfs/formats/source"
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

// openRows opens a file to read rows of it.
func openRows(name string) (r *parquet.Reader, closeFile func(), err error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		r, err = parquet.NewReader(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, func() { f.Close() }, nil
}

// unread returns why the system could not read a file that is there, nil if err does not say that.
func unread(err error) error {
	if why, ok := errors.AsType[syscall.Errno](err); ok && !errors.Is(why, iofs.ErrNotExist) {
		return why
	}
	return nil
}

// mayReplace returns why a file may not be replaced, if there is one: no export wrote it, or that
// cannot be told. A file that is damaged counts as ours, and so does one of zeros, which a crash of
// the system leaves.
func mayReplace(name string) error {
	begin, err := readRegular(name, int64(len(parquet.ViewsBegin)))
	switch {
	case unread(err) != nil:
		return unread(err)
	case err != nil, len(begin) == 0, begin[0] == 0, string(begin) == parquet.ViewsBegin:
		return nil
	case !bytes.HasPrefix(begin, []byte(parquet.Magic)):
		return errAlien
	}
	m := readMetadata(name)
	if m == nil { // it is damaged
		return nil
	}
	for key := range m {
		if strings.HasPrefix(key, "recfs.") {
			return nil
		}
	}
	return errAlien
}

// readMetadata returns the metadata of a file, nil if it is not there or cannot be read.
func readMetadata(name string) map[string]string {
	r, closeFile, err := openRows(name)
	if err != nil {
		return nil
	}
	closeFile()
	return r.Metadata
}

// tableRoot opens the directory of a file, and makes it if there is none.
func tableRoot(name string) (*os.Root, error) {
	dir := filepath.Dir(name)
	root, err := outfile.OpenDir(dir)
	if !errors.Is(err, iofs.ErrNotExist) {
		return root, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return outfile.OpenDir(dir)
}

// writeFile writes a file whole or not at all.
func writeFile(name string, mode iofs.FileMode, write func(out *outfile.File) error) error {
	root, err := tableRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	out, err := outfile.CreateIn(root, filepath.Base(name), mode)
	if err != nil {
		return err
	}
	return out.Fill(write)
}

// changed returns when a file was written, renamed or the like last, in nanoseconds since 1970.
func changed(info os.FileInfo) int64 {
	return max(source.InfoOf(info).Changed, info.ModTime().UnixNano())
}
