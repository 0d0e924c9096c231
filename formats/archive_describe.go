package formats

import (
	"context"
	"time"

	"recfs/nodes"
)

// A Description is what an archive knows of a recording without opening it.
type Description struct {
	Format string // name of the format
	Path   string // where it lies in the source
	Stored int64  // bytes of its file
	Time   time.Time

	TickLength time.Duration // see Format
}

// Describe tells whether dir, the directory of an entry of an archive or an
// archive itself, is a recording, and which.
func Describe(ctx context.Context, dir nodes.Dir) (d Description, ok bool) {
	dir, err := actual(ctx, dir)
	if err != nil {
		return d, false
	}
	r, ok := dir.(recording)
	if !ok {
		return d, false
	}
	f := r.a.list[r.key.format]
	return Description{f.Name, r.key.path, r.key.v.size, r.key.v.time(), f.TickLength}, true
}

// actual returns the directory that dir, of an archive, stands for at present.
func actual(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	switch d := dir.(type) {
	case *top:
		return d.current(ctx)
	case nodes.Deferred[topDir]:
		return d.Resolve(ctx)
	}
	return dir, nil
}
