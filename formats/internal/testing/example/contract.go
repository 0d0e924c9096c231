package example

import (
	"context"
	"slices"

	"recfs/formats"
)

var _ formats.Head = (*header)(nil)

// open is the Open of the format: it reads the header and nothing else.
func open(ctx context.Context, in formats.Input) (formats.Head, error) {
	b := make([]byte, min(in.Size, int64(maxHeader)))
	if err := readFull(ctx, in, b, 0); err != nil {
		return nil, err
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Append appends the header as it is.
func (h *header) Append(b []byte) []byte { return append(b, h.raw...) }

// Memory is about what the header keeps alive.
func (h *header) Memory() int64 { return int64(maxHeader + len(h.world) + 128) }

// readHead reads what Append of a header wrote.
func readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h, err := parseHeader(saved)
	if err != nil || len(h.raw) != len(saved) {
		return nil, formats.ErrOther
	}
	return h, nil
}

// summary is the Summary of the format.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	h := rec.Head.(*header)
	s := formats.Summary{Version: "1", Start: h.start, Map: new(shown(h.world)), HeaderProblems: slices.Values(h.problems())}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	s.Ticks, s.Duration = new(int64(len(x.ticks))), new(h.length(x.last()))
	s.Chunks, s.Problems = len(x.chunks), slices.Values(append(h.problems(), x.problems...))
	s.End, s.Finished, s.Complete = x.ending(rec.Size), x.ended, len(x.problems) == 0
	for i := range x.scores { // bytes tell players apart; a Summary has names as they are shown, each once
		s.AddPlayers([]string{shown(x.scores[i].Player)})
	}
	return s, nil
}

// shown returns a text with U+FFFD for each byte that is not UTF-8.
func shown(text string) string { return string([]rune(text)) }
