package teehistorian

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// name is the name of the format.
const name = "teehistorian"

// magic begins every file; the header follows, up to a 00.
var magic = [16]byte{0x69, 0x9d, 0xb1, 0x7b, 0x8e, 0xfb, 0x34, 0xff, 0xb1, 0xd8, 0xda, 0x6f, 0x60, 0xc1, 0x5d, 0xd1}

// maxHeader bounds the header. Real ones have up to 6 KiB.
const maxHeader = 256 << 10

const (
	// memberKept is about what a member of an object takes: itself, two short strings, and as much again of
	// its slice that is free.
	memberKept = 256

	// memberParsed is what it takes while it is parsed: also the slices that were too short, and its place in
	// the map of keys.
	memberParsed = 2 * memberKept

	// smallHeader is up to how many bytes opening takes without asking.
	smallHeader = 512 << 10
)

// A header is what stands before the records (docs/formats/teehistorian.md section 3).
type header struct {
	json   []byte // as stored
	object object
	start  int64 // offset of the first record
}

// readHeader reads the header of a recording.
func readHeader(ctx context.Context, r io.ReaderAt) (*header, error) {
	var head [len(magic)]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if head != magic {
		return nil, formats.Corrupt(name, 0, "the file does not begin with the magic of a teehistorian")
	}
	text, err := readText(r, int64(len(magic)))
	if err != nil {
		return nil, err
	}
	h := &header{json: text, start: int64(len(magic) + len(text) + 1)}
	if n := h.cost(memberParsed); n > smallHeader {
		if _, err := formats.Charge(ctx, n); err != nil {
			return nil, err
		}
	}
	if h.object, err = parseObject(text); err != nil {
		return nil, formats.Corrupt(name, int64(len(magic)), "the header is not a JSON object: %v", jsonenc.Explain(err))
	}
	if v := h.text("version"); v != "1" && v != "2" {
		return nil, formats.Errorf(name, int64(len(magic)), errors.ErrUnsupported, "the version in the header is not \"1\" or \"2\"")
	}
	return h, nil
}

// cost is what the header takes at most where a member takes so many bytes: the text, twice as much that was
// made of it, and no more members than colons.
func (h *header) cost(member int) int64 {
	return int64(3*len(h.json) + member*bytes.Count(h.json, []byte{':'}))
}

// readText reads up to the 00 that ends the header.
func readText(r io.ReaderAt, off int64) ([]byte, error) {
	var text []byte
	for step := 8 << 10; len(text) < maxHeader; step *= 2 {
		b := make([]byte, min(step, maxHeader-len(text)))
		n, err := r.ReadAt(b, off+int64(len(text)))
		if i := bytes.IndexByte(b[:n], 0); i >= 0 {
			return append(text, b[:i]...), nil
		}
		text = append(text, b[:n]...)
		if errors.Is(err, io.EOF) {
			return nil, formats.Errorf(name, off, io.ErrUnexpectedEOF, "the header has no end")
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, formats.Corrupt(name, off, "the header has no end within %d bytes", maxHeader)
}

// text returns the string of that key, "" if there is none.
func (h *header) text(key string) string {
	if m := h.object.find(key); m != nil && m.isString {
		return cleanText(m.text)
	}
	return ""
}

// version1 tells whether the records are those of version 1.
func (h *header) version1() bool { return h.text("version") == "1" }

// formatVersion is the version with the minor version, if there is one.
func (h *header) formatVersion() string {
	v := h.text("version")
	switch m := h.object.find("version_minor"); {
	case m == nil || m.isObject || string(m.raw) == "null":
		return v
	case m.isString:
		return v + "." + cleanText(m.text)
	default:
		return v + "." + string(m.raw)
	}
}

// startLayouts are those of start_time: of version 2, with the zone as RFC 3339 has it, and of version 1.
var startLayouts = [...]string{"2006-01-02T15:04:05-0700", time.RFC3339, "2006-01-02 15:04:05 -0700"}

// A startTime is when tick 0 was, nil if that is not known.
type startTime struct{ *time.Time }

// startTime returns when the game began, in UTC.
func (h *header) startTime() startTime {
	for _, layout := range startLayouts {
		if t, err := time.Parse(layout, h.text("start_time")); err == nil && formats.HasDate(t) {
			t = t.UTC()
			return startTime{&t}
		}
	}
	return startTime{}
}

// at returns the time of a tick, if it has one.
func (s startTime) at(tick int32) (t time.Time, ok bool) {
	if s.Time == nil {
		return t, false
	}
	t = s.Add(time.Duration(tick) * tickMS * time.Millisecond)
	return t, formats.HasDate(t)
}

// idents returns the names of extensions that the header lists, by their UUIDs.
func (h *header) idents() map[uuid.UUID]string {
	m := h.object.find("uuids")
	var list []json.RawMessage
	if m == nil || m.raw == nil || json.Unmarshal(m.raw, &list) != nil {
		return nil
	}
	idents := make(map[uuid.UUID]string, len(list))
	for _, raw := range list {
		var ident string
		if json.Unmarshal(raw, &ident) == nil && len(raw) > 0 && raw[0] == '"' {
			idents[extensionID(ident)] = ident
		}
	}
	return idents
}

// problems returns what is wrong with the header.
func (h *header) problems() []formats.Problem {
	if utf8.Valid(h.json) {
		return []formats.Problem{}
	}
	return []formats.Problem{{
		Code: "bad_utf8", Offset: int64(len(magic) + badUTF8(h.json)),
		Message: "the header has bytes that are not UTF-8",
	}}
}

// badUTF8 returns the position of the first byte that is not UTF-8.
func badUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
