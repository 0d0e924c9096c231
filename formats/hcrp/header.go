package hcrp

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/google/uuid"

	"recfs/formats"
	"recfs/formats/internal/wire"
)

const (
	formatName = "hcrp"
	magic      = "HCRP"
	extension  = ".hcrp"
	headerSize = 256
)

// A Layout is how header and event stream are laid out.
type Layout string

// The two layouts (doc.go).
const (
	Published Layout = "published"
	Design    Layout = "design"
)

// A Header is the first 256 bytes of a recording, field by field.
type Header struct {
	Layout         Layout
	Version        int
	Flags          uint16
	WorldID        uuid.UUID
	WorldVersion   []byte
	Timestamp      int64 // Unix milliseconds
	Dictionary     uint16
	MetadataLength int64
	IndexLength    int64
	TickCount      int64
	ChunkCount     int64
	DataVersion    int32 // published layout only
}

// headerJSON is the object "header" of header.json.
type headerJSON struct {
	Magic          string  `json:"magic"`
	Version        int     `json:"version"`
	Flags          uint16  `json:"flags"`
	WorldID        string  `json:"world_id"`
	WorldVersion   string  `json:"world_version"`
	Timestamp      *string `json:"timestamp"`
	TimestampMS    any     `json:"timestamp_ms"`
	Dictionary     uint16  `json:"dictionary"`
	MetadataLength int64   `json:"metadata_length"`
	IndexLength    int64   `json:"index_length"`
	TickCount      int64   `json:"tick_count"`
	ChunkCount     int64   `json:"chunk_count"`
	DataVersion    *int32  `json:"data_version,omitempty"`
}

func (h *Header) json() headerJSON {
	j := headerJSON{
		Magic: magic, Version: h.Version, Flags: h.Flags,
		WorldID: h.WorldID.String(), WorldVersion: hex.EncodeToString(h.WorldVersion),
		Timestamp: h.timestamp(), TimestampMS: jsonInt(h.Timestamp), Dictionary: h.Dictionary,
		MetadataLength: h.MetadataLength, IndexLength: h.IndexLength,
		TickCount: h.TickCount, ChunkCount: h.ChunkCount,
	}
	if h.Layout == Published {
		j.DataVersion = &h.DataVersion
	}
	return j
}

// timestamp returns the moment recording began in words, or nil outside the years that RFC 3339 can
// write.
func (h *Header) timestamp() *string {
	t := time.UnixMilli(h.Timestamp).UTC()
	if !formats.HasDate(t) {
		return nil
	}
	return new(t.Format("2006-01-02T15:04:05.000Z"))
}

// jsonInt returns n as encoding/json is to write it: beyond 2^53 as a string.
func jsonInt(n int64) any {
	const exact = 1 << 53
	if n > exact || n < -exact {
		return strconv.FormatInt(n, 10)
	}
	return n
}

// dictionaryOffset returns where the header names its dictionary.
func (h *Header) dictionaryOffset() int64 {
	if h.Layout == Design {
		return 47
	}
	return int64(33 + len(h.WorldVersion))
}

// indexLengthOffset returns where the header has its index length, before tick and chunk count.
func (h *Header) indexLengthOffset() int64 { return h.dictionaryOffset() + 6 }

// IndexOffset returns where the index begins.
func (h *Header) IndexOffset() int64 { return headerSize + h.MetadataLength }

// IndexEnd returns the offset after the index.
func (h *Header) IndexEnd() int64 { return h.IndexOffset() + h.IndexLength }

// headerError says why a recording does not open. The code is one of docs/formats/hcrp.md section
// 16, or header.magic.
func headerError(code string, offset int64, kind error, msg string, args ...any) *formats.Error {
	e := formats.Errorf(formatName, offset, kind, msg, args...)
	e.Code = code
	return e
}

// parseHeader parses the header at the start of b. The error has a code.
func parseHeader(b []byte) (*Header, error) {
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return nil, headerError(codeHeaderMagic, 0, formats.ErrCorrupt, "the file does not begin with %q", magic)
	}
	if len(b) < headerSize {
		return nil, headerError(codeHeaderTruncated, int64(len(b)), errTruncated, "the header is %d bytes long, the file %d", headerSize, len(b))
	}
	c := wire.NewCursor(formatName, b[:headerSize], 0)
	c.Skip(len(magic))
	h, supported, n := &Header{Layout: Design}, false, int8(16) // bytes of the world version
	if b[4] != 0 {
		h.Version = int(c.U8())
		supported = h.Version == 1
	} else {
		h.Layout, h.Version = Published, int(c.U16BE())
		supported = h.Version == 3 || h.Version == 4
	}
	if !supported {
		return nil, headerError(codeHeaderVersion, 4, errUnsupported, "version %d of the %s layout is not supported", h.Version, h.Layout)
	}
	h.Flags = c.U16BE()
	copy(h.WorldID[:], c.Bytes(16))
	if h.Layout == Published {
		n = int8(c.U8())
	}
	if n < 0 || n > 32 {
		return nil, headerError(codeHeaderField, 24, formats.ErrCorrupt, "the world version is %d bytes long, 32 are the most", n)
	}
	h.WorldVersion = c.Bytes(int(n))
	h.Timestamp = int64(c.U64BE())
	h.Dictionary = c.U16BE()
	if err := h.counts(c); err != nil {
		return nil, err
	}
	if h.Layout == Published {
		h.DataVersion = int32(c.U32BE())
	}
	return h, c.Err()
}

// counts reads the four counts that both layouts have.
func (h *Header) counts(c *wire.Cursor) error {
	for _, f := range []struct {
		name string
		to   *int64
	}{
		{"metadata length", &h.MetadataLength},
		{"index length", &h.IndexLength},
		{"tick count", &h.TickCount},
		{"chunk count", &h.ChunkCount},
	} {
		at := c.Offset()
		*f.to = int64(int32(c.U32BE()))
		if *f.to < 0 {
			return headerError(codeHeaderField, at, formats.ErrCorrupt, "the %s is %d", f.name, *f.to)
		}
	}
	return nil
}
