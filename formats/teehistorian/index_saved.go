package teehistorian

import (
	"maps"
	"math"
	"slices"

	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/rowcount"
)

// The saved index: each part has its bytes in the comment of the function that writes it, and after
// that the one that reads it. Numbers are varints where nothing else is said, and "text", "blob",
// "bool" and "[…]" for what may be missing are those of indexfile.

// The least bytes that an element of a list takes, from the rulers below.
const (
	minExtension = 1 + 1
	minProblem   = 1 + 1 + 1 + 1
	minText      = 1
	minStay      = 15 + 2*tables
	minFinish    = 1 + 1
	minPractice  = 1 + 1 + 1
	minChunk     = 6 + 1 + minCheckpoint + 1
	minActivity  = 1 + 2*tables
	minLines     = 1 + 1

	minCheckpoint = 1 + 1 + 1
)

// Append appends the saved form of an index.
//
//	| start | bytes | end text | records | anomalies | kinds × 12 |
//	| count | extension … | count | problem … | count | text … | settled texts |
//	| count | stay … |
//	| count | practice change … | count | lines … | count | chunk … | tail checkpoint | last zigzag |
//	| count | activity … |
//
// extension: | event text | number |
// lines: | size | packed blob |
func (x *index) Append(b []byte) []byte {
	w := indexfile.Append(b)
	w.Size(x.start)
	w.Size(x.bytes)
	w.Text(x.end)
	w.Size(x.records)
	w.Size(x.anomalies)
	writeSizes(w, x.counts.kinds[:])
	w.Count(len(x.counts.extensions))
	for _, event := range slices.Sorted(maps.Keys(x.counts.extensions)) {
		w.Text(event)
		w.Size(x.counts.extensions[event])
	}
	w.Count(len(x.problems))
	for i := range x.problems {
		writeProblem(w, &x.problems[i])
	}
	w.Count(len(x.texts.list))
	for _, s := range x.texts.list {
		w.Text(s)
	}
	w.Count(x.texts.settled)
	w.Count(len(x.stays))
	for _, s := range x.stays {
		writeStay(w, s)
	}
	w.Count(len(x.practice))
	for i := range x.practice {
		writePractice(w, &x.practice[i])
	}
	w.Count(len(x.lines))
	for _, g := range x.lines {
		w.Size(g.size)
		w.Blob(g.packed)
	}
	w.Count(len(x.chunks))
	for i := range x.chunks {
		writeChunk(w, &x.chunks[i])
	}
	writeCheckpoint(w, &x.tail)
	w.Int(int64(x.tail.last))
	w.Count(len(x.activity))
	for i := range x.activity {
		writeActivity(w, &x.activity[i])
	}
	for _, t := range x.rows[positionsTable:] {
		t.Write(w)
	}
	return w.Bytes()
}

// decodeIndex reads what Append wrote.
func decodeIndex(b []byte) (*index, error) {
	r := indexfile.NewReader(name, b)
	x := &index{start: r.Size(), bytes: r.Size(), end: r.Text(), records: r.Size(), anomalies: r.Size()}
	readSizes(r, x.counts.kinds[:])
	x.counts.extensions = map[string]int64{}
	for range r.Count(minExtension) {
		event := r.Text()
		x.counts.extensions[event] = r.Size()
	}
	for range r.Count(minProblem) {
		x.problems = append(x.problems, readProblem(r))
	}
	for range r.Count(minText) {
		x.texts.id(r.Text())
	}
	x.texts.settled = int(r.Uint(uint64(len(x.texts.list))))
	stays, shared := make([]stay, r.Count(minStay)), newInterner()
	x.stays = make([]*stay, len(stays))
	for i := range stays {
		x.stays[i] = &stays[i]
		stays[i].read(r, &shared)
	}
	for range r.Count(minPractice) {
		x.practice = append(x.practice, readPractice(r))
	}
	for range r.Count(minLines) {
		x.lines = append(x.lines, lineGroup{r.Size(), bytesOf(r)})
	}
	x.readChunks(r)
	x.tail = readCheckpoint(r)
	x.tail.last = r.Int32()
	for range r.Count(minActivity) {
		x.activity = append(x.activity, readActivity(r, len(x.stays)))
	}
	for t := positionsTable; t < rowTables; t++ {
		x.rows[t] = rowcount.Read(r, rowColumns[t])
	}
	x.sortStays()
	return x, r.Close()
}

// readChunks reads the chunks, whose offsets and ordinals follow from those before.
func (x *index) readChunks(r *indexfile.Reader) {
	x.chunks = make([]chunk, r.Count(minChunk))
	offset, ordinal := x.start, 0
	for i := range x.chunks {
		c := &x.chunks[i]
		*c = readChunk(r)
		c.offset, c.ordinal = offset, ordinal
		offset += c.size
		ordinal += c.count
	}
}

func writeSizes(w *indexfile.Writer, list []int64) {
	for _, n := range list {
		w.Size(n)
	}
}

func readSizes(r *indexfile.Reader, list []int64) {
	for i := range list {
		list[i] = r.Size()
	}
}

// | code text | offset | message text | final bool |
func writeProblem(w *indexfile.Writer, p *problem) {
	w.Text(p.code)
	w.Size(p.offset)
	w.Text(p.message)
	w.Bool(p.final)
}

func readProblem(r *indexfile.Reader) problem { return problem{r.Text(), r.Size(), r.Text(), r.Bool()} }

// | cid | first chunk zigzag | last chunk zigzag | protocol | count | name text … | named |
// | [clan text] | [version zigzag] | [version text] | first | [join zigzag] | [drop zigzag] |
// | [reason text] | lives | count | finish … | rows × tables | bytes × tables |
//
// finish: | tick zigzag | ticks zigzag |
func writeStay(w *indexfile.Writer, s *stay) {
	int32Of := func(v int32) { w.Int(int64(v)) }
	w.Uint(uint64(s.cid))
	w.Int(int64(s.firstChunk))
	w.Int(int64(s.lastChunk))
	w.Uint(uint64(s.protocol))
	w.Count(len(s.names))
	for _, n := range s.names {
		w.Text(n)
	}
	w.Uint(uint64(s.named))
	indexfile.WriteOptional(w, s.clan, w.Text)
	indexfile.WriteOptional(w, s.version, int32Of)
	indexfile.WriteOptional(w, s.versionStr, w.Text)
	w.Uint(uint64(s.first))
	indexfile.WriteOptional(w, s.joinTick(), int32Of)
	indexfile.WriteOptional(w, s.dropTick(), int32Of)
	indexfile.WriteOptional(w, s.reason, w.Text)
	w.Size(s.lives)
	w.Count(len(s.finishes))
	for _, f := range s.finishes {
		w.Int(int64(f.Tick))
		w.Int(int64(f.TimeTicks))
	}
	writeSizes(w, s.rows[:])
	writeSizes(w, s.bytes[:])
}

func (s *stay) read(r *indexfile.Reader, shared *interner) {
	s.cid, s.firstChunk, s.lastChunk = int32(r.Uint(maxClients-1)), r.Int32(), r.Int32()
	s.protocol = protocol(r.Uint(math.MaxUint8))
	for range r.Count(minText) {
		s.names = shared.append(s.names, r.Text())
	}
	s.named = readTick(r)
	s.clan = readShared(r, r.Text, shared.text)
	s.version = readShared(r, r.Int32, shared.version)
	s.versionStr = readShared(r, r.Text, shared.text)
	s.first = readTick(r)
	s.join, s.joined = readOptionalTick(r)
	s.drop, s.dropped = readOptionalTick(r)
	s.reason = readShared(r, r.Text, shared.text)
	s.lives = r.Size()
	for range r.Count(minFinish) {
		s.finishes = append(s.finishes, finishTime{r.Int32(), r.Int32()})
	}
	readSizes(r, s.rows[:])
	readSizes(r, s.bytes[:])
}

func readOptionalTick(r *indexfile.Reader) (tick int32, ok bool) {
	if v := indexfile.ReadOptional(r, r.Int32); v != nil {
		return *v, true
	}
	return 0, false
}

// readShared reads a value that may be missing and returns the one of its kind.
func readShared[V any](r *indexfile.Reader, read func() V, shared func(V) *V) *V {
	if v := indexfile.ReadOptional(r, read); v != nil {
		return shared(*v)
	}
	return nil
}

// readTick reads a number of 31 bits, which a tick is.
func readTick(r *indexfile.Reader) int32 { return int32(r.Uint(math.MaxInt32)) }

// | offset | team zigzag | on bool |
func writePractice(w *indexfile.Writer, c *practiceChange) {
	w.Size(c.offset)
	w.Int(int64(c.team))
	w.Bool(c.on)
}

func readPractice(r *indexfile.Reader) practiceChange {
	return practiceChange{r.Size(), r.Int32(), r.Bool()}
}

// bytesOf reads a blob that stays where it is: nearly all of a saved index are blobs, which as
// copies would be there twice while it is read.
func bytesOf(r *indexfile.Reader) []byte {
	n := r.Count(1)
	return slices.Clip(r.Bytes(n))
}

// | size | first tick | last - first | count | lines | weight | ticks blob | checkpoint |
// | activity blob |
func writeChunk(w *indexfile.Writer, c *chunk) {
	w.Size(c.size)
	w.Uint(uint64(c.first))
	w.Uint(uint64(c.last - c.first))
	w.Count(c.count)
	w.Size(c.lines)
	w.Count(c.weight)
	w.Blob(c.ticks)
	writeCheckpoint(w, &c.checkpoint)
	w.Blob(c.activity)
}

func readChunk(r *indexfile.Reader) chunk {
	c := chunk{size: r.Size(), first: readTick(r)}
	c.last = c.first + int32(r.Uint(uint64(math.MaxInt32-c.first)))
	c.count = int(r.Uint(math.MaxInt32))
	c.lines = r.Size()
	c.weight = int(r.Uint(math.MaxInt32))
	c.ticks = bytesOf(r)
	c.checkpoint = readCheckpoint(r)
	c.activity = bytesOf(r)
	ticks, ok := decodeTicks(c.ticks, c.first, c.count)
	if !ok || len(ticks) == 0 || ticks[0] != c.first || ticks[len(ticks)-1] != c.last || !slices.IsSorted(ticks) {
		r.Fail("the ticks of a chunk")
	}
	return c
}

// | tick | stays | players blob, see writePlayers |
func writeCheckpoint(w *indexfile.Writer, c *checkpoint) {
	w.Uint(uint64(c.tick))
	w.Uint(uint64(c.stays))
	w.Blob(c.players)
}

func readCheckpoint(r *indexfile.Reader) checkpoint {
	return checkpoint{tick: readTick(r), stays: readTick(r), players: bytesOf(r)}
}

// | stay | rows × tables | bytes × tables |
func writeActivity(w *indexfile.Writer, a *activity) {
	w.Uint(uint64(a.stay))
	writeSizes(w, a.rows[:])
	writeSizes(w, a.bytes[:])
}

func readActivity(r *indexfile.Reader, stays int) activity {
	a := activity{stay: int32(r.Uint(math.MaxInt32))}
	readSizes(r, a.rows[:])
	readSizes(r, a.bytes[:])
	if int(a.stay) >= stays {
		r.Fail("activity of a stay that is not listed")
	}
	return a
}

// writeChunkActivity writes what a chunk holds for its stays, in ascending order, up to the end:
//
//	| stay - stay before | bytes × tables |
func writeChunkActivity(w *indexfile.Writer, list []activity) {
	last := int32(0)
	for i := range list {
		a := &list[i]
		w.Uint(uint64(a.stay - last))
		last = a.stay
		writeSizes(w, a.bytes[:])
	}
}

// The reader appends the list to the one that it is given.
func readChunkActivity(list []activity, b []byte) ([]activity, error) {
	r := indexfile.NewReader(name, b)
	last := uint64(0)
	for r.Len() > 0 {
		var a activity
		last += r.Uint(math.MaxInt32)
		a.stay = int32(last)
		readSizes(r, a.bytes[:])
		list = append(list, a)
	}
	return list, r.Err()
}

// Memory is about what the index keeps alive.
func (x *index) Memory() int64 {
	n := 0
	for i := range x.chunks {
		c := &x.chunks[i]
		n += len(c.ticks) + len(c.checkpoint.players) + len(c.activity) + 160
	}
	for i := range x.stays {
		n += 256 + 8*cap(x.stays[i].finishes)
	}
	for _, s := range x.texts.list {
		n += 3*len(s) + 64 // there, in the map and in a stay
	}
	for _, t := range x.rows[positionsTable:] {
		n += int(t.Cost())
	}
	for i := range x.lines {
		n += len(x.lines[i].packed) + 48
	}
	return int64(n + 64*len(x.problems) + 24*len(x.practice))
}
