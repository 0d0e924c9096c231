package archive

import (
	"time"

	"recfs/formats/source"
)

// To look at each file of a large archive takes a while, and most do not
// change any more. So what was found in one is good for restCheck as long as
// the directories and the files that changed a short time before are what they
// were. In an archive of fewer than manyRecords each look is at all.
const (
	manyRecords = 4096
	restCheck   = time.Second
	atRest      = time.Minute
)

// A watchlist is what tells whether anything has changed since a scan.
type watchlist struct {
	began    time.Time // the scan
	ended    time.Time
	seen     []seen
	restless bool // something changes too fast to tell
}

// A seen is a file or directory of the source as it was.
type seen struct {
	path string
	v    source.Version
}

// folder adds a directory, whose version tells of new, renamed and removed
// names.
func (w *watchlist) folder(a *archive, name string) {
	info, err := a.lstat(name)
	if err != nil || time.Since(info.ModTime()) < settled {
		w.restless = true
		return
	}
	w.seen = append(w.seen, seen{name, source.VersionOf(info)})
}

// file adds a file unless it is at rest.
func (w *watchlist) file(name string, v source.Version) {
	if w.began.Sub(v.Time()) < atRest || w.began.UnixNano()-v.Changed < int64(atRest) {
		w.seen = append(w.seen, seen{name, v})
	}
}

// segments adds the files of a recording in segments.
func (w *watchlist) segments(list string) {
	for _, s := range parseSegments(list) {
		w.file(s.at, s.v)
	}
}

// holds reports whether what was found by the scan can be taken for what is
// there now.
func (w *watchlist) holds(a *archive) bool {
	if w.restless || time.Since(w.ended) > restCheck {
		return false
	}
	for _, s := range w.seen {
		if info, err := a.lstat(s.path); err != nil || source.VersionOf(info) != s.v {
			return false
		}
	}
	return true
}

// cost is about what a watchlist keeps alive.
func (w *watchlist) cost() int64 {
	const each = 128 // with the path
	return int64(each * cap(w.seen))
}
