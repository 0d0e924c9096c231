package nodes

import (
	"context"
	"strconv"
	"strings"
)

// A Versioned is the Dir or File of an entry that tells which version of a source it shows.
type Versioned interface {
	// Version names the version of what lies at the path below, which may be "". What has the same
	// path and the same version has the same bytes, after a restart and on another machine, too.
	Version(ctx context.Context, below string) (string, error)
}

// IsWhole reports whether an entry is a directory that is made of one source, as that of a
// recording, and no part of one.
func IsWhole(e Entry) bool {
	if _, ok := e.Dir.(Versioned); !ok {
		return false
	}
	p, ok := e.Dir.(interface{ IsPart() bool })
	return !ok || !p.IsPart()
}

// A Recording is the Dir of a recording in an archive.
type Recording interface {
	Dir
	// Tree returns the directory that the format made of it.
	Tree(ctx context.Context) (Dir, error)
	// IsRecording reports whether it is one: the value may stand for another directory, too.
	IsRecording() bool
}

// IsRecording reports whether an entry is the directory of a recording.
func IsRecording(e Entry) bool {
	r, ok := e.Dir.(Recording)
	return ok && r.IsRecording()
}

// A Way is the entries over which a path leads, from the root on.
type Way struct {
	Entries []Entry
	Links   int // how many symbolic links were followed
}

// Last returns the entry at the end.
func (w Way) Last() Entry { return w.Entries[len(w.Entries)-1] }

// Path returns the path from the root to the last entry, without links; "." is the root.
func (w Way) Path() string {
	if len(w.Entries) == 1 {
		return "."
	}
	path := make([]byte, 0, 256)
	for i, e := range w.Entries[1:] {
		if i > 0 {
			path = append(path, '/')
		}
		path = append(path, e.Name...)
	}
	return string(path)
}

// Version names the version of the last entry; "" if nothing tells it.
func (w Way) Version(ctx context.Context) (string, error) {
	all := make([]byte, 0, 512)
	below := w.Path()
	for i, e := range w.Entries {
		if i > 0 {
			if _, below, _ = strings.Cut(below, "/"); below == "" {
				below = "."
			}
		}
		v, ok := e.Dir.(Versioned)
		if !ok {
			v, ok = e.File.(Versioned)
		}
		if !ok {
			continue
		}
		text, err := v.Version(ctx, below)
		if err != nil {
			return "", err
		}
		all = strconv.AppendInt(all, int64(len(text)), 10) // so that no two ways have one version
		all = append(append(all, ' '), text...)
	}
	return string(all), nil
}
