package teehistorian

import (
	"sync"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// runSizes are the sizes of the demos of runs that were made.
type runSizes struct {
	seal formats.Seal // of the index that tells the runs

	mu    sync.Mutex
	list  []int64 // 0: not known
	known int     // how many are
	saved int     // how many were when they were saved
}

// get returns the size of the demo of a run, 0 if it is not known.
func (s *runSizes) get(run int32) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(run) >= len(s.list) { // of another version
		return 0
	}
	return s.list[run]
}

// savedParts is in how many steps the sizes of all runs are saved, so that the bytes that are
// written do not grow with the square of the runs.
const savedParts = 256

// set notes a size, and calls save if it is time to save all of them.
func (s *runSizes) set(run int32, size int64, save func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(run) >= len(s.list) || s.list[run] != 0 {
		return
	}
	s.list[run] = size
	if s.known++; s.known == len(s.list) || (s.known-s.saved)*savedParts >= len(s.list) {
		s.saved = s.known
		save()
	}
}

// encode returns the sizes as they are saved.
//
//	| head | count | size … |
func (s *runSizes) encode() []byte {
	w := indexfile.NewWriter(s.seal, indexfile.HeadSize+4*len(s.list))
	codeRunSizes(indexfile.Codec{W: w}, &s.list)
	return w.Bytes()
}

func codeRunSizes(c indexfile.Codec, list *[]int64) {
	indexfile.List(c, list, 1, func(n *int64) { c.Values(n) })
}
