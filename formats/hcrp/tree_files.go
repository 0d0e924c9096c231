package hcrp

import (
	"context"
	iofs "io/fs"
	"slices"
	"strconv"

	"recfs/formats"
	"recfs/nodes"
)

// headerDocument is header.json.
type headerDocument struct {
	formats.HeaderHead
	Form     string             `json:"form"`
	Finished *bool              `json:"finished,omitempty"`
	Source   formats.SourceInfo `json:"source"`
	Header   headerJSON         `json:"header"`
	Problems []formats.Problem  `json:"problems"`
}

func (rec *recording) headerDocument(context.Context) (any, error) {
	r := rec.Reader
	doc := headerDocument{
		HeaderHead: formats.HeaderHead{
			Format: formatName, FormatVersion: strconv.Itoa(r.Header.Version), Layout: string(r.Header.Layout),
		},
		Form: "compacted", Source: rec.Info(), Header: r.Header.json(), Problems: append([]formats.Problem{}, r.Problems...),
	}
	if r.segmented {
		doc.Form, doc.Finished = "segmented", &r.Finished
	}
	return doc, nil
}

// rawDir shows all regular files of a directory.
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
				File: nodes.Section(formats.FileReader(fsys, e.Name()), 0, info.Size()),
			})
		}
	}
	return nodes.List(entries...)
}

func (rec *recording) bodyFile(i int) nodes.File {
	size := rec.Reader.Entry(i).Size
	if flaw := rec.Reader.flaw(i); flaw != nil {
		return nodes.Failing(flaw)
	}
	return nodes.Sized(size, func(ctx context.Context) ([]byte, error) { return rec.bodies.Get(ctx, i) })
}

func (rec *recording) storedFile(i int) nodes.File {
	r := rec.Reader
	if !r.hasStored(i) {
		return nodes.Failing(r.flaw(i))
	}
	p := r.place(i)
	return nodes.Section(r.at(p), p.offset, r.Entry(i).Stored)
}

func (rec *recording) hexFile(i int) nodes.File {
	if flaw := rec.Reader.flaw(i); flaw != nil {
		return nodes.Failing(flaw)
	}
	return nodes.Stream(hexSize(rec.Reader.Entry(i).Size), func(ctx context.Context) (nodes.Content, error) {
		body, err := rec.bodies.Get(ctx, i)
		if err != nil {
			return nil, err
		}
		parts := slices.Collect(slices.Chunk(body, hexPart))
		f := nodes.NewPieces(func(_ context.Context, i int) ([]byte, error) { return hexLines(parts[i], i*hexPart), nil })
		for _, part := range parts {
			f.Add(hexSize(int64(len(part))))
		}
		return f, nil
	})
}

func (rec *recording) metadataFile() nodes.File {
	r := rec.Reader
	if !r.hasEntries {
		return nodes.Failing(formats.Errorf(formatName, r.size, errTruncated, "the metadata is cut"))
	}
	if b, err := r.Metadata(); err == nil {
		return nodes.Bytes(b)
	}
	return nodes.Section(r.file, headerSize, r.Header.MetadataLength)
}
