package example

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	"recfs/formats"
	"recfs/formats/internal/rowcount"
)

// scan is the Scan of the format. It goes on from an earlier index.
func scan(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	x, ok := earlier.(*index)
	if !ok {
		x = &index{reach: h.(*header).size(), scores: map[string]int32{}, rows: rowcount.New(columns)}
	}
	for l := readLines(ctx, in, x.reach, in.Size); !x.ended; x.reach = l.off {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err // of a read or the context: it says nothing of the log
		}
		x.add(line, x.reach, l.off)
	}
	return x, nil
}

// add takes in the line from off to end.
func (x *index) add(line []byte, off, end int64) {
	if n, ok := parseEnd(line); ok && n >= x.last {
		x.ended, x.last = true, n
		return
	}
	s, ok := parseScore(line)
	if reason := x.reject(s, ok); reason != "" {
		if len(x.problems) < maxProblems {
			x.problems = append(x.problems, formats.Problem{Code: "line", Offset: off, Message: reason})
		}
		return
	}
	if n := len(x.chunks); n == 0 || x.chunks[n-1].lines == chunkLines {
		if n > 0 {
			x.rows.EndChunk() // else n and the chunks of the counter differ
		}
		x.chunks = append(x.chunks, chunk{offset: off, first: s.Tick, before: maps.Clone(x.scores)})
	}
	if n := len(x.ticks); n == 0 || x.ticks[n-1] != s.Tick {
		x.ticks = append(x.ticks, s.Tick)
	}
	x.scores[s.Player], x.last = s.Score, s.Tick
	c := &x.chunks[len(x.chunks)-1]
	c.end = end
	c.lines++
	c.size += int64(len(s.appendLine(nil)))
	s.row(x.rows.Batch)
	x.rows.EndRow()
}

// knows reports whether the lines of a player count.
func (x *index) knows(player string) bool {
	_, ok := x.scores[player]
	return ok
}

// reject returns why a line is left out, "" if it is not.
func (x *index) reject(s score, ok bool) string {
	switch {
	case !ok:
		return "not a tick, a player and a score"
	case s.Tick < x.last:
		return "the tick is before that of the line before"
	case !x.knows(s.Player) && len(x.scores) == maxPlayers:
		return fmt.Sprintf("there are more than %d players", maxPlayers)
	}
	return ""
}

// parseEnd parses the end line.
func parseEnd(line []byte) (tick int64, ok bool) {
	digits, ok := bytes.CutPrefix(line, []byte("end "))
	n, err := strconv.ParseUint(string(digits), 10, 31)
	return int64(n), ok && err == nil
}
