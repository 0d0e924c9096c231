package hcrp

import (
	"context"
	iofs "io/fs"

	"recfs/formats"
	"recfs/nodes"
)

// rawEntry shows the original file or files.
func (rec *recording) rawEntry() nodes.Entry {
	if rec.reader.Dir {
		return nodes.Entry{Name: "raw", Dir: rawDir(rec.src.FS)}
	}
	return nodes.Entry{Name: "raw", File: rec.src.RawFile()}
}

// rawDir shows every regular file of a directory.
func rawDir(fsys iofs.FS) nodes.Dir {
	list, err := iofs.ReadDir(fsys, ".")
	if err != nil {
		return nodes.Lazy(func(context.Context) (nodes.Dir, error) { return nil, err })
	}
	var entries []nodes.Entry
	for _, e := range list {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			entries = append(entries, nodes.Entry{
				Name: e.Name(),
				File: nodes.Section(&siblingFile{fsys, e.Name()}, 0, info.Size()),
			})
		}
	}
	return nodes.List(entries...)
}

// numbered returns a directory with an entry for each chunk.
func (rec *recording) numbered(suffix string, file func(i int) nodes.File) nodes.Dir {
	return &nodes.Series{
		Width: 6, Suffix: suffix, N: rec.reader.Chunks(),
		File: func(n int64) nodes.File { return file(int(n)) },
	}
}

func (rec *recording) bodyFile(i int) nodes.File {
	size := rec.reader.Entry(i).Size
	if flaw := rec.reader.flaw(i); flaw != nil {
		return nodes.Failing(flaw)
	}
	return nodes.Sized(size, func(ctx context.Context) ([]byte, error) { return rec.bodies.Get(ctx, i) })
}

func (rec *recording) storedFile(i int) nodes.File {
	r := rec.reader
	if !r.hasStored(i) {
		return nodes.Failing(r.missing(i))
	}
	p := r.place(i)
	return nodes.Section(r.at(p), p.offset, r.Entry(i).Stored)
}

func (rec *recording) hexFile(i int) nodes.File {
	if flaw := rec.reader.flaw(i); flaw != nil {
		return nodes.Failing(flaw)
	}
	return nodes.Stream(hexSize(rec.reader.Entry(i).Size), func(ctx context.Context) (nodes.Content, error) {
		body, err := rec.bodies.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		return nodes.SectionContent(hexView(body), 0, hexSize(int64(len(body)))), nil
	})
}

func (rec *recording) metadataFile() nodes.File {
	r := rec.reader
	if !r.hasEntries {
		return nodes.Failing(formats.Errorf(formatName, r.size, errTruncated, "the metadata is cut"))
	}
	return nodes.Section(r.file, headerSize, r.Header.MetadataLength)
}

// Documents that are remembered, as they may cost much.
const (
	metadataName = "metadata.json"
	markersName  = "markers.json"
)

func (rec *recording) textFile(name string) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.texts.Get(ctx, name) })
}

func (rec *recording) loadText(ctx context.Context, name string) (b []byte, n int64, err error) {
	switch name {
	case metadataName:
		if b, err = rec.reader.TypedMetadata(ctx); err == nil {
			b = document(b)
		}
	case markersName:
		b, err = rec.markersText(ctx)
	}
	return b, int64(cap(b)), err
}

// document lays out compact JSON as a file.
func document(b []byte) []byte {
	return append(nodes.AppendIndented(make([]byte, 0, len(b)*5/4), b), '\n')
}

// snapshotsEntry returns the directory with the snapshots; no entry if there
// is nothing to show.
func (rec *recording) snapshotsEntry() nodes.Entry {
	r := rec.reader
	var flagged []int
	for i := range r.Chunks() {
		if r.Entry(i).Snapshot() {
			flagged = append(flagged, i)
		}
	}
	described := rec.schema != nil && rec.schema.describes(r.Header.Layout)
	if len(flagged) == 0 || !described && r.Header.Layout == Published {
		return nodes.Entry{}
	}
	series := func(suffix string, file func(i int) nodes.File) *nodes.Series {
		return &nodes.Series{
			Width: 6, Suffix: suffix, N: len(flagged),
			Number: func(i int) int64 { return int64(flagged[i]) },
			File:   func(n int64) nodes.File { return file(int(n)) },
		}
	}
	lines := series(".jsonl", rec.snapshotLines)
	section := series(".bin", rec.snapshotSection)
	switch {
	case r.Header.Layout == Published:
		return nodes.Entry{Name: "snapshots", Dir: lines}
	case described:
		return nodes.Entry{Name: "snapshots", Dir: &pairs{section, lines}}
	}
	return nodes.Entry{Name: "snapshots", Dir: section}
}

func (rec *recording) snapshotLines(i int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		c, err := rec.chunks.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		if c.broken {
			return nil, &damage{*c.stop}
		}
		return c.SnapshotLines(rec.reader.Header.Layout), nil
	})
}

func (rec *recording) snapshotSection(i int) nodes.File {
	return nodes.Func(func(ctx context.Context) ([]byte, error) {
		body, err := rec.bodies.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		c := decodeChunk(rec.reader.Header, nil, rec.reader.limits, i, rec.reader.Entry(i), body)
		if c.stop != nil {
			return nil, &damage{*c.stop}
		}
		return body[c.section.start:c.section.end], nil
	})
}

// pairs shows two Series of the same numbers, whose suffixes sort in their
// order, as one directory.
type pairs struct{ a, b *nodes.Series }

// Len implements nodes.Dir.
func (p *pairs) Len(context.Context) (int, error) { return p.a.N + p.b.N, nil }

// At implements nodes.Dir.
func (p *pairs) At(ctx context.Context, i int) (nodes.Entry, error) {
	if i&1 == 1 {
		return p.b.At(ctx, i>>1)
	}
	return p.a.At(ctx, i>>1)
}

// Find implements nodes.Dir.
func (p *pairs) Find(ctx context.Context, name string) (int, error) {
	if i, err := p.a.Find(ctx, name); err == nil {
		return 2 * i, nil
	}
	i, err := p.b.Find(ctx, name)
	return 2*i + 1, err
}

// exportEntry returns the directory with files made of the whole recording.
func (rec *recording) exportEntry() nodes.Entry {
	var entries []nodes.Entry
	if rec.schema != nil {
		entries = append(entries, nodes.Entry{Name: "ghost.csv", File: nodes.Opened(rec.openGhost)})
	}
	if rec.reader.Dir && rec.reader.hasEntries {
		entries = append(entries, nodes.Entry{Name: "compacted.hcrp", File: rec.compactedFile()})
	}
	if len(entries) == 0 {
		return nodes.Entry{}
	}
	return nodes.Entry{Name: "export", Dir: nodes.List(entries...)}
}

// compacted returns the recording as one file, whose frames are read where
// they lie.
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

func (rec *recording) compactedFile() nodes.File {
	size, err := rec.reader.compactedSize()
	if err != nil {
		return nodes.Failing(err)
	}
	return nodes.Stream(size, func(ctx context.Context) (nodes.Content, error) { return rec.reader.compacted(ctx) })
}
