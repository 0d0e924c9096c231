package teehistorian

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"recfs/cache"
	"recfs/formats"
	"recfs/formats/internal/testing/formatstest"
	"recfs/nodes"
	"recfs/nodes/nodestest"
)

// headed begins a recording with a header that is stored as text.
func headed(text string) *writer {
	w := newWriter(nil)
	w.b = append(append(bytes.Clone(magic[:]), text...), 0)
	return w
}

// TestStartTime reads the ways in which servers write when a game began.
func TestStartTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-21T00:26:01+0000":  "2026-11-21T00:26:01Z",
		"2026-11-21T00:26:01-0330":  "2026-11-21T03:56:01Z",
		"2017-12-01 20:15:00 +0100": "2017-12-01T19:15:00Z",
		"2026-11-21T00:26:01+01:00": "2026-11-20T23:26:01Z",
		"2026-11-21T00:26:01Z":      "2026-11-21T00:26:01Z",
		"2026-02-30T00:26:01+0000":  "",
		"0001-01-01T00:00:00+0000":  "0001-01-01T00:00:00Z",
		"0001-01-01T00:00:00+0001":  "",
		"0000-12-31T23:00:00-0100":  "0001-01-01T00:00:00Z",
		"0000-06-01T00:00:00+0000":  "",
		"9999-12-31T23:59:59Z":      "9999-12-31T23:59:59Z",
		"9999-12-31T23:59:59-0001":  "",
		"":                          "",
	} {
		h, err := readHeader(t.Context(), bytes.NewReader(newWriter(map[string]any{"version": "2", "start_time": text}).b), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if start := h.began; start.Time != nil {
			got = start.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What does not open says where and why (docs/tree/teehistorian.md section 11).
func TestRefusedHeaders(t *testing.T) {
	whole := headed(`{"version":"2"}`).b
	wrong := bytes.Clone(whole)
	wrong[15] ^= 1
	for _, c := range []struct {
		name   string
		b      []byte
		offset int64
		kind   error
		reason string
	}{
		{"nothing", nil, 0, nil, "magic"},
		{"a part of the magic", whole[:15], 0, nil, "magic"},
		{"another magic", wrong, 0, nil, "magic"},
		{"the magic alone", whole[:16], 16, io.ErrUnexpectedEOF, "no end"},
		{"no 00", whole[:len(whole)-1], 16, io.ErrUnexpectedEOF, "no end"},
		{"no 00 within the limit", append(bytes.Clone(magic[:]), bytes.Repeat([]byte(" "), defaultMaxHeader+1)...), 16, nil, "within 16777216 bytes"},
		{"an empty header", headed("").b, 16, nil, "not a JSON object"},
		{"a list", headed(`["2"]`).b, 16, nil, "not a JSON object"},
		{"a string", headed(`"2"`).b, 16, nil, "not a JSON object"},
		{"an object that is cut", headed(`{"version":"2"`).b, 16, nil, "not a JSON object"},
		{"more behind the object", headed(`{"version":"2"}}`).b, 16, nil, "not a JSON object"},
		{"no version", headed(`{}`).b, 16, errors.ErrUnsupported, "version"},
		{"version 3", headed(`{"version":"3"}`).b, 16, errors.ErrUnsupported, "version"},
		{"a version that is a number", headed(`{"version":2}`).b, 16, errors.ErrUnsupported, "version"},
		{"a version that is inside another object", headed(`{"config":{"version":"2"}}`).b, 16, errors.ErrUnsupported, "version"},
	} {
		_, err := openBytes(t, newCache(t), c.b)
		var e *formats.Error
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Error(), c.reason) || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want offset %d and %q", c.name, err, c.offset, c.reason)
		}
	}
}

// The version that is shown has the minor one behind a dot, if there is one.
func TestFormatVersion(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":"2","version_minor":"4"}`:                      "2.4",
		`{"version":"2","version_minor":22}`:                       "2.22",
		`{"version":"2"}`:                                          "2",
		`{"version":"2","version_minor":null}`:                     "2",
		`{"version":"2","version_minor":{}}`:                       "2",
		`{"version_minor":"9","version":"1"}`:                      "1.9",
		`{"version":"1","version":"2","version_minor":"\u0031"}`:   "2.1",
		"{ \"version\" :\n\"2\", \"version_minor\" :\t\"5\" }\r\n": "2.5",
	} {
		h, err := readHeader(t.Context(), bytes.NewReader(headed(text).b), 0)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if v := h.values; v.version() != want {
			t.Errorf("%s: %q, want %q", text, v.version(), want)
		}
	}
}

// header.json has the header as it is stored: the order of the keys, numbers as they are written,
// and for what is not UTF-8 the exact bytes beside it.
func TestHeaderAsStored(t *testing.T) {
	for _, c := range []struct {
		stored, want string
		bad          int64 // offset of the first byte that is not UTF-8, 0 if there is none
	}{
		{`{"version":"2","b":"1","a":"2"}`, `{"version":"2","b":"1","a":"2"}`, 0},
		{`{"version":"2","n":1.50,"big":12345678901234567890,"t":true,"nil":null}`, `{"version":"2","n":1.50,"big":12345678901234567890,"t":true,"nil":null}`, 0},
		{`{"version":"2","k":"first","z":"","k":"last"}`, `{"version":"2","k":"last","z":""}`, 0},
		{`{"version":"2","config":{"b":"x","a":{"c":"y"}},"l":["1",[2]]}`, `{"version":"2","config":{"b":"x","a":{"c":"y"}},"l":["1",[2]]}`, 0},
		{`{"version":"2","s":"\u00e9\n\"\\"}`, `{"version":"2","s":"é\n\"\\"}`, 0},
		{"{\"version\":\"2\",\"s\":\"a\xff\xc3\"}", `{"version":"2","s":"a��","s_hex":"61ffc3"}`, 16 + 21},
		{"{\"version\":\"2\",\"config\":{\"s\":\"\xe2\x82\"}}", `{"version":"2","config":{"s":"��","s_hex":"e282"}}`, 16 + 30},
		{"{\"version\":\"2\",\"s\":\"\xff\",\"s_hex\":\"mine\"}", `{"version":"2","s":"�","s_hex":"mine"}`, 16 + 20},
		{"{\"version\":\"2\",\"\xff\":\"k\"}", `{"version":"2","�":"k"}`, 16 + 16},
		{"{\"version\":\"2\",\"l\":[\"\xff\"]}", `{"version":"2","l":["�"]}`, 16 + 21},
	} {
		w := headed(c.stored)
		root := rootOf(t, w)
		if got := nodestest.Read(t, root, "metadata"); got != c.stored {
			t.Errorf("metadata %q, want %q", got, c.stored)
		}
		var doc struct {
			Header   json.RawMessage
			Problems []struct {
				Code   string
				Offset int64
			}
		}
		if err := json.Unmarshal([]byte(nodestest.Read(t, root, "header.json")), &doc); err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Compact(&got, doc.Header); err != nil {
			t.Fatal(err)
		}
		if shown := strings.ReplaceAll(got.String(), `\ufffd`, "�"); shown != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.stored, shown, c.want)
		}
		if n := len(doc.Problems); n != 0 != (c.bad != 0) || n == 1 && (doc.Problems[0].Code != "bad_utf8" || doc.Problems[0].Offset != c.bad) {
			t.Errorf("%q: problems %v, want one at %d", c.stored, doc.Problems, c.bad)
		}
	}
}

// A header may be larger than one read of it, up to the limit.
func TestLongHeader(t *testing.T) {
	const limit = 1 << 20
	for _, n := range []int{8<<10 - 1, 8 << 10, 8<<10 + 1, 256 << 10, limit - 1, limit, limit + 1} {
		text := `{"version":"2","pad":"`
		text += strings.Repeat("x", n-len(text)-len(`"}`)) + `"}`
		w := headed(text)
		w.join(3)
		h, err := readHeader(t.Context(), bytes.NewReader(w.b), limit)
		if n > limit {
			if e, ok := errors.AsType[*formats.Error](err); !ok || e.Offset != 16 || !strings.Contains(e.Error(), "--max-metadata") {
				t.Errorf("a header of %d bytes: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.start != int64(16+n+1) || string(h.json) != text {
			t.Errorf("a header of %d bytes: the records begin at %d", n, h.start)
		}
	}
}

// A header of megabytes has the tree of any other, however many members and names of extensions it
// has. What is made of it is counted before, and what stays is not much more than its text.
func TestWideHeaders(t *testing.T) {
	size := nodestest.Times(1<<19, 1<<18)
	id := extensionID("mine@example.org")
	for name, member := range map[string]string{
		"members":  `,"%d":{}`,
		"objects":  `,"%d":{"a":{"b":"\u00e9"}}`,
		"repeated": `,"k":[%d]`,
		"names":    `,"%d"`,
		"bad":      ",\"%d\":\"\xff\xff\xff\xff\"",
	} {
		text := []byte(`{"version":"2"`)
		end := `,"uuids":["mine@example.org"]}`
		if name == "names" {
			text, end = append(text, `,"uuids":["mine@example.org"`...), "]}"
		}
		for i := 0; len(text) < size; i++ {
			text = fmt.Appendf(text, member, i)
		}
		w := headed(string(text) + end)
		w.rawEx(id, "x")
		c := cache.New(64<<20, nil)
		defer c.Close()
		root, err := formatstest.Open(t.Context(), Format, formatstest.BytesInput("x", w.b, time.Unix(1, 0)), c)
		if err != nil {
			t.Fatal(name, err)
		}
		document := ""
		err = c.Do(t.Context(), 1, func(ctx context.Context) error {
			e, err := nodes.Lookup(ctx, root, "header.json")
			if err != nil {
				return err
			}
			b, err := nodes.ReadAll(ctx, e.File)
			document = string(b)
			return err
		})
		if err != nil || !json.Valid([]byte(document)) || len(document) < len("xxxx") {
			t.Errorf("%s: header.json has %d bytes, %v", name, len(document), err)
		}
		if now, peak := c.Work(); now != 0 || peak < int64(len(document)) {
			t.Errorf("%s: %d bytes counted, %d not given back", name, peak, now)
		}
		if got := nodestest.Read(t, root, "lines/000000.jsonl"); !strings.Contains(got, `"name":"mine@example.org"`) {
			t.Errorf("%s: %s", name, got)
		}
		h, err := readHeader(t.Context(), bytes.NewReader(w.b), 0)
		if err != nil {
			t.Fatal(name, err)
		}
		if n, names := h.Memory(), int64(len(h.idents)); n < int64(size)+32*names || n > 9*int64(size) {
			t.Errorf("%s: %d bytes are kept", name, n)
		}
	}
}

// A saved head is the head that was saved.
func TestSavedHead(t *testing.T) {
	in := formatstest.BytesInput("x.teehistorian", headed("{\"version\":\"2\",\"s\":\"\xff\"}").b, time.Unix(1, 0))
	h, err := Format.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	saved := h.Append(nil)
	again, err := Format.ReadHead(t.Context(), in, saved)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Append(nil); !bytes.Equal(got, saved) {
		t.Errorf("%x, saved was %x", got, saved)
	}
	for n := range saved {
		if _, err := Format.ReadHead(t.Context(), in, saved[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are a head", n, len(saved))
		}
	}
}
