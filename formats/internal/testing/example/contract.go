package example

import (
	"bufio"
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"recfs/formats"
)

var _ formats.Head = (*header)(nil)

// open is the Open of the format: it reads the first line and nothing else.
func open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(in.At(ctx), 0, maxLine), maxLine)
	line, err := r.ReadString('\n')
	switch {
	case err == io.EOF:
		return nil, formats.Errorf(name, 0, io.ErrUnexpectedEOF, "no whole line in the first %d bytes", maxLine)
	case err != nil:
		return nil, &formats.Error{Format: name, Err: err}
	}
	h, err := parseHeader(strings.TrimSuffix(line, "\n"))
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Append appends the line as it is.
func (h *header) Append(b []byte) []byte { return append(b, h.line...) }

// Memory is about what the header keeps alive.
func (h *header) Memory() int64 { return int64(2*len(h.line) + 64) }

// readHead reads what Append of a header wrote.
func readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h, err := parseHeader(string(saved))
	if err != nil || len(saved) >= maxLine || strings.Contains(h.line, "\n") {
		return nil, formats.ErrOther
	}
	return h, nil
}

// summary is the Summary of the format.
func summary(_ context.Context, rec formats.Recording, found formats.Index) (formats.Summary, error) {
	h := rec.Head.(*header)
	s := formats.Summary{Version: "1", Start: &h.start, Map: &h.world}
	if found == nil {
		return s, nil
	}
	x := found.(*index)
	ticks, length := int64(len(x.ticks)), h.length(x.last)
	s.Ticks, s.Duration, s.Chunks, s.Problems = &ticks, &length, len(x.chunks), slices.Values(x.problems)
	s.End, s.Finished, s.Complete = x.ending(), x.ended, len(x.problems) == 0
	s.AddPlayers(slices.Sorted(maps.Keys(x.scores)))
	return s, nil
}
