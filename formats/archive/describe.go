package archive

import (
	"context"
	"errors"
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
	r, ok := shownRecording(ctx, dir)
	if !ok {
		return d, false
	}
	return Description{r.format().Name, r.key.path, r.key.v.Size, r.key.v.Time()}, true
}

// Summarize returns what is known of a recording, with what only its
// index.json says: that is made if it has to be. One that does not open has
// none: the error is io/fs.ErrNotExist.
func Summarize(ctx context.Context, dir nodes.Dir) (Summary, error) {
	r, ok := shownRecording(ctx, dir)
	if !ok {
		return Summary{}, errors.ErrUnsupported
	}
	s := Summary{Players: []string{}}
	err := s.fill(ctx, r, r.format().TickLength)
	return s, err
}

func shownRecording(ctx context.Context, dir nodes.Dir) (recording, bool) {
	dir, err := actual(ctx, dir)
	if err != nil {
		return recording{}, false
	}
	r, ok := dir.(recording)
	return r, ok
}

func (r recording) format() formats.Format { return r.a.list[r.key.format] }

// actual returns the directory that dir, of an archive, stands for at present.
func actual(ctx context.Context, dir nodes.Dir) (nodes.Dir, error) {
	switch d := dir.(type) {
	case *rootDir:
		return d.current(ctx)
	case nodes.Deferred[rootChild]:
		return d.Resolve(ctx)
	}
	return dir, nil
}
