package hcrp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"recfs/formats"
)

// sumOf returns the checksum of the index entries of the first n chunks in the order of ticks.
func (r *Reader) sumOf(n int) (sum [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", r.Header.Layout, r.Header.Version)
	var b []byte
	for _, k := range r.byTick[:n] {
		b = binary.BigEndian.AppendUint64(b[:0], uint64(k))
		h.Write(appendEntry(b, r.Entry(int(k)), 0))
	}
	h.Sum(sum[:0])
	return sum
}

// ends returns how far the first n chunks in the order of ticks reach in each file that is there.
func (r *Reader) ends(n int) map[int64]int64 {
	ends := map[int64]int64{}
	for _, k := range r.byTick[:n] {
		p := r.place(int(k))
		if size, ok := r.extent(p); ok {
			end := min(addSat(max(p.offset, 0), max(r.Entry(int(k)).Stored, 0)), size)
			ends[p.segment] = max(ends[p.segment], end)
		}
	}
	return ends
}

// A pass reads the chunks of a recording once and computes the checksums of the files on the way.
type pass struct {
	eventReader // with a Reader of its own, which reads through the tallies
	stamp       formats.Stamp
	files       map[int64]formats.ReaderAt // as they are, by number
	tallies     map[int64]*formats.Tally
	old         map[int64]formats.Seal // of files that the pass need not read from their start
}

// newPass prepares a pass over a recording whose file has that stamp.
func newPass(r eventReader, stamp formats.Stamp) *pass {
	own := *r.Reader
	own.segments = slices.Clone(own.segments)
	w := &pass{
		eventReader: eventReader{&own, r.schema}, stamp: stamp,
		files: map[int64]formats.ReaderAt{-1: r.file}, tallies: map[int64]*formats.Tally{}, old: map[int64]formats.Seal{},
	}
	w.tally(-1, formats.NewTally(r.file))
	for _, s := range r.segments {
		w.files[s.number] = s.file
		w.tally(s.number, formats.NewTally(s.file))
	}
	return w
}

// tally makes the pass read a file through t.
func (w *pass) tally(number int64, t *formats.Tally) {
	w.tallies[number] = t
	w.read(number, t)
}

// read makes the pass read a file through r.
func (w *pass) read(number int64, r formats.ReaderAt) {
	if s := w.segment(number); s != nil {
		s.file = r
	} else {
		w.file = r
	}
}

// stampOf returns the stamp of a file.
func (w *pass) stampOf(number int64) formats.Stamp {
	if s := w.segment(number); s != nil {
		return s.stamp
	}
	return w.stamp
}

// fits prepares the pass to go on after the chunks of an index, or fails with ErrOther if they are
// not the ones that lie there. An index that lost chunks is not gone on with where a file has
// become longer: they may be there now.
func (w *pass) fits(ctx context.Context, x *index) error {
	ends := w.ends(x.progress.chunks)
	if x.fingerprint.sum != w.sumOf(x.progress.chunks) || len(ends) != len(x.fingerprint.files) {
		return formats.ErrOther
	}
	for _, f := range x.fingerprint.files {
		if _, ok := ends[f.number]; !ok {
			return formats.ErrOther
		}
		size, _ := w.extent(place{segment: f.number})
		src := formats.Input{ReaderAt: w.files[f.number], Size: size, Stamp: w.stampOf(f.number)}
		fit, tally, err := f.Fit(ctx, src)
		if err != nil {
			return err
		}
		if fit == formats.Other || x.progress.lost && f.Stamp.Size != src.Stamp.Size {
			return formats.ErrOther
		}
		w.old[f.number] = f.Seal
		if tally != nil {
			w.tally(f.number, tally)
		} else {
			w.read(f.number, src.ReaderAt)
			delete(w.tallies, f.number)
		}
	}
	return nil
}

// finish gives an index its fingerprint.
func (w *pass) finish(ctx context.Context, x *index) (*index, error) {
	x.fingerprint = fingerprint{sum: w.sumOf(x.progress.chunks)}
	ends := w.ends(x.progress.chunks)
	for _, n := range slices.Sorted(maps.Keys(ends)) {
		f, known := w.old[n]
		f.Stamp = w.stampOf(n)
		if !known || f.Length != ends[n] {
			if w.tallies[n] == nil {
				w.tallies[n] = formats.NewTally(w.files[n])
			}
			var err error
			if f, err = w.tallies[n].Seal(ctx, f.Stamp, ends[n]); err != nil {
				return nil, err
			}
		}
		x.fingerprint.files = append(x.fingerprint.files, fileFingerprint{n, f})
	}
	return x, nil
}

// makeIndex decodes every chunk of a recording, whose file has that stamp.
func makeIndex(ctx context.Context, r eventReader, stamp formats.Stamp) (*index, error) {
	w := newPass(r, stamp)
	x, err := newIndexer(w.eventReader).run(ctx)
	if err != nil {
		return nil, err
	}
	return w.finish(ctx, x)
}

// resumeIndex brings a saved index up to date: the chunks are decoded that have come since. It
// fails if the index is not one of an earlier version of the recording.
func resumeIndex(ctx context.Context, r eventReader, stamp formats.Stamp, saved []byte) (*index, error) {
	old, err := decodeIndex(saved, r.byTick, r.Chunks())
	if err == nil {
		err = old.check(r.Reader)
	}
	if err != nil {
		return nil, err
	}
	w := newPass(r, stamp)
	if err := w.fits(ctx, old); err != nil {
		return nil, err
	}
	s := newIndexer(w.eventReader)
	if err := s.resume(ctx, old); err != nil {
		return nil, err
	}
	x, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	return w.finish(ctx, x)
}
