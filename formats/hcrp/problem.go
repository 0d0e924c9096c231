package hcrp

import (
	"errors"
	"fmt"
	"io"

	"recfs/formats"
)

// The codes of problems (docs/formats/hcrp.md section 16).
const (
	codeHeaderMagic       = "header.magic" // not of docs/formats/hcrp.md
	codeHeaderTruncated   = "header.truncated"
	codeHeaderVersion     = "header.version"
	codeHeaderField       = "header.field"
	codeMetadataTruncated = "metadata.truncated"
	codeMetadata          = "metadata.nbt"
	codeIndexTruncated    = "index.truncated"
	codeIndexCount        = "index.count"
	codeIndexEntry        = "index.entry"
	codeIndexOrder        = "index.order"
	codeIndexTicks        = "index.ticks"
	codeTicksTotal        = "ticks.total"
	codeOutOfFile         = "chunk.out_of_file"
	codeOverlap           = "chunk.overlap"
	codeZstd              = "chunk.zstd"
	codeLength            = "chunk.length"
	codeSnapshot          = "chunk.snapshot"
	codeRecords           = "chunk.records"
	codeEvent             = "chunk.event"
	codeDictionary        = "dictionary.missing"
	codeSegmentMissing    = "segment.missing"
	codeSegmentTruncated  = "segment.truncated"
	codeUnreferenced      = "segment.unreferenced"
	codeTrailing          = "segment.trailing"
	codeSchema            = "schema"
)

var (
	errTruncated   = io.ErrUnexpectedEOF
	errUnsupported = errors.ErrUnsupported
	errUnknownTick = formats.Reasonf(formats.ErrCorrupt, "what happened then, or before, is unknown")
)

// newDamage returns an error that index.json lists: bytes of a chunk cannot be had, and why.
func newDamage(code string, chunk int, p place, msg string, args ...any) *formats.Error {
	e := formats.Corrupt(formatName, p.offset, msg, args...)
	e.Code, e.Chunk, e.Segment = code, &chunk, p.segmentOrNil()
	return e
}

// stopped returns the error of what is missing because decoding a chunk stopped for p.
func stopped(p *formats.Problem) error {
	return &formats.Error{
		Format: formatName, Code: p.Code, Chunk: p.Chunk, Offset: p.Offset,
		Err: formats.Reasonf(formats.ErrCorrupt, "%s", p.Message),
	}
}

// reasonOf returns what an error of a Cursor says, without its offset.
func reasonOf(err error) string {
	if e, ok := err.(*formats.Error); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// A problemList collects problems in the order in which they are met.
type problemList []formats.Problem

// maxProblems bounds what one kind of check lists; an index of nonsense could give millions.
const maxProblems = 1 << 16

func (l *problemList) append(p formats.Problem) {
	switch n := len(*l); {
	case n < maxProblems:
		*l = append(*l, p)
	case n == maxProblems:
		p.Message += " (more like this are not listed)"
		*l = append(*l, p)
	}
}

func (l *problemList) add(code string, offset int64, msg string, args ...any) {
	l.append(formats.Problem{Code: code, Offset: offset, Message: fmt.Sprintf(msg, args...)})
}

// addChunk adds a problem of a chunk. In a segment, offset counts there.
func (l *problemList) addChunk(code string, chunk int, p place, msg string, args ...any) {
	if len(*l) <= maxProblems {
		l.append(newDamage(code, chunk, p, msg, args...).Problem())
	}
}
