package example

import (
	"maps"
	"math"
	"slices"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

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

// sound reports whether the numbers of a saved index can be of a log of this size: chunks lie one
// after the other between the header and what was read, and each shows no more than its lines can.
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
	if len(x.ticks) > 0 && (len(x.chunks) == 0 || x.ticks[0] < x.chunks[0].first) {
		return false
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
