package archive

import (
	"context"
	"time"

	"recfs/formats/source"
	"recfs/nodes"
)

// A plainFile is a file of the source that is shown as it is. It is a value,
// equal to another of the same version of the same file.
type plainFile struct {
	files *source.Files
	key   source.FileKey
}

func (f plainFile) Size(context.Context) (int64, error) { return f.key.Version.Size, nil }

func (f plainFile) Open(context.Context) (nodes.Content, error) {
	return nodes.SectionContent(source.NewReader(f.files, f.key), 0, f.key.Version.Size), nil
}

// GrewFrom implements nodes.Grower.
func (f plainFile) GrewFrom(earlier nodes.Grower) bool {
	e, ok := earlier.(plainFile)
	return ok && e.files == f.files && e.key.Path == f.key.Path && grew(e.key.Version, f.key.Version)
}

// atRest is for how long nobody wrote to a file of which it is not expected that it grows.
const atRest = 24 * time.Hour

// grows reports whether it can be expected that bytes are added to a file. One in a container has no
// device.
func grows(v source.Version) bool {
	return v.Dev != 0 && v.Born != 0 && time.Since(v.Time()) < atRest
}

// grew reports whether a file has a later version of what it was, with as many bytes or more. It is
// the same inode: the number alone does not tell, as the next file gets that of a removed one.
func grew(earlier, now source.Version) bool {
	return now.Born != 0 && now.Inode != 0 && now.Dev == earlier.Dev && now.Inode == earlier.Inode &&
		now.Born == earlier.Born && now.Size >= earlier.Size
}

var (
	_ nodes.Grower = plainFile{}
	_ nodes.Grower = recording{}
)
