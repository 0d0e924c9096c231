package page

import (
	"context"
	"errors"
	iofs "io/fs"
	"net/http"
	"strings"

	"recfs/nodes"
	"recfs/nodes/play"
)

// A Tree is what is served, and how.
type Tree struct {
	// Path returns the path that an escaped one means, which begins with a slash, and whether it ends
	// in one.
	Path func(escaped string) (name string, slash bool, err error)
	// Find returns the way to what is called name.
	Find func(ctx context.Context, name string) (nodes.Way, error)
	// Within runs a part of a request that decodes something. It may begin again.
	Within func(ctx context.Context, do func(context.Context) error) error
	// Tag returns the ETag of what is at the end of a way; "": nothing tells its version.
	Tag func(ctx context.Context, way nodes.Way) (string, error)
	// Status is that of the reply to what cannot be answered.
	Status func(err error) int
	// List knows all recordings.
	List List
	// DiffMaps tells how two maps differ.
	DiffMaps DiffMaps
}

// A muteError says why a recording is not shown over time.
type muteError struct{ reason string }

func (e *muteError) Error() string { return e.reason }

// dir returns the directory that the format made of the recording at a path.
func (t *Tree) dir(ctx context.Context, name string) (nodes.Dir, error) {
	way, err := t.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	e := way.Last()
	if v, ok := e.Dir.(nodes.Volatile); ok && len(way.Entries) == 1 { // the source may be a recording
		if e, err = v.Lookup(ctx, "."); err != nil {
			return nil, err
		}
	}
	if !nodes.IsRecording(e) {
		return nil, iofs.ErrNotExist
	}
	return e.Dir.(nodes.Recording).Tree(ctx)
}

// recording returns what plays at a path. What lies there and does not play is a muteError.
func (t *Tree) recording(ctx context.Context, name string) (play.Recording, error) {
	dir, err := t.dir(ctx, name)
	if err != nil {
		return nil, err
	}
	if rec, ok := dir.(play.Recording); ok {
		return rec, nil
	}
	switch why, err := nodes.ReadFile(ctx, dir, "error.txt"); {
	case err == nil:
		lines := strings.ReplaceAll(strings.TrimSpace(string(why)), "\n", ", ")
		return nil, &muteError{"This recording does not open (" + lines + ")."}
	case !errors.Is(err, iofs.ErrNotExist):
		return nil, err
	}
	return nil, &muteError{"Recordings of this format do not play here, or not without a schema that fits. Their files are in the folder."}
}

// playing returns the recording that a query asks for, unless the query is bad. What does not play
// is not there.
func (t *Tree) playing(ctx context.Context, q *Query) (play.Recording, error) {
	if err := q.Err(); err != nil {
		return nil, err
	}
	rec, err := t.recording(ctx, q.name)
	if mute, ok := errors.AsType[*muteError](err); ok {
		err = NewRefusal(http.StatusNotFound, mute.reason)
	}
	return rec, err
}
