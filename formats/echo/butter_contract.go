package echo

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
	"recfs/formats/internal/jsonenc"
)

var _ formats.Head = (*butterHead)(nil)

// open is the Open of the format.
func (o Options) open(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := newButterReader(ctx, in, in.Size, o.MaxChunk)
	if err != nil {
		return nil, err
	}
	return r.butterHead, nil
}

// Append appends the head as it is kept on disk.
//
//	| size of the file | layout text | header and chunk table |
func (o *butterHead) Append(b []byte) []byte {
	return indexfile.Append(b, func(c indexfile.Codec) { o.code(c, &o.Layout.name, &o.Header.raw) })
}

func (o *butterHead) code(c indexfile.Codec, layout *string, header *[]byte) {
	c.Values(&o.size, layout)
	c.Blob(header)
}

// readHead reads what Append of a head wrote.
func (o Options) readHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h, chosen, raw := &butterHead{maxChunk: o.maxChunk()}, "", []byte(nil)
	err := indexfile.Read(butterName, saved, func(c indexfile.Codec) { h.code(c, &chosen, &raw) })
	if err != nil {
		return nil, err
	}
	if h.Header, err = parseHeader(raw, h.size); err != nil {
		return nil, err
	}
	for _, l := range layoutsOf(h.Header.Version) {
		if l.name == chosen {
			h.Layout = l
			return h, nil
		}
	}
	return nil, formats.ErrOther
}

// Memory is about how much the head keeps in memory: for each chunk 4 bytes of the table as stored
// and 16 as it is used, and a user for each player.
func (o *butterHead) Memory() int64 { return int64(5*len(o.Header.raw)+1280) + o.Header.users.memory() }

func (o *butterHead) formatVersion() string { return strconv.Itoa(int(o.Header.Version)) }

// scanButter is the Scan of the format.
func scanButter(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	return (&butterReader{h.(*butterHead), in.ReaderAt}).Scan(ctx, in.Size, earlier)
}

// readButterIndex reads what Append of an index wrote.
func readButterIndex(_ formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	r := h.(*butterHead)
	return ReadIndex(butterName, false, saved, r.size, len(r.Header.Chunks), func(info *ChunkInfo) bool {
		if info.Ticks > r.Header.Interval {
			return false
		}
		_, err := decodeCarry(info.State)
		return err == nil || info.Ticks == 0
	})
}

// butterSummary is the Summary of the format.
func butterSummary(_ context.Context, rec formats.Recording, x formats.Index) (formats.Summary, error) {
	h := rec.Head.(*butterHead)
	s := h.Match().summary(butterName, x)
	s.Version, s.Layout, s.HeaderProblems = h.formatVersion(), h.Layout.name, slices.Values(h.problems())
	var names []string
	for _, p := range h.Header.Players {
		shown, _ := display(p.Name)
		names = append(names, shown)
	}
	s.AddPlayers(names)
	return s, nil
}

// headerDocument returns the value of header.json.
func (o *butterHead) headerDocument(source formats.SourceInfo) any {
	h, d := o.Header, o.Match().header()
	d.Version, d.Interval, d.Code, d.Compression = h.Version, h.Interval, &h.Compression, h.CompressionName()
	_, d.ClientHex = display(h.ClientName)
	d.MapIndex, d.ChunkCount, d.DataOffset = &h.MapIndex, &h.Entries, h.Size
	d.Players = make([]headerPlayer, len(h.Players))
	for i, p := range h.Players {
		v := headerPlayer{UserID: jsonenc.AppendInt64(nil, p.UserID), Number: p.Number, Level: p.Level}
		v.Name, v.NameHex = display(p.Name)
		d.Players[i] = v
	}
	return formats.HeaderDocument[*headerFields]{
		HeaderHead: formats.HeaderHead{Format: butterName, FormatVersion: o.formatVersion(), Layout: o.Layout.name},
		Source:     source, Header: d, Problems: append([]formats.Problem{}, o.problems()...),
	}
}

const (
	// chunkCost is the memory that the index takes for a chunk while the list grows, without what it
	// keeps of frames: 160 MiB for the greatest number of chunks.
	chunkCost = 320

	// chunkMemory is more than a chunk keeps beside its frames.
	chunkMemory = 1 << 10

	maxProblems = 1 << 12 // problems that are listed, of some 200 bytes each
)

// Scan returns the index of the first bytes of the file. It may go on from an earlier index of
// fewer bytes. If these are not all bytes of the file, only chunks that are whole are in the index.
func (r *butterReader) Scan(ctx context.Context, bytes int64, earlier formats.Index) (*Index, error) {
	held, err := formats.Charge(ctx, int64(chunkCost*len(r.Header.Chunks)))
	if err != nil {
		return nil, err
	}
	defer held.Free()
	b, err := Resume(earlier, r.Layout.name, false)
	if err != nil {
		return nil, err
	}
	s := butterScan{r: r, encoder: NewEncoder(r.Match()), bytes: bytes, n: len(b.Chunks), problems: b.Problems}
	if b.State != nil {
		if s.carry, err = decodeCarry(b.State); err != nil || s.n > len(r.Header.Chunks) {
			return nil, formats.ErrOther
		}
	}
	x, err := b.Scan(ctx, s.next)
	if err != nil {
		return nil, err
	}
	x.End, x.Bytes, x.Problems = r.end(), bytes, s.problems
	if bytes < r.size {
		return x, nil
	}
	if x.End != EndTruncated {
		x.Tail = nil
	}
	x.Problems = append(r.problems(), s.problems...)
	sort.SliceStable(x.Problems, func(i, j int) bool { return x.Problems[i].Offset < x.Problems[j].Offset })
	return x, nil
}

// A butterScan is where a pass over the file is.
type butterScan struct {
	r        *butterReader
	encoder  *Encoder
	bytes    int64 // that may be read
	n        int
	first    int // how many frames of chunk n were returned
	carry    carry
	problems []formats.Problem
}

// next returns the next chunk, or part of one.
func (s *butterScan) next(ctx context.Context) (*Chunk, ChunkInfo, error) {
	whole := s.n < len(s.r.Header.Chunks) && s.r.Header.Chunks[s.n].End() <= s.bytes
	if s.n == len(s.r.Header.Chunks) || !whole && s.bytes < s.r.size {
		return nil, ChunkInfo{State: s.carry.encode(true)}, nil
	}
	t, bad, err := s.r.chunkText(ctx, s.n)
	if err != nil {
		return nil, ChunkInfo{}, err
	}
	defer t.free()
	c, err := s.r.decode(ctx, s.n, t, bad == nil, s.carry, s.first)
	if err != nil {
		return nil, ChunkInfo{}, err
	}
	chunk := s.r.chunk(s.n, s.first, c, s.encoder)
	chunk.Open, chunk.Continues = !whole, s.first > 0
	var info ChunkInfo
	if s.first == 0 {
		e := s.r.Header.Chunks[s.n]
		info = ChunkInfo{Offset: e.Offset, Stored: e.Size, Size: Unreadable, State: s.carry.encode(!whole)}
		if bad == nil {
			info.Size = t.size
		}
	}
	if s.first += len(c.frames); s.first < min(c.count, s.r.Header.Interval) && len(c.frames) > 0 {
		return chunk, info, nil
	}
	info.Damaged = s.end(c, t, bad)
	return chunk, info, nil
}

// end ends chunk n, whose last part is c, and reports whether the chunk is damaged.
func (s *butterScan) end(c *butterChunk, t *chunkBytes, bad *damage) bool {
	n := s.n
	s.n, s.first = n+1, 0
	if bad == nil {
		bad = c.damage(s.r.Header.Interval, n == len(s.r.Header.Chunks)-1)
	}
	s.carry = c.end
	if bad != nil {
		s.carry = afterDamage
		s.problem(n, bad.code, bad.msg)
	}
	s.carry.pass(t.size)
	if c.noBones[1] > 0 {
		first := s.r.tick(n)
		s.problem(n, codeBones, fmt.Sprintf("left out from tick %d to %d", first+int64(c.noBones[0]), first+int64(c.noBones[1])-1))
	}
	return bad != nil
}

// problem notes a problem of chunk n. A damage without a code is already a problem of the file.
func (s *butterScan) problem(n int, code, msg string) {
	const more = " (more are not listed)"
	if code == "" {
		return
	}
	if len(s.problems) < maxProblems {
		s.problems = append(s.problems, formats.Problem{Code: code, Chunk: &n, Offset: s.r.Header.Chunks[n].Offset, Message: msg})
	} else if last := &s.problems[maxProblems-1]; !strings.HasSuffix(last.Message, more) {
		last.Message += more
	}
}

// chunk returns the decoded frames, the first of which is frame first, in the form of the tree.
func (r *butterReader) chunk(n, first int, c *butterChunk, e *Encoder) *Chunk {
	return &Chunk{
		Number: n, FirstTick: r.tick(n) + int64(first), Frames: c.frames, Held: c.held,
		Session: func(b []byte, i int) []byte { return e.Session(b, &c.frames[i]) },
		Bones: func(b []byte, i int) []byte {
			if len(c.frames[i].Bones) == 0 {
				return b
			}
			return AppendBones(b, c.frames[i].Bones)
		},
	}
}

// Chunk decodes the part of chunk n that begins with frame first. It starts from the state in the
// index. before is the end of the chunk before, if that is in memory.
func (r *butterReader) Chunk(ctx context.Context, x *Index, n, first int, before *Chunk, e *Encoder) (*Chunk, int64, error) {
	from, err := r.start(ctx, x, n, before)
	if err != nil {
		return nil, 0, err
	}
	t, bad, err := r.chunkText(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	defer t.free()
	c, err := r.decode(ctx, n, t, bad == nil, from, first)
	if err != nil {
		return nil, 0, err
	}
	defer c.held.Free()
	c.end = carry{} // which stays with its frames
	cost := int64(chunkMemory)
	for i := range c.frames {
		cost += sizeOf(&c.frames[i])
	}
	if n := len(c.frames); n > 0 { // room for players and bones, and for frames
		cost += min(cost/4, slabFrames*sizeOf(&c.frames[n-1])) + int64(cap(c.frames)-n)*int64(unsafe.Sizeof(Frame{}))
	}
	return r.chunk(n, first, c, e), cost, nil
}

// start returns what chunk n starts from. If its checkpoint has no bones, they are those of the
// last frame of the chunk before, if that is in memory. Otherwise earlier chunks are decoded for
// them.
func (r *butterReader) start(ctx context.Context, x *Index, n int, before *Chunk) (carry, error) {
	from, err := decodeCarry(x.Chunks[n].State)
	if err != nil || from.complete() {
		return from, err
	}
	if before == nil || len(before.Frames) == 0 {
		from.bones, err = r.bonesAt(ctx, x, n, from)
	} else {
		from.bones = before.Frames[len(before.Frames)-1].Bones
	}
	if err == nil && !from.complete() {
		err = formats.ErrOther
	}
	return from, err
}

// bonesAt returns the bones at the start of chunk n, whose checkpoint at has none. It decodes the
// chunks from the last checkpoint with bones on.
func (r *butterReader) bonesAt(ctx context.Context, x *Index, n int, at carry) (_ []Bones, err error) {
	first := n
	for ; first > 0 && !at.complete(); first-- {
		if at, err = decodeCarry(x.Chunks[first-1].State); err != nil {
			return nil, err
		}
	}
	for ; first < n && at.complete(); first++ {
		t, bad, err := r.chunkText(ctx, first)
		if err != nil {
			return nil, err
		}
		c, err := r.decode(ctx, first, t, bad == nil, at, r.Header.Interval)
		t.free()
		if err != nil {
			return nil, err
		}
		at = c.end
	}
	return at.bones, nil
}
