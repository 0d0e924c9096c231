package hcrp

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

// A compaction writes the chunks of a recording again.
type compaction struct {
	enc      *zstd.Encoder
	scratch  io.Writer
	progress func(done, all int64)
	report   *formats.CompactReport
	kept     []Entry         // in the order of ticks; their offsets count from the start of scratch
	used     map[int64]int64 // by segment, up to where the index names chunks
	stored   int64
	frame    []byte
}

// compact is the Compact of the format (docs/formats/hcrp.md section 11). It compresses every chunk
// that can be read again, in the order of ticks. Damage is not an error: it is in the report.
func compact(ctx context.Context, rec formats.Recording, w io.Writer, scratch formats.Scratch, opt formats.CompactOptions) (*formats.CompactReport, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(cmp.Or(opt.Level, 19))),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	c := &compaction{enc: enc, scratch: scratch, progress: opt.Progress, report: &formats.CompactReport{}}
	r, err := c.recording(ctx, rec)
	if err != nil {
		return nil, err
	}
	metadata, err := r.Metadata()
	if err != nil {
		return nil, err
	}
	head, ticks := r.compactedHead(metadata, c.kept), int64(0)
	for i := range c.kept {
		if c.kept[i].Stored > 0 {
			ticks += c.kept[i].Ticks
			c.report.Chunks++
		}
	}
	c.report.Ticks = max(c.report.Ticks, ticks)
	c.report.Lost = c.report.Ticks - ticks
	c.report.Size = int64(len(head)) + c.stored
	if _, err := w.Write(head); err != nil {
		return nil, err
	}
	_, err = io.Copy(w, io.NewSectionReader(scratch, 0, c.stored))
	return c.report, err
}

// recording adds all chunks of a recording that are whole, and returns the recording. If its header
// is lost it gets a new one.
func (c *compaction) recording(ctx context.Context, rec formats.Recording) (*Reader, error) {
	if lost, ok := rec.Head.(*ruin); ok {
		if lost.salvage == nil || lost.salvage.formats[0].layout == Design {
			return nil, lost.why
		}
		c.report.Missing = []formats.Problem{formats.ErrorProblem(lost.why)}
		s, err := lost.salvage.fitting(ctx)
		if err == nil {
			err = c.salvaged(ctx, s)
		}
		if err != nil {
			return nil, err
		}
		return s.headed()
	}
	r := rec.Head.(*head).reader(rec.Input)
	c.report.Missing, c.report.Ticks = r.missingEntries(), r.totalTicks()
	if r.Header.Layout == Published {
		c.report.Ticks = max(c.report.Ticks, r.Header.TickCount)
	}
	c.used = r.used(true)
	whole, err := c.readable(ctx, r)
	if err == nil {
		err = c.salvaged(ctx, r.salvageBeside(whole))
	}
	return r, err
}

// missingEntries returns the problems that mean that the index lacks chunks.
func (r *Reader) missingEntries() (list []formats.Problem) {
	for _, p := range r.Problems[:len(r.Problems)-r.chunkProblems] {
		if p.Code == codeIndexTruncated || p.Code == codeIndexCount || p.Code == codeIndexEntry && p.Chunk == nil {
			list = append(list, p)
		}
	}
	return list
}

// readable adds all chunks of the index that can be read, and returns them. In the design layout a
// hole means that nothing happened, so that the ticks of other chunks keep an entry without bytes.
func (c *compaction) readable(ctx context.Context, r *Reader) (whole []int32, err error) {
	for i := range r.Chunks() {
		if e := r.Entry(i); e.Start < 0 || e.Ticks <= 0 {
			c.report.Missing = append(c.report.Missing, r.flaw(i).Problem())
		}
	}
	var done int64
	for _, n := range r.byTick {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := r.Entry(int(n))
		body, err := r.Body(ctx, int(n))
		if bad, damaged := formats.Coded(err); damaged {
			c.report.Missing = append(c.report.Missing, bad.Problem())
			if r.Header.Layout == Design {
				e.Raw, e.Stored, e.Size = 0, 0, 0
				c.kept = append(c.kept, e)
			}
			continue
		}
		if err == nil {
			err = c.add(len(c.kept), e, body)
		}
		if err != nil {
			return nil, err
		}
		whole = append(whole, n)
		if done += int64(len(body)); c.progress != nil {
			c.progress(done, r.bodyBytes())
		}
	}
	return whole, nil
}

// add writes a chunk, at place k of those that are kept.
func (c *compaction) add(k int, e Entry, body []byte) error {
	c.frame = c.enc.EncodeAll(body, c.frame[:0])
	e.Raw, e.Stored = c.stored, int64(len(c.frame))
	c.kept = slices.Insert(c.kept, k, e)
	c.stored += e.Stored
	_, err := c.scratch.Write(c.frame)
	return err
}

// salvaged adds the chunks that no index names, or only a damaged entry.
func (c *compaction) salvaged(ctx context.Context, s *salvageSource) error {
	list, err := s.find(ctx, maxSalvaged)
	for i := 0; i < len(list) && err == nil; i++ {
		if err = ctx.Err(); err != nil {
			break
		}
		var added bool
		switch added, err = c.unnamed(ctx, s, list[i], i); {
		case added:
			c.report.Found++
		case list[i].offset >= c.used[list[i].segment]: // the others are missing already
			c.report.Unnamed++
		}
	}
	return err
}

// unnamed adds a chunk that no index names, if its ticks are known and no other chunk has any of
// them.
func (c *compaction) unnamed(ctx context.Context, s *salvageSource, f frame, number int) (added bool, err error) {
	r, err := s.rescue(ctx, f, number)
	switch {
	case errors.Is(err, formats.ErrCorrupt):
		return false, nil
	case err != nil:
		return false, err
	case r.chunk == nil || r.chunk.stop != nil || r.chunk.records == 0:
		return false, nil
	}
	e := Entry{Start: r.chunk.entry.Start, Size: int64(len(r.body))}
	e.Ticks = r.chunk.final - e.Start + 1
	if r.chunk.marked > 0 {
		e.Flags = flagSnapshot
	}
	k, same := slices.BinarySearchFunc(c.kept, e.Start, func(o Entry, start int64) int { return cmp.Compare(o.Start, start) })
	if same || k > 0 && c.kept[k-1].Last() >= e.Start || k < len(c.kept) && c.kept[k].Start <= e.Last() {
		return false, nil
	}
	return true, c.add(k, e, r.body)
}

// fitting returns s with the one of its formats that decodes the most chunks to their ends, as all
// are of one recording.
func (s *salvageSource) fitting(ctx context.Context) (*salvageSource, error) {
	if len(s.formats) == 1 {
		return s, nil
	}
	list, err := s.find(ctx, maxSalvaged)
	best, most := *s, -1
	for _, format := range s.formats {
		one, n := *s, 0
		one.formats = []eventFormat{format}
		for i := 0; err == nil && i < len(list); i++ {
			r, bad := one.rescue(ctx, list[i], i)
			switch {
			case bad == nil && r.chunk.stop == nil:
				n++
			case bad != nil && !errors.Is(bad, formats.ErrCorrupt):
				err = bad
			}
		}
		if n > most {
			best, most = one, n
		}
	}
	return &best, err
}

// headed returns a recording without chunks, whose header has nothing but the version of the first
// format.
func (s *salvageSource) headed() (*Reader, error) {
	metadata := []byte{tagCompound, tagEnd}
	b := append([]byte(magic), make([]byte, headerSize-len(magic))...)
	binary.BigEndian.PutUint16(b[4:], uint16(s.formats[0].schema.Vers[0]))
	binary.BigEndian.PutUint32(b[35:], uint32(len(metadata)))
	h, err := parseHeader(b)
	t := &Tables{Header: h, hasEntries: true, preamble: preamble{header: b, metadata: metadata}, limits: s.formats[0].limits}
	return &Reader{Tables: t}, err
}

// compactedHead returns header, metadata and index of the compacted file. The chunks need no
// dictionary any more.
func (r *Reader) compactedHead(metadata []byte, kept []Entry) []byte {
	head := append(slices.Clone(r.header), metadata...)
	start := len(head)
	head = appendEntries(head, kept, 0)
	// The length of the index does not depend on the offsets in it.
	n := len(head) - start
	head = appendEntries(head[:start], kept, int64(len(head)))

	var ticks, end int64
	for i := range kept {
		ticks += kept[i].Ticks
		end = max(end, kept[i].Last()+1)
	}
	if r.Header.Layout == Design {
		ticks = end
	}
	at := r.Header.indexLengthOffset()
	for i, v := range []int64{int64(n), ticks, int64(len(kept))} {
		binary.BigEndian.PutUint32(head[at+4*int64(i):], uint32(v))
	}
	binary.BigEndian.PutUint16(head[r.Header.dictionaryOffset():], 0)
	return head
}

// compactedSize returns the size of the recording as one file with the stored frames copied.
func (r *Reader) compactedSize() (int64, error) {
	if !r.whole {
		return 0, formats.Errorf(formatName, r.Header.IndexOffset(), errTruncated, "the index is not whole")
	}
	n := r.Header.IndexEnd()
	for i := range r.Chunks() {
		if !r.hasStored(i) {
			return 0, fmt.Errorf("chunk %d: %w", i, r.flaw(i))
		}
		n += r.Entry(i).Stored
	}
	return n, nil
}

// compactedPreamble returns the preamble of the recording as one file. Its offsets are absolute:
// the frames follow it in the order of the index.
func (r *Reader) compactedPreamble(ctx context.Context) ([]byte, error) {
	offset := r.Header.IndexEnd()
	preamble := slices.Concat(r.header, r.metadata, r.index)
	if int64(len(preamble)) < offset { // the metadata is longer than the limit
		preamble = make([]byte, offset)
		if err := readFull(ctx, r.file, preamble, 0); err != nil {
			return nil, err
		}
	}
	for i := range r.Chunks() {
		e := r.Entry(i)
		binary.BigEndian.PutUint64(preamble[e.rawAt:], uint64(offset))
		offset += e.Stored
	}
	return preamble, nil
}
