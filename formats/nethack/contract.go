package nethack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"recfs/formats"
)

var (
	_ formats.Head  = (*header)(nil)
	_ formats.Index = (*index)(nil)
)

// open is the Open of the format.
func open(ctx context.Context, in formats.Input) (formats.Head, error) {
	return readHeader(ctx, in.At(ctx), in.Size)
}

// Append appends the three lines as they are.
func (h *header) Append(b []byte) []byte { return append(b, h.lines...) }

// Memory is about what the header keeps alive: the lines, and the same again for what was parsed.
func (h *header) Memory() int64 { return int64(2*len(h.lines) + 512) }

// readHead reads what Append of a header wrote.
func readHead(ctx context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h, err := readHeader(ctx, bytes.NewReader(saved), int64(len(saved)))
	switch {
	case err != nil:
		return nil, err
	case h.size != int64(len(saved)):
		return nil, formats.ErrOther
	}
	return h, nil
}

// steady is the Steady of the format.
func steady(head formats.Head, r formats.ReaderAt) formats.ReaderAt {
	return steadyLog{r, head.(*header).size}
}

// A steadyLog is a log with zeros in place of what the game rewrites: all of the first two lines
// but the recovery count, which is compared by itself, and the hint in line 4, which starts at
// offset line4.
type steadyLog struct {
	r     formats.ReaderAt
	line4 int64
}

// ReadAt implements formats.ReaderAt.
func (s steadyLog) ReadAt(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(ctx, p, off)
	end := off + int64(n)
	for _, part := range [][2]int64{{0, line3At}, {s.line4 + 1, s.line4 + 1 + hintSize}} {
		if start, stop := max(part[0], off), min(part[1], end); start < stop {
			clear(p[start-off : stop-off])
		}
	}
	return n, err
}

// scan is the Scan of the format.
func scan(ctx context.Context, in formats.Input, head formats.Head, earlier formats.Index) (formats.Index, error) {
	h := head.(*header)
	log := formats.At(ctx, live(in, h))
	x, err := (*index)(nil), error(nil)
	if earlier == nil {
		x, err = buildIndex(ctx, log, in.Size, h)
	} else {
		x = earlier.(*index)
		err = x.extend(ctx, log, in.Size)
	}
	if err == nil {
		err = x.readTail(log)
	}
	return x, err
}

// readTail keeps the lines after the last save, if they are shown.
func (x *index) readTail(log io.ReaderAt) error {
	x.tail = nil
	if x.end-x.reach() > maxEventText {
		return nil
	}
	tail := make([]byte, x.end-x.reach())
	if _, err := log.ReadAt(tail, x.reach()); err != nil && !errors.Is(err, io.EOF) {
		return &formats.Error{Format: name, Offset: x.reach(), Err: err}
	}
	x.tail = tail
	return nil
}

// Reach is where the last save line ends: what follows is an action under way, and read again when
// the log has grown.
func (x *index) Reach(string) int64 { return x.reach() }

// readIndex reads what Append of an index wrote.
func readIndex(in formats.Input, head formats.Head, saved []byte) (formats.Index, error) {
	x, err := decodeIndex(saved, head.(*header))
	if err != nil {
		return nil, err
	}
	if x.size > in.Size && in.Size != formats.UnknownSize {
		return nil, formats.ErrOther
	}
	return x, nil
}

// summary is the Summary of the format.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	h := rec.Head.(*header)
	s := formats.Summary{Version: h.version}
	if start, ok := utc(h.start, 0); ok {
		s.Start = &start
	}
	s.AddPlayers([]string{validText(h.name)})
	s.Details.Add("description", validText(h.description))
	s.Details.Add("mode", h.modeName())
	s.Details = append(s.Details, h.hero())
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	s.Ticks, s.Chunks, s.Problems = new(int64(x.ticks.len())), x.chunks.rows, slices.Values(x.problemList())
	s.End = x.ending()
	s.Complete, s.Finished = x.whole(), s.End == endGameOver
	x.addResult(&s)
	if last := x.ticks.len() - 1; last >= 0 {
		first, known := x.utc(0)
		if known {
			s.Start = &first
		}
		if end, ok := x.utc(last); ok && known {
			s.Duration = new(end.Sub(first))
		}
	}
	return s, nil
}

// addResult tells how far the hero came, also in a game that goes on, and how it ended.
func (x *index) addResult(s *formats.Summary) {
	var words []string
	if last := x.lastSave(); last != nil {
		s.Details = append(s.Details, formats.Detail{Key: "turn", Value: last.Turn, Text: fmt.Sprint(last.Turn)})
		words = append(words, fmt.Sprintf("turn %d", last.Turn))
	}
	if x.dungeon != "" {
		s.Details.Add("place", fmt.Sprintf("%s, depth %d", x.dungeon, x.depth))
		words = append(words, s.Details.Text("place"))
	}
	if x.header.status == "done" {
		words = append(words, validText(x.header.description))
	}
	s.Result = strings.Join(words, ", ")
}

// hero returns the words for the hero.
func (h *header) hero() formats.Detail {
	var words [len(h.words)]string
	var hero formats.Details
	for i, key := range []string{"role", "race", "gender", "alignment"} {
		words[i] = validText([]byte(h.words[i]))
		hero.Add(key, words[i])
	}
	return formats.Detail{Key: "hero", Value: hero, Text: strings.Join(words[:], " ")}
}

// validText returns b with U+FFFD for each byte that is not UTF-8.
func validText(b []byte) string { return string([]rune(string(b))) }

const endGameOver = "game_over"

// whole reports whether nothing of the game is missing or unreadable. A save that disagrees about
// the time takes nothing away. Problems beyond the end of the list may be of any kind.
func (x *index) whole() bool {
	return x.now.unlisted == 0 && !slices.ContainsFunc(x.problems, func(p formats.Problem) bool { return p.Code != clockMismatch })
}

// ending says how the log ends.
func (x *index) ending() string {
	switch {
	case x.end < x.size:
		return "partial_line"
	case x.ticks.len() == 0:
		return "no_save"
	case x.over:
		return endGameOver
	case x.end == x.reach():
		return "save"
	}
	return "action"
}

// problemList returns the problems by offset.
func (x *index) problemList() []formats.Problem {
	list := append([]formats.Problem{}, x.problems...)
	slices.SortStableFunc(list, func(a, b formats.Problem) int { return cmp.Compare(a.Offset, b.Offset) })
	if x.now.unlisted > 0 {
		list[len(list)-1].Message += fmt.Sprintf("; %d more problems are not listed", x.now.unlisted)
	}
	return list
}
