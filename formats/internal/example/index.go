package example

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

var _ formats.Index = (*index)(nil)

const (
	// chunkLines is how many lines a chunk has: few enough to be read for one tick, and no fewer bytes than the
	// scores of maxPlayers that go with it.
	chunkLines = 1024
	maxPlayers = 256

	maxProblems = 1000 // that are listed
)

// How a log ends.
const (
	endClean     = "clean"     // with its end line
	endTruncated = "truncated" // before that
)

// An index is what one pass learns of a log.
type index struct {
	chunks   []chunk           // the last one may get more lines
	ticks    []int64           // at which a score changed
	scores   map[string]int32  // after the last line
	problems []formats.Problem // of lines that are none
	rows     *rowcount.Counter // of the table scores
	reach    int64             // where the last whole line ends
	last     int64             // tick of the last line
	ended    bool
}

// A chunk is a run of lines.
type chunk struct {
	offset, end int64 // in the file
	first       int64 // tick of the first line
	lines       int
	size        int64            // of lines/N.jsonl
	before      map[string]int32 // the scores before it
}

// scan is the Scan of the format. It goes on from an earlier index.
func scan(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	x, ok := earlier.(*index)
	if !ok {
		x = &index{reach: h.(*header).size(), scores: map[string]int32{}, rows: rowcount.New(columns)}
	}
	size, err := in.Length(ctx)
	if err != nil {
		return nil, err
	}
	for l := readLines(ctx, in, x.reach, size); !x.ended; x.reach = l.off {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
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
			x.rows.EndChunk()
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
	c.size += int64(len(s.appendJSON(nil)))
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

// appendJSON appends a line of lines/N.jsonl.
func (s score) appendJSON(b []byte) []byte {
	line, _ := json.Marshal(s) // it has a string and numbers
	return append(append(b, line...), '\n')
}

// columns are those of the table scores.
var columns = slices.Concat(
	columnar.Required(columnar.Int64, "tick"), columnar.Required(columnar.Text, "player"), columnar.Required(columnar.Int32, "score"),
)

// row adds a line to the table.
func (s score) row(b *columnar.Batch) {
	b.Int64(s.Tick)
	b.Text(s.Player)
	b.Int32(s.Score)
}

// ending returns the word for how the log ends.
func (x *index) ending() string {
	if x.ended {
		return endClean
	}
	return endTruncated
}

// Reach is where the last whole line ends: what follows is read again when the log has grown.
func (x *index) Reach(string) int64 { return x.reach }

// Memory is about what the index keeps alive: a chunk has a copy of all scores.
func (x *index) Memory() int64 {
	const player = 64 // in a map
	return int64(1024+8*len(x.ticks)+128*len(x.problems)+(len(x.chunks)+1)*(96+player*len(x.scores))) + x.rows.Cost()
}

// Append appends the index as it is kept on disk.
//
//	| reach | last | ended bool | count | problem … | count | tick - tick before … | scores | rowcount.Counter |
//	| count | chunk … |
//
// A chunk is | offset | end | first | lines | size | scores |.
func (x *index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Size(x.reach)
	w.Size(x.last)
	w.Bool(x.ended)
	w.Count(len(x.problems))
	for i := range x.problems {
		w.Problem(&x.problems[i])
	}
	w.Count(len(x.ticks))
	before := int64(0)
	for _, t := range x.ticks {
		w.Size(t - before)
		before = t
	}
	writeScores(w, x.scores)
	x.rows.Write(w)
	w.Count(len(x.chunks))
	for i := range x.chunks {
		c := &x.chunks[i]
		w.Size(c.offset)
		w.Size(c.end)
		w.Size(c.first)
		w.Count(c.lines)
		w.Size(c.size)
		writeScores(w, c.before)
	}
	return w.Bytes()
}

// readIndex reads what Append of an index wrote.
func readIndex(in formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	r := indexfile.NewReader(name, saved)
	x := &index{reach: r.Size(), last: r.Size(), ended: r.Bool()}
	for range r.Count(indexfile.MinProblem) {
		x.problems = append(x.problems, r.Problem())
	}
	tick := int64(0)
	for range r.Count(1) {
		tick += int64(r.Uint(math.MaxInt32))
		x.ticks = append(x.ticks, tick)
	}
	x.scores, x.rows = readScores(r), rowcount.Read(r, columns)
	for range r.Count(6) {
		x.chunks = append(x.chunks, chunk{r.Size(), r.Size(), r.Size(), int(r.Uint(chunkLines)), r.Size(), readScores(r)})
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	if !x.sound(h.(*header).size(), in.Size) {
		return nil, formats.ErrOther
	}
	return x, nil
}

// sound reports whether the numbers of a saved index can be of a log of this size: chunks lie one after the
// other between the header and what was read, and each shows no more than its lines can.
func (x *index) sound(header, size int64) bool {
	const most = 6*maxLine + 64 // bytes of a line in JSON: \u00XX for each byte, and the keys
	at, tick := header, int64(0)
	for i := range x.chunks {
		c := &x.chunks[i]
		if c.offset < at || c.end <= c.offset || c.first < tick || c.lines == 0 || c.size > int64(c.lines)*most {
			return false
		}
		at, tick = c.end, c.first
	}
	ordered := slices.IsSortedFunc(x.ticks, func(a, b int64) int { return int(min(max(a-b, -1), 1)) })
	return x.reach >= at && (x.reach <= size || size == formats.UnknownSize) && x.last >= tick && ordered && x.rows.Chunks() <= max(len(x.chunks), 1)
}

// writeScores writes the scores of players.
//
//	| count | player text, score zigzag … |
func writeScores(w *indexfile.Writer, scores map[string]int32) {
	w.Count(len(scores))
	for _, player := range slices.Sorted(maps.Keys(scores)) {
		w.Text(player)
		w.Int(int64(scores[player]))
	}
}

func readScores(r *indexfile.Reader) map[string]int32 {
	scores := map[string]int32{}
	for range r.Count(2) {
		player := r.Text()
		scores[player] = r.Int32()
	}
	return scores
}
