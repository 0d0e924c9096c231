package shared

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"

	"recfs/cache"
	"recfs/formats/outfile"
)

// A Folder is a Store on this machine. It need not be there before something is put into it.
type Folder string

// open opens the file of a key.
func (f Folder) open(key string) (*os.File, error) {
	root, err := outfile.OpenDir(filepath.Dir(f.at(key)))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return outfile.OpenRegular(root, filepath.Base(f.at(key)))
}

// Fetch implements Store.
func (f Folder) Fetch(_ context.Context, key string, limit int64) ([]byte, error) {
	file, err := f.open(key)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(b)) > limit {
		return nil, &iofs.PathError{Op: "read", Path: f.at(key), Err: errors.New("it is too large")}
	}
	return b, err
}

// Names implements Store.
func (f Folder) Names(_ context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(f.at(dir))
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Open implements Store.
func (f Folder) Open(_ context.Context, key string) (cache.BehindFile, error) {
	file, err := f.open(key)
	if err != nil {
		return nil, err
	}
	return cache.NewLocalFile(file)
}

// Store implements Store.
func (f Folder) Store(_ context.Context, key string, body io.ReaderAt, size int64, replace bool) error {
	at := f.at(key)
	if _, err := os.Lstat(at); err == nil && !replace {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	out, err := outfile.Create(at, 0o666)
	if err != nil {
		return err
	}
	return out.Fill(func(out *outfile.File) error {
		_, err := io.Copy(out, io.NewSectionReader(body, 0, size))
		return err
	})
}

func (f Folder) at(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }
