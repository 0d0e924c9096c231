package hcrp

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"recfs/formats"
	"recfs/nodes"
)

// exportEntry returns the directory with files made of the whole recording.
func (rec *recording) exportEntry() nodes.Entry {
	var entries []nodes.Entry
	if rec.schema != nil {
		entries = append(entries, nodes.Entry{Name: "ghost.csv", Grows: rec.Grows, File: rec.Text("ghost.csv", 0, rec.ghostText)})
	}
	if rec.Tables.Dir && rec.hasEntries {
		entries = append(entries, nodes.Entry{Name: "compacted.hcrp", File: rec.compactedFile()})
	}
	if len(entries) == 0 {
		return nodes.Entry{}
	}
	return nodes.Entry{Name: "export", Dir: nodes.List(entries...)}
}

func (rec *recording) compactedFile() nodes.File {
	size, err := rec.Reader.compactedSize()
	if err != nil {
		return nodes.Failing(err)
	}
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) { return rec.Reader.compacted(ctx) })
}

// compacted returns the recording as one file, whose frames are read where they lie.
func (r *Reader) compacted(ctx context.Context) (nodes.Content, error) {
	preamble, err := r.compactedPreamble(ctx)
	if err != nil {
		return nil, err
	}
	content := nodes.NewSections(func(i int) (nodes.ReaderAt, int64) {
		if i == 0 {
			return nodes.BytesContent(preamble), 0
		}
		p := r.place(i - 1)
		return r.at(p), p.offset
	})
	content.Add(int64(len(preamble)))
	for i := range r.Chunks() {
		content.Add(r.Entry(i).Stored)
	}
	return content, nil
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
