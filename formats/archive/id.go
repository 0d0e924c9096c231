package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"sync"

	"recfs/cache"
	"recfs/formats/source"
)

// ids name the recordings of a tree on disk.
type ids struct {
	base func() string // the path below which they are named; "": they have no names
}

// newIDs returns the names for a tree, which is looked for on disk unless that is nil.
func newIDs(id source.ID, disk *cache.Disk) ids {
	return ids{sync.OnceValue(func() string { return findBase(id, disk) })}
}

// sourceID names a recording by where it lies; "" if that says nothing.
func (i ids) sourceID(name string) string {
	base := i.base()
	if base == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path.Join(base, name)))
	return hex.EncodeToString(sum[:])
}

// findBase returns the path below which recordings are named on disk, ""
// if the tree has none. It is where the tree lay when it was seen first:
// what is known of it is found again after it, or a directory above it, was
// renamed. The inode tells that; that of another directory which got the same
// number leads to what does not fit.
func findBase(id source.ID, disk *cache.Disk) string {
	here := id.Path
	if disk == nil || here == "" {
		return here
	}
	byPath := "archive at " + here
	if b, ok := disk.Load(byPath); ok {
		return string(b)
	}
	base := here
	if id.Inode != 0 {
		byInode := fmt.Sprintf("archive of inode %d, born %d, called %q", id.Inode, id.Born, path.Base(here))
		if b, ok := disk.Load(byInode); ok {
			base = string(b)
		} else {
			disk.Save(byInode, []byte(base))
		}
	}
	disk.Save(byPath, []byte(base))
	return base
}
