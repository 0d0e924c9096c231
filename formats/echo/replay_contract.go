package echo

import (
	"context"
	"math"
	"slices"

	"github.com/klauspost/compress/zip"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

var _ formats.Head = (*replayHead)(nil)

// openReplay is the Open of the format.
func openReplay(ctx context.Context, in formats.Input) (formats.Head, error) {
	r, err := newReplayReader(ctx, in, in.Size)
	if err != nil {
		return nil, err
	}
	return r.replayHead, nil
}

// Append appends the head as it is kept on disk.
//
//	| layout text | entry text | method | offset | length | sum present bool | [sum] | cut bool | size |
//	| kind | session blob |
func (c *replayHead) Append(b []byte) []byte { return indexfile.Append(b, c.code) }

func (c *replayHead) code(x indexfile.Codec) {
	x.Values(&c.layout, &c.entry)
	indexfile.Uint(x, &c.method, math.MaxUint16)
	x.Values(&c.offset, &c.length)
	x.Whole(&c.sum)
	x.Values(&c.cut, &c.size)
	indexfile.Uint(x, &c.kind, math.MaxUint8)
	x.Blob(&c.session)
}

// readReplayHead reads what Append of a head wrote.
func readReplayHead(_ context.Context, _ formats.Input, saved []byte) (formats.Head, error) {
	h := &replayHead{}
	if err := indexfile.Read(replayName, saved, h.code); err != nil {
		return nil, err
	}
	if !h.sound() {
		return nil, formats.ErrOther
	}
	return h, nil
}

// sound reports whether a saved head can be of a file.
func (c *replayHead) sound() bool {
	return (c.layout == layoutText || c.layout == layoutZip) && (c.method == zip.Store || c.method == zip.Deflate) &&
		c.offset <= c.size && c.length <= c.size-c.offset && (len(c.session) == 0 || isObject(c.session))
}

// Memory is about what the head keeps alive.
func (c *replayHead) Memory() int64 { return int64(len(c.session) + len(c.entry) + 512) }

// scanReplay is the Scan of the format.
func scanReplay(ctx context.Context, in formats.Input, h formats.Head, earlier formats.Index) (formats.Index, error) {
	return newContainer(h.(*replayHead), in.ReaderAt).Scan(ctx, in.Size, earlier)
}

// readReplayIndex reads what Append of an index wrote.
func readReplayIndex(_ formats.Input, h formats.Head, saved []byte) (formats.Index, error) {
	return ReadIndex(replayName, true, saved, h.(*replayHead).size, UnknownChunks, func(info *ChunkInfo) bool {
		return soundParts(info) && info.Size == info.Stored
	})
}

// maxParts is how many parts a chunk has at most: all but the last two have partText bytes, and all
// of these lie within chunkText.
const maxParts = chunkText/partText + 2

// soundParts reports whether a chunk has no more parts, frames and bytes in a part than a pass
// makes.
func soundParts(info *ChunkInfo) bool {
	return info.Ticks <= chunkFrames && len(info.Parts) <= maxParts && !slices.ContainsFunc(info.Parts, func(p Part) bool { return p.Stored > partText+maxLine })
}

// replaySummary is the Summary of the format.
func replaySummary(_ context.Context, rec formats.Recording, x formats.Index) (formats.Summary, error) {
	h := rec.Head.(*replayHead)
	s := h.Match().summary(replayName, x)
	s.Version, s.Layout, s.HeaderProblems = formatVersion, h.layout, slices.Values(h.problems())
	if x != nil {
		s.AddPlayers(x.(*Index).players())
	}
	return s, nil
}

// headerDocument returns the value of header.json. The match is described by the first frame.
func (r *replayHead) headerDocument(source formats.SourceInfo) any {
	d := r.Match().header()
	d.Compression, d.ChunkFrames = "stored", chunkFrames
	if r.method != 0 {
		d.Compression = "deflate"
	}
	d.Entry, d.EntryHex = display(r.entry)
	return formats.HeaderDocument[*headerFields]{
		HeaderHead: formats.HeaderHead{Format: replayName, FormatVersion: formatVersion, Layout: r.layout},
		Source:     source, Header: d, Problems: r.problems(),
	}
}

// formatVersion is the same for all files, as none is stored.
const formatVersion = "1"

// problems returns the problems that opening the file shows.
func (r *replayHead) problems() []formats.Problem {
	list := []formats.Problem{}
	if r.cut {
		list = append(list, formats.Problem{Code: "truncated", Offset: 0, Message: "the zip archive has no directory"})
	}
	return list
}
