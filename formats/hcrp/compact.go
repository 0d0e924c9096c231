package hcrp

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"recfs/formats"
)

// compact is the Compact of the format (docs/formats/hcrp.md section 11): every chunk that can be
// read is recompressed, in the order of ticks. Damage is no error but is in the report.
func compact(ctx context.Context, rec formats.Recording, w io.Writer, scratch formats.Scratch, opt formats.CompactOptions) (*formats.CompactReport, error) {
	h, ok := rec.Head.(*head)
	if !ok {
		why := rec.Head.(*ruin).why
		if rec.Head.(*ruin).salvage != nil {
			return nil, fmt.Errorf("%w; what its segments hold is in its salvage/", why)
		}
		return nil, why
	}
	r := h.reader(rec.Input)
	metadata, err := r.Metadata()
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(cmp.Or(opt.Level, 19))),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	defer enc.Close()
	report := &formats.CompactReport{Missing: r.missingEntries(), Ticks: r.totalTicks()}
	if r.Header.Layout == Published {
		report.Ticks = max(report.Ticks, r.Header.TickCount)
	}
	kept, err := r.recompress(ctx, enc, scratch, opt.Progress, report)
	if err != nil {
		return nil, err
	}
	unnamed, err := r.salvage().find(ctx, maxSalvaged)
	if err != nil {
		return nil, err
	}
	head := r.compactedHead(metadata, kept)
	var stored int64
	report.Lost = report.Ticks
	for i := range kept {
		stored += kept[i].Stored
		report.Lost -= kept[i].Ticks
	}
	report.Chunks, report.Size, report.Unnamed = len(kept), int64(len(head))+stored, len(unnamed)
	if _, err := w.Write(head); err != nil {
		return nil, err
	}
	_, err = io.Copy(w, io.NewSectionReader(scratch, 0, stored))
	return report, err
}

// missingEntries returns the problems that say that chunks are not known of.
func (r *Reader) missingEntries() (list []formats.Problem) {
	for _, p := range r.Problems[:len(r.Problems)-r.chunkProblems] {
		if p.Code == codeIndexTruncated || p.Code == codeIndexCount || p.Code == codeIndexEntry && p.Chunk == nil {
			list = append(list, p)
		}
	}
	return list
}

// recompress writes the frames of all readable chunks to scratch and returns their entries, whose
// offsets count from there.
func (r *Reader) recompress(ctx context.Context, enc *zstd.Encoder, scratch io.Writer, progress func(done, all int64), report *formats.CompactReport) ([]Entry, error) {
	var kept []Entry
	var frame []byte
	var offset, done int64
	for i := range r.Chunks() {
		if e := r.Entry(i); e.Start < 0 || e.Ticks <= 0 {
			report.Missing = append(report.Missing, r.flaw(i).Problem())
		}
	}
	for _, n := range r.byTick {
		i := int(n)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := r.Body(ctx, i)
		if bad, damaged := formats.Coded(err); damaged {
			report.Missing = append(report.Missing, bad.Problem())
			continue
		}
		if err != nil {
			return nil, err
		}
		frame = enc.EncodeAll(body, frame[:0])
		if _, err := scratch.Write(frame); err != nil {
			return nil, err
		}
		e := r.Entry(i)
		e.Raw, e.Stored = offset, int64(len(frame))
		kept = append(kept, e)
		offset += e.Stored
		if done += e.Size; progress != nil {
			progress(done, r.bodyBytes())
		}
	}
	return kept, nil
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
			return 0, fmt.Errorf("chunk %d: %w", i, r.missing(i))
		}
		n += r.Entry(i).Stored
	}
	return n, nil
}

// compactedPreamble returns what is before the frames in the recording as one file: the preamble
// with absolute offsets, the frames in the order of the index after it.
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
