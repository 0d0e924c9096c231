package source

import (
	"cmp"
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"syscall"

	"recfs/formats"
)

// A Folder is a directory of this machine that a user names. Its files may be links to anywhere.
type Folder string

// Open implements [formats.Folder]. The stamp has no more than a copy of the file has, too.
func (d Folder) Open(_ context.Context, name string) (formats.File, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return formats.File{}, &iofs.PathError{Op: "open", Path: name, Err: iofs.ErrInvalid}
	}
	path := filepath.Join(string(d), local)
	info, err := os.Stat(path)
	if err != nil {
		return formats.File{}, err
	}
	if !info.Mode().IsRegular() {
		return formats.File{}, formats.ErrNoFile
	}
	return formats.File{ReaderAt: folderFile{path, info}, Name: name, Stamp: plainVersion(info).Stamp}, nil
}

// Files returns the files that lie in the directory. Links that lead nowhere are none.
func (d Folder) Files(ctx context.Context) (list formats.Files, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		f, err := d.Open(ctx, e.Name())
		switch {
		case err == nil:
			list = append(list, f)
		case err != formats.ErrNoFile && !IsGone(err) && !errors.Is(err, syscall.ELOOP):
			return nil, err
		}
	}
	return list, err
}

// A folderFile reads the file that was found at a path, and may have grown since.
type folderFile struct {
	path string
	info iofs.FileInfo
}

// ReadAt implements [formats.ReaderAt].
func (f folderFile) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if now, err := file.Stat(); err != nil || !os.SameFile(f.info, now) {
		return 0, cmp.Or(err, Stale(f.path))
	}
	return file.ReadAt(p, off)
}
