package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"

	"recfs/formats/source"
)

// sourceID names a recording by where it lies; "" if that says nothing.
func (a *archive) sourceID(name string) string {
	base := a.base()
	if base == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path.Join(base, name)))
	return hex.EncodeToString(sum[:])
}

// findBase returns the path below which recordings are named on disk, ""
// if the archive has none. It is where the archive lay when it was seen first:
// what is known of it is found again after it, or a directory above it, was
// renamed. The inode tells that; that of another directory which got the same
// number leads to what does not fit.
func (a *archive) findBase() string {
	l, ok := a.fsys.(interface{ Path() string })
	if !ok {
		return ""
	}
	here := filepath.ToSlash(l.Path())
	if a.opt.Disk == nil || a.depth > 0 {
		return here
	}
	byPath := "archive at " + here
	if b, ok := a.opt.Disk.Load(byPath); ok {
		return string(b)
	}
	base := here
	if info, err := a.lstat("."); err == nil && source.VersionOf(info).Inode != 0 {
		s := source.VersionOf(info)
		byInode := fmt.Sprintf("archive of inode %d, born %d, called %q", s.Inode, s.Born, path.Base(here))
		if b, ok := a.opt.Disk.Load(byInode); ok {
			base = string(b)
		} else {
			a.opt.Disk.Save(byInode, []byte(base))
		}
	}
	a.opt.Disk.Save(byPath, []byte(base))
	return base
}
