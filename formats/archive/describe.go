package archive

import (
	"context"
	"time"

	"recfs/formats"
	"recfs/nodes"
)

// A Description is what an archive knows of a recording without opening it.
type Description struct {
	Format string // name of the format
	Path   string // where it lies in the source
	Stored int64  // bytes of its file
	Time   time.Time
}

// Describe tells whether dir, the directory of an entry of an archive or an
// archive itself, is a recording, and which.
func Describe(ctx context.Context, dir nodes.Dir) (d Description, ok bool) {
	dir, err := Current(ctx, dir)
	if err != nil {
		return d, false
	}
	r, ok := dir.(recording)
	if !ok {
		return d, false
	}
	return Description{r.format().Name, r.key.path, r.key.v.Size, r.key.v.Time()}, true
}

func (r recording) format() formats.Format { return r.a.list[r.key.format] }
