package hcrp

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/columnar"
	"recfs/formats/internal/wire"
	"recfs/formats/views"
	"recfs/nodes"
)

// New returns the format.
func New(opt Options) formats.Format {
	opt.zstd = wire.NewZstd(opt.Limits.withDefaults().Window)
	return formats.Format{
		Name:       formatName,
		Called:     "minecraft",
		Extensions: []string{extension},
		Match:      match,
		Segments:   &formats.Segments{File: preambleName, Match: matchDir},
		Compact:    compact,
		Variant:    opt.variant(),
		Open:       opt.open,
		ReadHead:   opt.readHead,
		Scan:       scan,
		Prefixes:   true,
		Single:     []columnar.Table{{Name: markersTable, Columns: markersColumns}},
		ReadIndex:  readIndex,
		Beside:     &formats.Beside{Sum: beside, Files: besideFiles, Elsewhere: opt.DictDirs},
		Tree:       newTree,
		Summary:    summary,
	}
}

// matchDir reports whether a directory with a preamble is a recording: without the magic it may be
// one that a crash has left, if it has segments.
func matchDir(preamble []byte, names iter.Seq[string]) bool {
	if match(preamble) {
		return true
	}
	for name := range names {
		if _, ok := parseSegmentName(name); ok {
			return true
		}
	}
	return false
}

func match(head []byte) bool {
	return len(head) >= len(magic) && string(head[:len(magic)]) == magic
}

// newTree declares the views of a recording.
func newTree(src formats.Recording, c *cache.Cache) (nodes.Dir, func() []columnar.Maker) {
	if l, ok := src.Head.(*ruin); ok {
		return l.dir(src.Input, c), nil
	}
	rec := newRecording(src, c)
	game := views.Game[index]{
		Header:   rec.headerDocument,
		Index:    rec.Text("index.json", 0, rec.indexText),
		Metadata: rec.metadataFile(),
		Files: []nodes.Entry{
			{Name: "metadata.json", File: nodes.Func(func(ctx context.Context) ([]byte, error) { return rec.typed.Get(ctx, struct{}{}) })},
			{Name: "chunks", Dir: rec.numbered("", rec.bodyFile)},
			{Name: "stored", Dir: rec.numbered(".zst", rec.storedFile)},
			rec.snapshotsEntry(),
			rec.exportEntry(),
		},
	}
	if rec.Tables.Dir {
		game.Raw = rawDir(src.Files)
	}
	if rec.schema == nil {
		game.Files = append(game.Files, nodes.Entry{Name: "ticks.hex", Dir: rec.numbered(".txt", rec.hexFile)})
	} else {
		game.Ticks, game.States, game.Tables, game.Play = rec.ticks(), rec.states(), rec.tables, rec.playing()
		game.Files = append(game.Files,
			nodes.Entry{Name: "lines", Dir: rec.numbered(".jsonl", rec.chunkFile(func(c *chunk) ([]byte, error) { return c.Lines(), nil }))},
			nodes.Entry{Name: "tracks", Dir: rec.Listing("tracks", rec.trackList)},
			nodes.Entry{Name: "markers.json", File: rec.Text("markers.json", 0, rec.markersText)},
		)
	}
	if src.Head.(*head).salvaging {
		game.Files = append(game.Files, salvageEntry(rec.salvage(), c))
	}
	return rec.Tree.Dir(game)
}

// dir returns that of a recording whose preamble does not open: what lies in it, why, and, if the
// preamble is lost, what its segments hold.
func (l *ruin) dir(in formats.Input, c *cache.Cache) nodes.Dir {
	why := formats.ErrorProblem(l.why)
	entries := []nodes.Entry{
		{Name: "raw", Dir: rawDir(in.Files)},
		{Name: "error.txt", File: nodes.Bytes(why.ErrorText(formatName))},
	}
	if l.salvage != nil {
		entries = append(entries, salvageEntry(l.salvage, c))
	}
	return nodes.List(in.Timed(entries)...)
}

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

// rawDir shows all files of a directory.
func rawDir(files formats.Files) nodes.Dir {
	var entries []nodes.Entry
	for _, f := range files {
		entries = append(entries, nodes.Entry{Name: f.Name, File: f.Node()})
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

// The hex view prints 16 bytes a line, as hexdump -Cv does but without its last line.
const (
	hexRow   = 16
	hexExtra = 63      // bytes of a line besides its text
	hexPart  = 1 << 12 // bytes whose lines are made at once
)

// hexSize returns the size of the hex view of n bytes.
func hexSize(n int64) int64 { return (n+hexRow-1)/hexRow*hexExtra + n }

// hexLines returns the hex view of a part of a body, which begins at an offset.
func hexLines(part []byte, offset int) []byte {
	text := []byte(hex.Dump(part))
	for at := 0; at < len(text); at += hexExtra + hexRow {
		copy(text[at:], fmt.Sprintf("%08x", offset))
		offset += hexRow
	}
	return text
}
