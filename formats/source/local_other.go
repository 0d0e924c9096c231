//go:build !linux

package source

import "os"

// stat returns the state of a file, link or directory.
func (d *directory) stat(name string) (Info, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}

func (d *directory) open(name string) (*os.File, error) {
	return d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
}

// stat returns the state of an opened file.
func stat(f *os.File) (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return InfoOf(info), nil
}
