package hcrp

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"recfs/formats"
)

// A fingerprint tells what the first chunks of a recording were made of, so that a
// index of them holds for a version of the recording that has grown.
type fingerprint struct {
	sum   [sha256.Size]byte // of their index entries
	files []fileFingerprint // those in which they lie, sorted
}

// A fileFingerprint is of the start of a file up to the last of the chunks in it.
type fileFingerprint struct {
	number int64 // of the segment; -1: the file
	formats.Seal
}

// sumOf returns the checksum of the index entries of the first n chunks in the
// order of ticks.
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

// reach returns how far the first n chunks in the order of ticks reach in each
// file that is there.
func (r *Reader) reach(n int) map[int64]int64 {
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

// A pass is a pass over the chunks that computes the checksums of the files
// that it reads.
type pass struct {
	*recording // that reads through the tallies
	tallies    map[int64]*formats.Tally
	old        map[int64]formats.Seal // what is known of files that the pass did not read from their start
}

func (rec *recording) newPass() *pass {
	r := *rec.reader
	r.segments = slices.Clone(r.segments)
	w := &pass{&recording{src: rec.src, reader: &r, schema: rec.schema}, map[int64]*formats.Tally{}, map[int64]formats.Seal{}}
	w.tally(-1, formats.NewTally(r.file))
	for _, s := range r.segments {
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
	if s := w.reader.segment(number); s != nil {
		s.file = r
	} else {
		w.reader.file = r
	}
}

// stamp returns that of a file.
func (rec *recording) stamp(number int64) formats.Stamp {
	if s := rec.reader.segment(number); s != nil {
		return s.stamp
	}
	return rec.src.Stamp
}

// fits reports whether the chunks with the fingerprint s are the ones that lie there,
// and prepares w to go on behind them. An index that lost chunks is not gone on
// with where a file has become longer: they may be there now.
func (w *pass) fits(ctx context.Context, rec *recording, s *fingerprint, chunks int, lost bool) error {
	ends := w.reader.reach(chunks)
	if s.sum != w.reader.sumOf(chunks) || len(ends) != len(s.files) {
		return formats.ErrOther
	}
	for _, f := range s.files {
		if _, ok := ends[f.number]; !ok {
			return formats.ErrOther
		}
		p := place{segment: f.number}
		size, _ := rec.reader.extent(p)
		src := formats.Source{ReaderAt: rec.reader.at(p), Size: size, Stamp: rec.stamp(f.number)}
		fit, tally, err := f.Fit(ctx, src)
		if err != nil {
			return err
		}
		if fit == formats.Other || lost && f.Stamp.Size != src.Stamp.Size {
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

// fingerprinted gives an index its fingerprint.
func (w *pass) fingerprinted(ctx context.Context, s *index) (*index, error) {
	s.fingerprint = fingerprint{sum: w.reader.sumOf(s.progress.chunks)}
	ends := w.reader.reach(s.progress.chunks)
	for _, n := range slices.Sorted(maps.Keys(ends)) {
		f, known := w.old[n]
		f.Stamp = w.stamp(n)
		if !known || f.Length != ends[n] {
			if w.tallies[n] == nil {
				w.tallies[n] = formats.NewTally(w.reader.at(place{segment: n}))
			}
			var err error
			if f, err = w.tallies[n].Seal(ctx, f.Stamp, ends[n]); err != nil {
				return nil, err
			}
		}
		s.fingerprint.files = append(s.fingerprint.files, fileFingerprint{n, f})
	}
	return s, nil
}

// variant names the choices that an index depends on besides the recording:
// schema, limits and dictionary.
func (rec *recording) variant() string {
	h := sha256.New()
	if rec.schema != nil {
		fmt.Fprintf(h, "%x", rec.schema.sum)
	}
	fmt.Fprintf(h, " %+v %x", rec.reader.limits, rec.reader.dictSum)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// makeIndex decodes every chunk.
func (rec *recording) makeIndex(ctx context.Context) (*index, error) {
	w := rec.newPass()
	s, err := newIndexer(w.reader, w.decode).run(ctx)
	if err != nil {
		return nil, err
	}
	return w.fingerprinted(ctx, s)
}

// resumeIndex brings a packed index up to date, if it is one of the same
// recording.
func (rec *recording) resumeIndex(ctx context.Context, b []byte) (*index, error) {
	w := rec.newPass()
	r := w.reader
	old, err := unpackIndex(b, r.byTick, r.Chunks())
	if err == nil {
		err = old.check(r)
	}
	if err != nil {
		return nil, err
	}
	if err := w.fits(ctx, rec, &old.fingerprint, old.progress.chunks, old.progress.lost); err != nil {
		return nil, err
	}
	s := newIndexer(r, w.decode)
	s.index, s.progress = old, old.progress
	for i := range old.tracks {
		t := &old.tracks[i]
		s.lives[t.Entity] = t.Life
		if t.open() {
			s.current[t.Entity] = i
		}
	}
	if s.chunks < len(r.byTick) {
		t := playback{layout: r.Header.Layout, index: old, decode: w.decode}
		if s.replay, err = t.before(ctx, s.ranges); err != nil {
			return nil, err
		}
	}
	done, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	return w.fingerprinted(ctx, done)
}
