package teehistorian

import (
	"iter"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/wire"
)

// lineGroupSize is the size from which a group of lines ends.
const lineGroupSize = 32 << 10

// A lineGroup is a stretch of the lines of events.txt as the index keeps them: compressed, and
// without the names of the stays.
type lineGroup struct {
	Size   int64 // decompressed
	Packed []byte
}

// A lineWriter collects the lines of the group that is open.
type lineWriter struct{ raw indexfile.Writer }

// add writes a line after those before.
func (w *lineWriter) add(l *logLine) { indexfile.Codec{W: &w.raw}.Whole(l) }

// end returns the group and begins the next.
func (w *lineWriter) end() lineGroup {
	raw := w.raw.Bytes()
	g := lineGroup{int64(len(raw)), slices.Clone(wire.Pack(raw))}
	w.raw.Reset()
	return g
}

// reopen opens the last group again if it is not full.
func (w *lineWriter) reopen(x *index) error {
	n := len(x.lines) - 1
	if n < 0 || x.lines[n].Size >= lineGroupSize {
		return nil
	}
	for l, err := range x.lines[n].all(len(x.stays)) {
		if err != nil {
			return err
		}
		w.add(&l)
	}
	x.lines = x.lines[:n]
	return nil
}

// all returns the lines of a group in a recording of so many stays.
func (g *lineGroup) all(stays int) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		raw, err := wire.Unzstd(g.Packed, g.Size)
		if err != nil {
			yield(logLine{}, formats.Corrupt(name, 0, "index: lines: %v", err))
			return
		}
		r := indexfile.NewReader(name, raw)
		for r.Len() > 0 {
			l := logLine{}
			indexfile.Codec{R: r}.Whole(&l)
			if !l.Who.isOf(stays) || l.With != nil && !l.With.isOf(stays) {
				r.Fail("a line of no stay")
			}
			if !yield(l, r.Err()) || r.Err() != nil {
				return
			}
		}
	}
}

// isOf reports whether it may stand in a recording of so many stays.
func (w who) isOf(stays int) bool { return noStay <= w.Stay && int(w.Stay) < stays }
