package teehistorian

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
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

// defaultMaxHeader bounds the header unless an option does. Real headers have up to 6 KiB.
const defaultMaxHeader = 16 << 20

const (
	// identCost is about what the name of an extension takes: one half itself, the other what a
	// list that grows has to spare.
	identCost = 80

	// memberCost is about what a member takes while header.json is made: itself, and its place in
	// the map of keys.
	memberCost = 512

	// smallHeader is how much memory a header may take without asking for it.
	smallHeader = 512 << 10
)

// A header is the part before the records (docs/formats/teehistorian.md section 3).
type header struct {
	json   []byte // an object, as stored
	idents []ident
	start  int64 // offset of the first record

	values   values    // those of shownKeys
	version1 bool      // the records are those of version 1
	began    startTime // in UTC
}

// readHeader reads the header of a recording, which has at most limit bytes; 0 stands for the
// default.
func readHeader(ctx context.Context, r io.ReaderAt, limit int64) (*header, error) {
	var head [len(magic)]byte
	if n, err := r.ReadAt(head[:], 0); n < len(head) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if head != magic {
		return nil, formats.Corrupt(name, 0, "the file does not begin with the magic of a teehistorian")
	}
	text, err := readText(ctx, r, int64(len(magic)), cmp.Or(limit, defaultMaxHeader))
	if err != nil {
		return nil, err
	}
	h := &header{json: text, start: int64(len(magic) + len(text) + 1)}
	if err := h.charge(ctx, ',', identCost); err != nil {
		return nil, err
	}
	v, err := readValues(text)
	if err != nil {
		return nil, formats.Corrupt(name, int64(len(magic)), "the header is not a JSON object: %v", jsonenc.Explain(err))
	}
	switch v.text("version") {
	case "1":
		h.version1 = true
	case "2":
	default:
		return nil, formats.Errorf(name, int64(len(magic)), errors.ErrUnsupported, "the version in the header is not \"1\" or \"2\"")
	}
	var list []any
	json.Unmarshal(v["uuids"], &list) //nolint:errcheck // of a number that is too large, too
	for _, e := range list {
		if text, ok := e.(string); ok {
			h.idents = append(h.idents, ident{extensionID(text), text})
		}
	}
	slices.SortFunc(h.idents, func(a, b ident) int { return bytes.Compare(a.id[:], b.id[:]) })
	h.idents = slices.Clip(h.idents)
	h.values = values{}
	for _, key := range shownKeys {
		if value, ok := v[key]; ok {
			h.values[key] = value
		}
	}
	for _, layout := range startLayouts {
		if t, err := time.Parse(layout, v.text("start_time")); err == nil && formats.HasDate(t) {
			h.began = startTime{new(t.UTC())}
			break
		}
	}
	return h, nil
}

// readText reads the text of the header, up to the 00 that ends it.
func readText(ctx context.Context, r io.ReaderAt, off, limit int64) (text []byte, err error) {
	for n := 0; int64(n) <= limit; n = len(text) {
		if 4*n > smallHeader {
			if err := formats.Claim(ctx, 4*int64(n)); err != nil {
				return nil, err
			}
		}
		text = slices.Grow(text, int(min(int64(max(n, 8<<10)), limit+1-int64(n))))
		k, err := r.ReadAt(text[n:min(int64(cap(text)), limit+1)], off+int64(n))
		text = text[:n+k]
		if i := bytes.IndexByte(text[n:], 0); i >= 0 {
			return slices.Clone(text[:n+i]), nil
		}
		if errors.Is(err, io.EOF) {
			return nil, formats.Errorf(name, off, io.ErrUnexpectedEOF, "the header has no end")
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, formats.Corrupt(name, off, "the header has no end within %d bytes, the limit of --max-metadata", limit)
}

// charge counts the memory for what is made of the header: some bytes for each byte, which may
// become a U+FFFD, and so many for each mark.
func (h *header) charge(ctx context.Context, mark byte, each int) error {
	n := int64(12*len(h.json) + each*bytes.Count(h.json, []byte{mark}))
	if n <= smallHeader {
		return nil
	}
	_, err := formats.Charge(ctx, n)
	return err
}

// values are the members of a header as they are stored, without bytes that are not UTF-8. If a key
// is repeated, the last one counts.
type values map[string]json.RawMessage

// shownKeys are the keys that are asked for once a recording is open.
var shownKeys = [...]string{
	"version", "version_minor", "map_name", "map_crc", "map_sha256", "server_name", "server_version", "game_type",
}

// readValues returns those of a header. The error says why that is no object.
func readValues(b []byte) (v values, err error) {
	if !utf8.Valid(b) {
		b = []byte(cleanText(b))
	}
	err = json.Unmarshal(b, &v)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other || err == nil && v == nil {
		err = errors.New("it is another value")
	}
	return v, err
}

// text returns the string of a key, "" if there is none.
func (v values) text(key string) (text string) {
	json.Unmarshal(v[key], &text) //nolint:errcheck // it is another value
	return text
}

// isString reports whether a value is a string.
func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// plain returns the text of a string, and any other value as it is.
func (v values) plain(key string) string {
	if value := v[key]; !isString(value) {
		return string(value)
	}
	return v.text(key)
}

// version is the version of the format, with the minor version if there is one.
func (v values) version() string {
	if minor := string(v["version_minor"]); minor == "" || minor[0] == '{' || minor == "null" {
		return v.text("version")
	}
	return v.text("version") + "." + v.plain("version_minor")
}

// startLayouts are the layouts of start_time: that of version 2, the same with a zone as in RFC
// 3339, and that of version 1.
var startLayouts = [...]string{"2006-01-02T15:04:05-0700", time.RFC3339, "2006-01-02 15:04:05 -0700"}

// A startTime is the time of tick 0, nil if that is not known.
type startTime struct{ *time.Time }

// at returns the time of a tick, if it has one.
func (s startTime) at(tick int32) (t time.Time, ok bool) {
	if s.Time == nil {
		return t, false
	}
	t = s.Add(time.Duration(tick) * tickMS * time.Millisecond)
	return t, formats.HasDate(t)
}

// tickTime returns how long n ticks take.
func tickTime(n int64) time.Duration { return time.Duration(n) * tickMS * time.Millisecond }

// An ident is the name of an extension.
type ident struct {
	id   uuid.UUID
	name string
}

// problems returns what is wrong with the header.
func (h *header) problems() []formats.Problem {
	if utf8.Valid(h.json) {
		return []formats.Problem{}
	}
	return []formats.Problem{{
		Code: "bad_utf8", Offset: int64(len(magic) + jsonenc.BadUTF8(h.json)),
		Message: "the header has bytes that are not UTF-8",
	}}
}

// An object is a JSON object whose members keep their order. encoding/json keeps neither order nor
// the bytes of strings that are not UTF-8, both of which header.json shows.
type object []member

// A member is a key with its value.
type member struct {
	key      string
	value    []byte // as stored, if it is no object
	nested   object
	isObject bool
}

// readObject reads the object that comes next. If a key is repeated, the last value counts, in the
// place of the first.
func readObject(w *jsonenc.Walker) (o object) {
	places := map[string]int{}
	for quoted := range w.Members() {
		m := member{key: cleanText(unquote(quoted))}
		if m.isObject = w.Peek() == '{'; m.isObject {
			m.nested = readObject(w)
		} else {
			m.value = w.Value()
		}
		if i, ok := places[m.key]; ok {
			o[i] = m
			continue
		}
		places[m.key] = len(o)
		o = append(o, m)
	}
	return o
}

// unquote returns the bytes of a string in a header that is valid.
func unquote(quoted []byte) []byte {
	text, _ := jsonenc.Unquote(quoted)
	return text
}

// appendJSON appends the header as header.json shows it.
func (h *header) appendJSON(dst []byte) []byte {
	w := jsonenc.Walk(h.json)
	return appendObject(dst, readObject(&w))
}

// appendObject appends o as JSON. Strings that are not UTF-8 have their exact bytes beside them.
func appendObject(dst []byte, o object) []byte {
	var keys map[string]bool // nil until a string needs one more
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonenc.AppendString(dst, m.key)
		dst = append(dst, ':')
		switch {
		case m.isObject:
			dst = appendObject(dst, m.nested)
		case isString(m.value):
			text := unquote(m.value)
			dst = jsonenc.AppendString(dst, text)
			if utf8.Valid(text) {
				continue
			}
			if keys == nil {
				keys = make(map[string]bool, len(o))
				for i := range o {
					keys[o[i].key] = true
				}
			}
			if hexKey := m.key + "_hex"; !keys[hexKey] {
				dst = jsonenc.AppendString(append(dst, ','), hexKey)
				dst = jsonenc.AppendHex(append(dst, ':'), text)
			}
		default:
			dst = append(dst, cleanText(m.value)...)
		}
	}
	return append(dst, '}')
}
