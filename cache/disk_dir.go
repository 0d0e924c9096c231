package cache

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path"
	"time"
)

// A refusal says why a directory is not used as a cache.
type refusal struct{ dir, reason string }

func (r *refusal) Error() string { return fmt.Sprintf("refused: %s %s", r.dir, r.reason) }

// checkDir refuses what is no directory, a link among it, and a directory where
// others could have put something.
func checkDir(dir string, info os.FileInfo) error {
	if !info.IsDir() {
		return &refusal{dir, "is no directory but " + info.Mode().Type().String()}
	}
	if reason := untrusted(info); reason != "" {
		return &refusal{dir, reason}
	}
	return nil
}

// dir returns the directory, which has to be there. It is looked at each time,
// as it may be removed and made again while a process runs.
func (d *Disk) dir() (*os.Root, error) {
	info, err := os.Stat(d.base) // the user may well name a link
	if err != nil {
		return nil, err
	}
	d.dirMu.Lock()
	defer d.dirMu.Unlock()
	if d.root == nil || !os.SameFile(info, d.held) {
		root, err := os.OpenRoot(d.base)
		if err != nil {
			return nil, err
		}
		if info, err = root.Stat("."); err != nil {
			root.Close()
			return nil, err
		}
		if d.root != nil {
			d.root.Close()
		}
		if d.marks != nil {
			d.marks.Close()
		}
		d.root, d.held, d.marks = root, info, nil
	}
	return d.root, checkDir(d.base, info)
}

// dirWith returns the directory after a look at directories in it.
func (d *Disk) dirWith(dirs ...string) (*os.Root, error) {
	root, err := d.dir()
	for _, dir := range dirs {
		if err != nil {
			return nil, err
		}
		var info os.FileInfo
		if info, err = root.Lstat(dir); err == nil {
			err = checkDir(dir, info)
		}
	}
	return root, err
}

// makeDir makes the directory, and removes what earlier versions kept in it.
func (d *Disk) makeDir() error {
	if err := os.MkdirAll(d.base, 0o700); err != nil {
		return err
	}
	root, err := d.dir()
	if err != nil {
		return err
	}
	if err := mkdir(root, layoutDir); err != nil {
		return err
	}
	for _, old := range oldLayouts {
		root.RemoveAll(old) //nolint:errcheck // what stays only takes room
	}
	tag, err := root.OpenFile("CACHEDIR.TAG", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, iofs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = tag.WriteString(cacheDirTag)
	return errors.Join(err, tag.Close())
}

// oldLayouts are those of which nothing can be used.
var oldLayouts = []string{"v1", "v2"}

// mkdir makes a directory unless it is there.
func mkdir(root *os.Root, dir string) error {
	info, err := root.Lstat(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		if err = root.Mkdir(dir, 0o700); !errors.Is(err, iofs.ErrExist) {
			return err
		}
		info, err = root.Lstat(dir) // another process was faster
	}
	if err != nil {
		return err
	}
	return checkDir(dir, info)
}

// open opens a file for reading and returns what it is. Anything but a file
// that nobody else can have written is as good as none: to open a fifo may take
// for ever, and a link may lead anywhere.
func (d *Disk) open(at string) (*os.File, os.FileInfo, error) {
	root, err := d.dirWith(layoutDir, path.Dir(at))
	if err != nil {
		d.refuse(err)
		return nil, nil, err
	}
	if info, err := root.Lstat(at); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errors.ErrUnsupported
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || untrusted(info) != "") {
		err = errors.ErrUnsupported
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// refuse notes a refusal, and says so once.
func (d *Disk) refuse(err error) {
	if _, ok := errors.AsType[*refusal](err); !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == nil {
		d.failure = err
		d.log.Warn("the disk cache is not used", "path", d.base, "err", err)
	}
}

// removeFile removes a file, unless another one has its name by now.
func (d *Disk) removeFile(at string, was os.FileInfo) {
	root, err := d.dirWith(layoutDir, path.Dir(at))
	if err != nil {
		return
	}
	if now, err := root.Lstat(at); err == nil && os.SameFile(now, was) {
		root.Remove(at) //nolint:errcheck // what stays is found to be damaged again
	}
}

// touch notes that a file was used, so that it is not the first to go.
func (d *Disk) touch(at string, info os.FileInfo) {
	now := time.Now()
	if now.Sub(info.ModTime()) <= refresh {
		return
	}
	if root, err := d.dir(); err == nil {
		root.Chtimes(at, now, now) //nolint:errcheck // a read-only cache is fine
	}
}

// fileNames returns the names in a directory, none if it cannot be read.
func (d *Disk) fileNames(dir string) map[string]bool {
	root, err := d.dirWith(layoutDir, dir)
	if err != nil {
		d.refuse(err)
		return nil
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.Readdirnames(-1) // what was read before an error counts
	names := make(map[string]bool, len(list))
	for _, name := range list {
		names[name] = true
	}
	return names
}
