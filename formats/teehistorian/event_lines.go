package teehistorian

import (
	"iter"
	"math"
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
	size   int64 // decompressed
	packed []byte
}

// A lineWriter collects the lines of the group that is open.
type lineWriter struct {
	raw  indexfile.Writer
	tick int32 // of the line before
}

// add writes a line after those before:
//
//	| tick - tick before | who | with bool | [who] | text |
//
// who: | stay + 1 | or | 0 | word text |
func (w *lineWriter) add(l *logLine) {
	w.raw.Uint(uint64(l.tick - w.tick))
	w.tick = l.tick
	w.who(l.who)
	w.raw.Bool(l.with != nil)
	if l.with != nil {
		w.who(*l.with)
	}
	w.raw.Blob(l.text)
}

func (w *lineWriter) who(of who) {
	w.raw.Uint(uint64(of.stay + 1))
	if of.stay == noStay {
		w.raw.Text(of.word)
	}
}

// end returns the group and begins the next.
func (w *lineWriter) end() lineGroup {
	raw := w.raw.Bytes()
	g := lineGroup{int64(len(raw)), slices.Clone(wire.Pack(raw))}
	w.raw.Reset()
	w.tick = 0
	return g
}

// reopen opens the last group again if it is not full.
func (w *lineWriter) reopen(x *index) error {
	n := len(x.lines) - 1
	if n < 0 || x.lines[n].size >= lineGroupSize {
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

// all returns the lines of a group in a recording of so many stays. The text of a line is
// valid until the next.
func (g *lineGroup) all(stays int) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		raw, err := wire.Unzstd(g.packed, g.size)
		if err != nil {
			yield(logLine{}, formats.Corrupt(name, 0, "index: lines: %v", err))
			return
		}
		r := indexfile.NewReader(name, raw)
		for l := (logLine{}); r.Len() > 0; {
			l.tick += int32(r.Uint(uint64(math.MaxInt32 - l.tick)))
			l.who, l.with = readWho(r, stays), nil
			if r.Bool() {
				l.with = new(readWho(r, stays))
			}
			l.text = r.Bytes(r.Count(1))
			if !yield(l, r.Err()) || r.Err() != nil {
				return
			}
		}
	}
}

func readWho(r *indexfile.Reader, stays int) who {
	w := who{stay: int32(r.Uint(uint64(stays))) - 1}
	if w.stay == noStay {
		w.word = r.Text()
	}
	return w
}
