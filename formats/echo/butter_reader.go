package echo

import (
	"context"

	"recfs/formats"
)

// A butterReader decodes one butter file. It is safe for concurrent use.
type butterReader struct {
	*butterHead
	r formats.ReaderAt
}

// A butterHead is what is known of a file once it is open.
type butterHead struct {
	Header   *Header
	Layout   *layout
	size     int64 // of the file
	maxChunk int64 // bytes of a chunk that are read, and that it decompresses to
}

// Options change what is made of a recording. The zero value works.
type Options struct {
	MaxChunk int64 // greatest size of a decompressed chunk; 0: 256 MiB
}

const defaultMaxChunk = 256 << 20

func (o Options) maxChunk() int64 {
	if o.MaxChunk == 0 {
		return defaultMaxChunk
	}
	return o.MaxChunk
}

// newButterReader reads header and chunk table. If the version byte does not tell the layout of
// frames, it looks into the first chunks. At most maxChunk bytes of a chunk are decoded; 0 means
// 256 MiB.
func newButterReader(ctx context.Context, r formats.ReaderAt, size, maxChunk int64) (*butterReader, error) {
	h, err := readHeader(ctx, r, size)
	if err != nil {
		return nil, err
	}
	d := &butterReader{&butterHead{Header: h, size: size, maxChunk: Options{maxChunk}.maxChunk()}, r}
	return d, d.chooseLayout(ctx)
}

// probed is how many chunks are tried for the layout, at most.
const probed = 8

// chooseLayout finds the layout by trying (docs/formats/butter.md section 11): the first under
// which a chunk makes sense in every respect, or else the one that got furthest.
//
// A wrong layout gets out of step in the key frame, but may get back into step there, most easily
// in the string of the rules block. So of the layouts that pass, one is preferred that places
// everything near the map.
func (r *butterReader) chooseLayout(ctx context.Context) error {
	candidates := layoutsOf(r.Header.Version)
	r.Layout = candidates[0]
	if len(candidates) == 1 || r.Header.Compression > zstdLast {
		return nil
	}
	furthest := int64(0)
	for n := range min(len(r.Header.Chunks), probed) {
		t, damaged, err := r.chunkText(ctx, n)
		if err != nil {
			return err
		}
		var sound *layout
		for _, l := range candidates {
			c, err := decodeChunk(ctx, l, r.Header.kind(), r.Header, t, carry{}, 0, r.Header.Interval)
			if err != nil {
				return err
			}
			c.held.Free()
			if damaged == nil && c.whole(r.Header.Interval, n == len(r.Header.Chunks)-1) && !c.badRef {
				if c.near() {
					r.Layout = l
					return nil
				}
				if sound == nil {
					sound = l
				}
			}
			if c.parsed > furthest {
				furthest, r.Layout = c.parsed, l
			}
		}
		t.free()
		if sound != nil {
			r.Layout = sound
			return nil
		}
	}
	return nil
}

// tick returns the number of the first frame of chunk n.
func (r *butterReader) tick(n int) int64 { return int64(n) * int64(r.Header.Interval) }

// Match returns what is the same in all frames.
func (h *butterHead) Match() *Match {
	stored := h.Header
	client, _ := display(stored.ClientName)
	return &Match{
		SessionID: new(stored.Session()), SessionIP: new(stored.IP()), MatchType: new(stored.MatchType()), MapName: new(stored.MapName()),
		ClientName: &client, Private: &stored.Private,
		TotalRounds: new(int64(stored.TotalRounds)), BlueRounds: new(int64(stored.BlueScore)), OrangeRounds: new(int64(stored.OrangeScore)),
		Emotes: h.Layout.emotes,
	}
}

// problems returns the problems that header and file size show.
func (h *butterHead) problems() []formats.Problem {
	var list []formats.Problem
	if h.Header.Compression > zstdLast {
		list = append(list, formats.Problem{Code: codeCompression, Offset: 3, Message: "no chunk can be read"})
	}
	switch {
	case h.size < h.Header.End:
		list = append(list, formats.Problem{
			Code: codeTruncated, Chunk: h.firstCut(), Offset: h.size, Message: "the file ends before its last chunk does",
		})
	case h.size > h.Header.End:
		list = append(list, formats.Problem{Code: codeTrailing, Offset: h.Header.End, Message: "bytes behind the last chunk"})
	}
	return list
}

// firstCut returns the first chunk that the file does not have to its end, or nil.
func (h *butterHead) firstCut() *int {
	for i, e := range h.Header.Chunks {
		if e.End() > h.size {
			return &i
		}
	}
	return nil
}

// end says how the file ends.
func (h *butterHead) end() string {
	switch {
	case h.size < h.Header.End:
		return EndTruncated
	case h.size > h.Header.End:
		return EndTrailing
	}
	return EndClean
}
