package outfile

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// OpenDir opens a directory. It does not wait at a fifo that has the name of one.
func OpenDir(name string) (*os.Root, error) {
	root, err := os.OpenRoot(name + "/.")
	return root, named(err, name)
}

// OpenDirIn is OpenDir for one that is in another.
func OpenDirIn(parent *os.Root, name string) (*os.Root, error) {
	root, err := parent.OpenRoot(name + "/.")
	return root, named(err, name)
}

// OpenFolder is OpenDirIn for one that is no link.
func OpenFolder(parent *os.Root, name string) (*os.Root, error) {
	at := filepath.Join(parent.Name(), name)
	info, err := parent.Lstat(name)
	switch {
	case err != nil:
		return nil, named(err, at)
	case info.Mode()&iofs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link", at)
	}
	root, err := OpenDirIn(parent, name)
	if err != nil {
		return nil, named(err, at)
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		root.Close()
		return nil, &iofs.PathError{Op: "open", Path: at, Err: errors.Join(err, errReplaced)}
	}
	return root, nil
}

// errReplaced says that another file took the place of one while it was opened.
var errReplaced = errors.New("was replaced")

// OpenRegular opens a regular file. Other files and links are not opened, and it waits for none.
func OpenRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &iofs.PathError{Op: "open", Path: name, Err: errors.New("is no regular file")}
	}
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		f.Close()
		return nil, &iofs.PathError{Op: "open", Path: name, Err: errors.Join(err, errReplaced)}
	}
	return f, nil
}

var temporary = regexp.MustCompile(`^\.recfs-[A-Z2-7]{26}\.tmp$`)

// IsTemporary reports whether a file has a name that this package gives to what is not whole.
func IsTemporary(name string) bool { return temporary.MatchString(name) }

// namesAtOnce is how many names of a directory are in memory.
const namesAtOnce = 1000

// RemoveAbandoned removes from a directory what processes of this program left there that were
// killed. What cannot be removed stays for the next one.
func RemoveAbandoned(root *os.Root) {
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	for err == nil {
		var names []string
		names, err = dir.Readdirnames(namesAtOnce)
		for _, name := range names {
			if IsTemporary(name) {
				removeAbandoned(root, name)
			}
		}
	}
}

// removeAbandoned removes a temporary file unless a process holds it, and a temporary link in any
// case.
func removeAbandoned(root *os.Root, name string) {
	f, err := OpenRegular(root, name)
	if err == nil {
		defer f.Close()
		err = Lock(f, true)
	} else if _, err = root.Readlink(name); err != nil {
		return
	}
	if err == nil {
		_ = root.Remove(name)
	}
}

// Symlink makes a link, in place of another one but of no file.
func Symlink(root *os.Root, target, name string) error {
	at := filepath.Join(root.Name(), name)
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		return named(root.Symlink(target, name), at)
	case err == nil && info.Mode()&iofs.ModeSymlink == 0:
		err = &iofs.PathError{Op: "symlink", Err: errors.New("there is a file of this name")}
	case err == nil:
		err = replaceLink(root, target, name)
	}
	return named(err, at)
}

// replaceLink tries again when another process takes the link for abandoned before it has its name.
func replaceLink(root *os.Root, target, name string) error {
	for {
		temp := temporaryName()
		err := root.Symlink(target, temp)
		if err != nil {
			return err
		}
		if err = root.Rename(temp, name); !errors.Is(err, iofs.ErrNotExist) {
			if err != nil {
				_ = root.Remove(temp)
			}
			return err
		}
	}
}
