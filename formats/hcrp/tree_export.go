package hcrp

import (
	"context"

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
