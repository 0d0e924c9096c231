package teehistorian

import (
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// runSizes are the sizes of the demos of runs that were made.
type runSizes struct {
	seal  formats.Seal // of the index that tells the runs
	list  []atomic.Uint32
	known atomic.Int64 // how many are
	saved atomic.Int64 // how many were when they were saved
	mu    sync.Mutex   // held while they are saved
}

const sizeBytes = 4 // of a size on disk

// get returns the size of the demo of a run, 0 if it is not known.
func (s *runSizes) get(run int32) int64 {
	if int(run) >= len(s.list) {
		return 0
	}
	return int64(s.list[run].Load())
}

// savedParts is in how many steps the sizes of all runs are saved, so that the bytes that are
// written do not grow with the square of the runs.
const savedParts = 256

// set notes a size, and reports whether it is time to save all of them.
func (s *runSizes) set(run int32, size int64) bool {
	if int(run) >= len(s.list) || size > math.MaxUint32 || s.list[run].Swap(uint32(size)) != 0 {
		return false
	}
	known, saved := s.known.Add(1), s.saved.Load()
	all := int64(len(s.list))
	return (known == all || (known-saved)*savedParts >= all) && s.saved.CompareAndSwap(saved, known)
}

func (s *runSizes) memory() int64 { return int64(4*len(s.list)) + 128 }

func newRunSizes(seal formats.Seal, runs int) *runSizes {
	return &runSizes{seal: seal, list: make([]atomic.Uint32, runs)}
}

// encodeRunSizes returns the sizes as they are saved.
//
//	| head | sizes blob |
//
// sizes: u32 little-endian each, 0 for a demo that was not made
func encodeRunSizes(s *runSizes) []byte {
	sizes := make([]byte, 0, sizeBytes*len(s.list))
	for i := range s.list {
		sizes = binary.LittleEndian.AppendUint32(sizes, s.list[i].Load())
	}
	w := indexfile.NewWriter(s.seal, indexfile.HeadSize+binary.MaxVarintLen64+len(sizes))
	w.Blob(sizes)
	return w.Bytes()
}

// decodeRunSizes reads the sizes of so many runs, if they are of the bytes that the seal is of.
func decodeRunSizes(saved []byte, seal formats.Seal, runs int) (*runSizes, error) {
	r, was := indexfile.Open(name, saved)
	sizes := r.Blob()
	if err := r.Close(); err != nil {
		return nil, err
	}
	if was.Length != seal.Length || was.Sum != seal.Sum || len(sizes) != sizeBytes*runs {
		return nil, formats.ErrOther
	}
	s := newRunSizes(seal, runs)
	for i := range s.list {
		if n := binary.LittleEndian.Uint32(sizes[sizeBytes*i:]); n != 0 {
			s.list[i].Store(n)
			s.known.Add(1)
		}
	}
	s.saved.Store(s.known.Load())
	return s, nil
}
