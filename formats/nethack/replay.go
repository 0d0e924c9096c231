package nethack

import (
	"context"
	"io"

	"recfs/formats"
)

// rebuild makes re hold the save of tick to. It holds that of tick from, or from is its backup.
// Both are in one chunk, and not lost. Checksums in between were found right by the index pass.
func (x *index) rebuild(ctx context.Context, r io.ReaderAt, re *rebuilder, from, to int) error {
	if !x.ticks.backup(from) || re.save != nil {
		from++
	}
	return x.saveLines(ctx, r, from, to, func(k int, text []byte) error { return x.replay(re, k, text, k == to) })
}

// replay makes re, which holds the save before that of tick k unless it is a backup, hold that of
// tick k.
func (x *index) replay(re *rebuilder, k int, text []byte, check bool) error {
	var err error
	if x.ticks.backup(k) {
		err = re.backup(blobOf(text))
	} else {
		err = re.diff(blobOf(text), check)
	}
	if err != nil {
		return formats.Corrupt(name, x.ticks.off(k), "tick %d: %v", k, err)
	}
	return nil
}

// saveLines calls fn with the lines of ticks from to to.
func (x *index) saveLines(ctx context.Context, r io.ReaderAt, from, to int, fn func(k int, text []byte) error) error {
	s := newScanner(r, x.ticks.off(from), x.ticks.end(to))
	defer s.close()
	for k := from; k <= to; {
		l, err := s.next(ctx)
		if err != nil {
			return &formats.Error{Format: name, Offset: s.off, Err: err}
		}
		if l.off != x.ticks.off(k) {
			continue
		}
		if !isSaveLine(l.text) { // the index is not of this log
			return formats.Corrupt(name, l.off, "tick %d is no save line", k)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.chargeSave(ctx, l); err != nil {
			return err
		}
		if err := fn(k, l.text); err != nil {
			return err
		}
		k++
	}
	return nil
}
