package catalogue

import (
	"context"
	"time"

	"recfs/formats/archive"
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
	mostSeen    = 16384 // that are looked at one by one; where more changed, a look at all is no worse
)

// A watchlist is what tells whether anything has changed since a scan.
type watchlist struct {
	began    time.Time // the scan
	ended    time.Time
	seen     []sighting
	restless bool // something changes too fast to tell
}

// A sighting is a file or directory of the source as it was.
type sighting struct {
	path string
	v    source.Version
}

// good is how long what was found is taken for what is there, as far as only a look at each file
// tells. Where that took long, it is no more than a fifth of what is done.
func (w *watchlist) good() time.Duration { return max(restCheck, 4*w.ended.Sub(w.began)) }

// folder adds a directory, whose version tells of new, renamed and removed
// names.
func (w *watchlist) folder(ctx context.Context, view *archive.Archive, name string) {
	info, err := view.Stat(ctx, name)
	if err != nil || !archive.Settled(info) {
		w.restless = true
		return
	}
	w.see(sighting{name, info.Version})
}

// file adds a file unless it is at rest.
func (w *watchlist) file(name string, v source.Version) {
	if w.began.Sub(v.Time()) < atRest || w.began.UnixNano()-v.Changed < int64(atRest) {
		w.see(sighting{name, v})
	}
}

// see adds what is to be looked at again.
func (w *watchlist) see(s sighting) {
	if len(w.seen) == mostSeen {
		w.restless, w.seen = true, nil
	}
	if !w.restless {
		w.seen = append(w.seen, s)
	}
}

// segments adds the files of a recording in segments.
func (w *watchlist) segments(files []source.FileKey) {
	for _, f := range files {
		w.file(f.Path, f.Version)
	}
}

// holds reports whether what was found by the scan can be taken for what is
// there now.
func (w *watchlist) holds(ctx context.Context, view *archive.Archive) bool {
	if w.restless || time.Since(w.ended) > w.good() {
		return false
	}
	for _, s := range w.seen {
		if info, err := view.Stat(ctx, s.path); err != nil || info.Version != s.v {
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
