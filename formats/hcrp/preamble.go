package hcrp

import (
	"bytes"
	"context"

	"recfs/formats"
	"recfs/formats/internal/indexfile"
)

// A preamble is what is stored before the chunks, as far as it exists and the limits allow.
type preamble struct {
	size     int64  // of the file that it is in
	header   []byte // the first 256 bytes
	metadata []byte
	index    []byte
}

// firstRead is what opening reads at once: it covers header, metadata and index of nearly every
// recording.
const firstRead = 256 << 10

// preambleCopies is how many times the memory of metadata and index opening a recording takes: once
// as they are stored, and about twice that for the entries of the index.
const preambleCopies = 3

// smallCharge is how many bytes opening a recording takes without charging them.
const smallCharge = 512 << 10

// chargeLarge charges n bytes, if they are many, to the request that opens a recording.
func chargeLarge(ctx context.Context, n int64) (*formats.Held, error) {
	if n <= smallCharge {
		return nil, nil
	}
	return formats.Charge(ctx, n)
}

// textPerByte is the most text that a byte of NBT can give, in an empty compound of a list, and
// half as much again for a buffer that grows.
const textPerByte = 31 + 16

// chargeText charges what typed JSON of the metadata takes.
func (t *Tables) chargeText(ctx context.Context) (*formats.Held, error) {
	return chargeLarge(ctx, min(textPerByte*int64(len(t.metadata)), 2*int64(t.limits.Text)))
}

// readPreamble reads the preamble of a file of size bytes. If the recording is at fault, the error
// has a code.
func readPreamble(ctx context.Context, r formats.ReaderAt, size int64, limits Limits) (preamble, error) {
	p := preamble{size: size}
	head := make([]byte, min(size, firstRead))
	if err := readFull(ctx, r, head, 0); err != nil {
		return p, err
	}
	p.header = bytes.Clone(head[:min(len(head), headerSize)])
	h, err := parseHeader(p.header)
	if err != nil {
		return p, err
	}
	metadata, index := h.stored(size, limits)
	if _, err := chargeLarge(ctx, preambleCopies*(metadata+index)); err != nil {
		return p, err
	}
	part := func(off, n int64) []byte {
		if err != nil || n == 0 {
			return nil
		}
		if off+n <= int64(len(head)) {
			return bytes.Clone(head[off : off+n])
		}
		b := make([]byte, n)
		err = readFull(ctx, r, b, off)
		return b
	}
	p.metadata = part(headerSize, metadata)
	p.index = part(h.IndexOffset(), index)
	return p, err
}

// stored returns how many bytes of metadata and index there are in a file of size bytes that the
// limits allow to read.
func (h *Header) stored(size int64, limits Limits) (metadata, index int64) {
	if h.IndexOffset() > size {
		return 0, 0
	}
	if metadata = h.MetadataLength; metadata > limits.Metadata {
		metadata = 0
	}
	return metadata, min(h.IndexLength, size-h.IndexOffset(), limits.Index)
}

// code writes or reads the preamble.
//
//	| size | header blob | metadata blob | index blob |
func (p *preamble) code(c indexfile.Codec) { c.Values(&p.size, &p.header, &p.metadata, &p.index) }

// check refuses a saved preamble that is not what readPreamble would read.
func (p *preamble) check(limits Limits) error {
	h, err := parseHeader(p.header)
	if err != nil {
		return err
	}
	metadata, index := h.stored(p.size, limits)
	if metadata != int64(len(p.metadata)) || index != int64(len(p.index)) {
		return formats.ErrOther
	}
	return nil
}
