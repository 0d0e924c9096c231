package hcrp

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recfs/formats/internal/wire"
)

// shared is where recordings of the wild lie, if they are there.
const shared = "../../../shared/recordings/hcrp/"

func testSchema(t testing.TB, name string) *Schema {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSchema(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const designSchema = "../../testdata/archive/hcrp/design-snapshot.schema.json"

// hosts are the kinds of recordings that the test writer can write.
func hosts(t testing.TB) []struct {
	name    string
	layout  Layout
	version int
	schema  *Schema
} {
	own, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	type host = struct {
		name    string
		layout  Layout
		version int
		schema  *Schema
	}
	return []host{
		{"v4", Published, 4, own[0]},
		{"v3", Published, 3, own[1]},
		{"design", Design, 1, testSchema(t, designSchema)},
		{"types", Design, 1, testSchema(t, "../../testdata/hcrp/all-types.schema.json")},
	}
}

// TestWriterAndReaderAgree writes random recordings and reads them again.
func TestWriterAndReaderAgree(t *testing.T) {
	for _, h := range hosts(t) {
		t.Run(h.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				g := &generator{rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), h.schema}
				rec := g.recording(h.layout, h.version, 1+g.IntN(3), 20)
				file := rec.file(t)
				r, err := readerOf(t.Context(), file)
				if err != nil {
					rt.Fatal(err)
				}
				if len(r.Problems) > 0 {
					rt.Fatal(r.Problems)
				}
				for i, want := range rec.chunks {
					body, err := r.Body(t.Context(), i)
					if err != nil {
						rt.Fatal(err)
					}
					if !bytes.Equal(body, want.body) {
						rt.Fatalf("chunk %d: another body", i)
					}
					c := eventFormat{r.Header.Layout, h.schema, r.limits}.decode(i, r.Entry(i), body)
					if len(c.problems) > 0 {
						rt.Fatal(c.problems)
					}
					if got := string(c.Lines()); got != want.lines {
						rt.Fatalf("chunk %d:\n%s\nwant:\n%s", i, got, want.lines)
					}
				}
			})
		})
	}
}

func TestPrimitives(t *testing.T) {
	for _, x := range []struct{ typ, hex, want string }{
		{`"varint"`, "00", "0"},
		{`"varint"`, "8001", "128"},
		{`"varint"`, "ddc701", "25565"},
		{`"varint"`, "ffffffff07", "2147483647"},
		{`"varint"`, "ffffffff0f", "-1"},
		{`"varint"`, "ffffffff7f", "-1"},
		{`"varint"`, "8080808008", "-2147483648"},
		{`"varlong"`, "ffffffffffffffffff01", "-1"},
		{`"zigzag"`, "7f", "-64"},
		{`"zigzag"`, "d604", "299"},
		{`"zigzag"`, "8105", "-321"},
		{`"zigzag"`, "8040", "4096"},
		{`"i64"`, "0020000000000000", "9007199254740992"},
		{`"i64"`, "0020000000000001", `"9007199254740993"`},
		{`"i64"`, "8000000000000000", `"-9223372036854775808"`},
		{`"u64"`, "ffffffffffffffff", `"18446744073709551615"`},
		{`"f32"`, "3f8ccccd", "1.100000023841858"},
		{`"f64"`, "7ff8000000000000", `"NaN"`},
		{`"f64"`, "fff0000000000000", `"-Infinity"`},
		{`"bool"`, "02", "false"},
		{`"bytes"`, "0300ff10", `"00ff10"`},
		{`{"fixed":2}`, "0a0b", `"0a0b"`},
		{`"block_pos"`, "ffffff000000c046", `{"x":-4,"y":70,"z":12}`},
		{`"block_pos"`, "8000001ffffff800", `{"x":-33554432,"y":-2048,"z":33554431}`},
		{`"lp_vec3"`, "00", `{"x":0,"y":0,"z":0}`},
		{`"lp_vec3"`, "f1ff0000ffff", `{"x":1,"y":0,"z":-1}`},
		{`"lp_pos"`, "804080800180c0010400e000", `{"x":1,"y":2,"z":3,"yaw":5.625,"pitch":-45}`},
		{
			`"nbt"`, "0a0800026964000d6d696e6563726166743a616972030005636f756e740000000000",
			`{"type":"compound","value":{"id":{"type":"string","value":"minecraft:air"},"count":{"type":"int","value":0}}}`,
		},
		{`{"flags":["a","b"],"as":"i8"}`, "86", `["b","bit2","bit7"]`},
		{`{"enum":["a","b"],"as":"u8"}`, "01", `"b"`},
		{`{"enum":["a","b"],"as":"varint"}`, "ffffffff0f", `-1`},
		{`{"enum":["a","b"],"as":"u64"}`, "0000000000000001", `"b"`},
		{`{"enum":["a","b"],"as":"u64"}`, "8000000000000001", `"9223372036854775809"`},
		{`{"flags":["a","b"],"as":"u64"}`, "8000000000000001", `["a","bit63"]`},
		{`{"scaled":"i8","by":1.40625}`, "ff", `-1.40625`},
		{`{"scaled":"u64","by":0.5}`, "8000000000000000", `4611686018427388000`},
		{`{"optional":"u8"}`, "00", `null`},
		{`{"map":["u8","u8"]}`, "0201020102", `[{"key":1,"value":2},{"key":1,"value":2}]`},
		{`"string"`, "03c3a9ff", `"é\ufffd","v_hex":"c3a9ff"`},
		{`{"list":"string"}`, "0101ff", `["\ufffd"]`},
		{`{"map":["string","string"]}`, "0101ff016f", `[{"key":"\ufffd","key_hex":"ff","value":"o"}]`},
		{`{"map":["u8",{"optional":"string"}]}`, "02010101ff0200", `[{"key":1,"value":"\ufffd","value_hex":"ff"},{"key":2,"value":null}]`},
		{`{"struct":[]}`, "", `{}`},
	} {
		s, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","events":[{"id":1,"name":"e","fields":[{"name":"v","type":` + x.typ + `}]}]}`))
		if err != nil {
			t.Errorf("%s: %v", x.typ, err)
			continue
		}
		payload, err := hex.DecodeString(x.hex)
		if err != nil {
			t.Fatal(err)
		}
		body := append([]byte{0, 0, 1, 1}, payload...)
		c := eventFormat{Published, s, Limits{}.withDefaults()}.decode(0, Entry{Ticks: 1}, body)
		want := `{"tick":0,"time_ms":0,"events":[{"event":"e","id":1,"v":` + x.want + "}]}\n"
		if got := string(c.Lines()); got != want {
			t.Errorf("%s of %s:\n%swant\n%s", x.typ, x.hex, got, want)
		}
	}
}

// TestStops shows bodies that cannot be decoded to their end.
func TestStops(t *testing.T) {
	const schema = `{"format":"recording-schema/1","name":"t","events":[
		{"id":1,"name":"a","fields":[{"name":"v","type":"u16"}]},
		{"id":2,"name":"b","fields":[{"name":"v","type":{"list":"u8"}}]}]}`
	s, err := ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name, hex, code string
		offset, known   int64
		lines           int
		cut             bool
	}{
		{"whole", "00 0001 01 0001   01 0000", "", 0, 9, 1, false},
		{"left-out ticks", "03 0001 01 0001   07 0000", "", 0, 9, 1, false},
		{"unknown id", "00 0000   01 0002 01 0001 05", codeEvent, 9, 0, 1, true},
		{"unknown id at once", "00 0001 05", codeEvent, 3, -1, 0, false},
		{"cut field", "00 0001 01 00", codeEvent, 3, -1, 0, false},
		{"absurd count", "00 0001 02 ffffffff07", codeEvent, 3, -1, 0, false},
		{"cut record", "00 0000   01 00", codeRecords, 3, 0, 0, false},
		{"not rising", "00 0000   00 0000", codeRecords, 3, 0, 0, false},
		{"behind the chunk", "00 0000   0a 0000", codeRecords, 3, 0, 0, false},
		{"stray bytes", "09 0000   00", codeRecords, 3, 9, 0, false},
		{"too many events", "00 8000", codeRecords, 0, -1, 0, false},
	} {
		body, err := hex.DecodeString(strings.ReplaceAll(x.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		c := eventFormat{Published, s, Limits{}.withDefaults()}.decode(0, Entry{Ticks: 10}, body)
		code, offset := "", int64(0)
		if c.stop != nil {
			code, offset = c.stop.Code, c.stop.Offset
		}
		cut := len(c.ticks) > 0 && c.ticks[len(c.ticks)-1].cut
		if code != x.code || offset != x.offset || c.known != x.known || len(c.ticks) != x.lines || cut != x.cut {
			t.Errorf("%s: %q at %d, known to %d, %d lines, cut %t", x.name, code, offset, c.known, len(c.ticks), cut)
		}
	}
}

func TestLengthsInFrontOfPayloads(t *testing.T) {
	for _, x := range []struct{ kind, body, want string }{
		{"varint", "00 0003 01 02 0001 28 02 00ff 01 01 00", `{"event":"a","id":1,"v":1},{"event":"unknown","id":40,"length":2,"raw":"00ff"},{"event":"unknown","id":1,"length":1,"raw":"00"}`},
		{"i32", "00 0002 01 00000002 0001 28 00000002 00ff", `{"event":"a","id":1,"v":1},{"event":"unknown","id":40,"length":2,"raw":"00ff"}`},
	} {
		s, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","event_length":"` + x.kind + `","events":[{"id":1,"name":"a","fields":[{"name":"v","type":"u16"}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := hex.DecodeString(strings.ReplaceAll(x.body, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		c := eventFormat{Design, s, Limits{}.withDefaults()}.decode(0, Entry{Ticks: 1}, body)
		if want := `{"tick":0,"time_ms":0,"events":[` + x.want + "]}\n"; string(c.Lines()) != want {
			t.Errorf("%s: %s", x.kind, c.Lines())
		}
		if x.kind == "varint" && (c.stop != nil || len(c.problems) != 1 || c.problems[0].Code != codeEvent || c.problems[0].Offset != 11) {
			t.Errorf("problems: %+v", c.problems)
		}
	}
}

func TestSchemaRefusals(t *testing.T) {
	event := func(typ string) string {
		return `{"format":"recording-schema/1","name":"t","events":[{"id":1,"name":"a","fields":[{"name":"v","type":` + typ + `}]}]}`
	}
	for _, bad := range []string{
		`{}`,
		`[]`,
		`{"format":"recording-schema/2"}`,
		`{"format":"recording-schema/1","event_length":"u8"}`,
		`{"format":"recording-schema/1","match":{"layout":"published"},"event_length":"i32"}`,
		`{"format":"recording-schema/1","events":[{"id":1,"name":"a"},{"id":1,"name":"b"}]}`,
		`{"format":"recording-schema/1","events":[{"id":1,"name":"a","fields":[{"name":"id","type":"u8"}]}]}`,
		`{"format":"recording-schema/1","snapshot":{"kind":"other"}}`,
		event(`"u9"`),
		event(`{}`),
		event(`7`),
		event(`{"list":{"struct":[]}}`),
		event(`{"list":{"fixed":0}}`),
		event(`{"map":[{"fixed":0},{"struct":[]}]}`),
		event(`{"fixed":-1}`),
		event(`{"enum":["a"],"as":"f32"}`),
		event(`{"scaled":"string","by":2}`),
		event(strings.Repeat(`{"optional":`, 17) + `"u8"` + strings.Repeat("}", 17)),
	} {
		if _, err := ParseSchema([]byte(bad)); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
	for _, good := range []string{
		`{"format":"recording-schema/1","more":1,"events":[{"id":-1,"name":"a","x":2}]}`,
		event(strings.Repeat(`{"optional":`, 15) + `"u8"` + strings.Repeat("}", 15)),
	} {
		if _, err := ParseSchema([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

func TestVarintRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int32().Draw(rt, "n")
		c := wire.NewCursor(formatName, appendVarint(nil, int64(n)), 0)
		if got := varint(c); got != n || c.Len() > 0 || c.Err() != nil {
			rt.Fatalf("%d became %d", n, got)
		}
	})
}

// What decoding takes is counted: as much as the size of a body lets expect before it is expanded,
// and more while the chunk outgrows that.
func TestDecodingIsCharged(t *testing.T) {
	s, err := ParseSchema([]byte(`{"format":"recording-schema/1","name":"t","events":[{"id":1,"name":"e","fields":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	const events = 30_000 // of one byte each, which are 256 in memory
	body := append([]byte{0}, byte(events>>8), byte(events&0xff))
	body = append(body, bytes.Repeat([]byte{1}, events)...)
	rec := testRecording{layout: Published, version: 4, chunks: []testChunk{{ticks: 10, body: body}}}
	file := rec.file(t)
	r, err := readerOf(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	reader := withSchema(r, s)
	c := testCache(t, nil)
	err = c.Do(t.Context(), 1, func(ctx context.Context) error {
		ch, err := reader.decode(ctx, 0)
		if err == nil && len(ch.events) != events {
			t.Errorf("%d events", len(ch.events))
		}
		return err
	})
	_, peak := c.Work()
	if least := int64(events * eventSize); err != nil || reader.peak(0) > least || peak < least {
		t.Errorf("%d bytes counted, at first %d, for %d of events, %v", peak, reader.peak(0), least, err)
	}
	c = testCache(t, nil)
	err = c.Do(t.Context(), 1, func(ctx context.Context) error {
		found, err := reader.salvage().rescue(ctx, frame{r.place(0), r.Entry(0).Stored}, 0)
		if err == nil && len(found.chunk.events) != events {
			t.Errorf("%d events are salvaged", len(found.chunk.events))
		}
		return err
	})
	if _, peak := c.Work(); err != nil || peak < events*eventSize {
		t.Errorf("%d bytes counted for what is salvaged, %v", peak, err)
	}
	c = testCache(t, nil)
	err = c.Do(t.Context(), 1, func(ctx context.Context) error {
		_, err := Options{Schemas: []*Schema{s, s}}.choose(ctx, r)
		return err
	})
	if _, peak := c.Work(); err != nil || peak < r.peak(0) {
		t.Errorf("%d bytes counted to choose a schema, %v", peak, err)
	}
}

// withSchema returns a Reader that decodes by a schema.
func withSchema(r *Reader, s *Schema) *Reader {
	t := *r.Tables
	t.schema = s
	return &Reader{&t, r.files}
}
