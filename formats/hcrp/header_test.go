package hcrp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"recfs/formats"
)

// headerOf returns a header whose world version has n bytes.
func headerOf(layout Layout, version, n int) []byte {
	b := []byte(magic)
	if layout == Published {
		b = binary.BigEndian.AppendUint16(b, uint16(version))
	} else {
		b, n = append(b, byte(version)), 16
	}
	b = append(b, 0x12, 0x34)
	b = append(b, "0123456789abcdef"...)
	if layout == Published {
		b = append(b, byte(n))
	}
	b = append(b, bytes.Repeat([]byte("v"), n)...)
	b = binary.BigEndian.AppendUint64(b, 1786300000000)
	b = binary.BigEndian.AppendUint16(b, 7)
	for _, count := range []uint32{2, 30, 400, 5} {
		b = binary.BigEndian.AppendUint32(b, count)
	}
	b = binary.BigEndian.AppendUint32(b, 4903)
	return append(b, bytes.Repeat([]byte{0xee}, headerSize-len(b))...) // padding is not looked at
}

// The fields of both layouts stand where docs/formats/hcrp.md section 3 says, for every length of
// the world version.
func TestHeaderFields(t *testing.T) {
	for _, c := range []struct {
		layout     Layout
		version, n int
	}{{Published, 3, 0}, {Published, 4, 1}, {Published, 4, 16}, {Published, 3, 32}, {Design, 1, 16}} {
		b := headerOf(c.layout, c.version, c.n)
		h, err := parseHeader(b)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if h.Layout != c.layout || h.Version != c.version || h.Flags != 0x1234 || string(h.WorldID[:]) != "0123456789abcdef" ||
			string(h.WorldVersion) != strings.Repeat("v", c.n) || h.Timestamp != 1786300000000 || h.Dictionary != 7 ||
			h.MetadataLength != 2 || h.IndexLength != 30 || h.TickCount != 400 || h.ChunkCount != 5 {
			t.Errorf("%+v: %+v", c, h)
		}
		if data := (h.json().DataVersion != nil); data != (c.layout == Published) || data && h.DataVersion != 4903 {
			t.Errorf("%+v: data version %d", c, h.DataVersion)
		}
		if h.IndexOffset() != 258 || h.IndexEnd() != 288 {
			t.Errorf("%+v: the index is at %d, ends at %d", c, h.IndexOffset(), h.IndexEnd())
		}
		if got := binary.BigEndian.Uint16(b[h.dictionaryOffset():]); got != 7 {
			t.Errorf("%+v: %d at the offset of the dictionary", c, got)
		}
		if got := binary.BigEndian.Uint32(b[h.indexLengthOffset():]); got != 30 {
			t.Errorf("%+v: %d at the offset of the index length", c, got)
		}
	}
}

// What is no header says where it is not, with a code; one that is cut says where the file ends.
func TestHeaderRefusals(t *testing.T) {
	changed := func(b []byte, at int, to ...byte) []byte {
		return append(append(bytes.Clone(b[:at]), to...), b[at+len(to):]...)
	}
	published, design := headerOf(Published, 4, 4), headerOf(Design, 1, 0)
	for _, c := range []struct {
		name   string
		b      []byte
		code   string
		offset int64
		kind   error
	}{
		{"another magic", changed(published, 0, 'h'), codeHeaderMagic, 0, formats.ErrCorrupt},
		{"text", []byte("HC and more"), codeHeaderMagic, 0, formats.ErrCorrupt},
		{"version 2", headerOf(Published, 2, 4), codeHeaderVersion, 4, errUnsupported},
		{"version 5", headerOf(Published, 5, 4), codeHeaderVersion, 4, errUnsupported},
		{"version 2 of the design", headerOf(Design, 2, 0), codeHeaderVersion, 4, errUnsupported},
		{"a world version of 33 bytes", changed(published, 24, 33), codeHeaderField, 24, formats.ErrCorrupt},
		{"a world version of -1 bytes", changed(published, 24, 0xff), codeHeaderField, 24, formats.ErrCorrupt},
		{"metadata of -1 bytes", changed(published, 35+4, 0xff), codeHeaderField, 39, formats.ErrCorrupt},
		{"an index of -2^31 bytes", changed(published, 39+4, 0x80), codeHeaderField, 43, formats.ErrCorrupt},
		{"-1 ticks", changed(published, 43+4, 0xff), codeHeaderField, 47, formats.ErrCorrupt},
		{"-1 chunks", changed(published, 47+4, 0xff), codeHeaderField, 51, formats.ErrCorrupt},
		{"-1 chunks of the design", changed(design, 61, 0xff), codeHeaderField, 61, formats.ErrCorrupt},
	} {
		_, err := parseHeader(c.b)
		var e *formats.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Offset != c.offset || !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %s at %d", c.name, err, c.code, c.offset)
		}
	}
	for n := range headerSize {
		_, err := parseHeader(published[:n])
		var e *formats.Error
		if !errors.As(err, &e) || e.Code != codeHeaderTruncated || e.Offset != int64(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A time that RFC 3339 cannot write is null in words, and beyond 2^53 a string in numbers.
func TestHeaderTimes(t *testing.T) {
	for ms, want := range map[int64]string{
		0:               "\"1970-01-01T00:00:00.000Z\" 0",
		-1:              "\"1969-12-31T23:59:59.999Z\" -1",
		253402300799999: "\"9999-12-31T23:59:59.999Z\" 253402300799999",
		253402300800000: "null 253402300800000",
		-62135596800001: "null -62135596800001",
		1 << 53:         "null 9007199254740992",
		1<<53 + 1:       "null \"9007199254740993\"",
		math.MinInt64:   "null \"-9223372036854775808\"",
	} {
		j := (&Header{Timestamp: ms}).json()
		words, err := json.Marshal(j.Timestamp)
		if err != nil {
			t.Fatal(err)
		}
		number, err := json.Marshal(j.TimestampMS)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(words) + " " + string(number); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	}
}

// Metadata is typed JSON, tag by tag, by the rules of docs/formats/hcrp.md section 4.
func TestMetadata(t *testing.T) {
	limits := Limits{Depth: 4, Text: 400}.withDefaults()
	for _, c := range []struct{ hex, want string }{
		{"0a 00", `{"type":"compound","value":{}}`},
		{"0a 0000 00", `{"name":"","type":"compound","value":{}}`},
		{"0a 0001 72 00", `{"name":"r","type":"compound","value":{}}`},
		{"0a 01 0001 61 80 00", `{"type":"compound","value":{"a":{"type":"byte","value":-128}}}`},
		{"0a 02 0000 7fff 00", `{"type":"compound","value":{"":{"type":"short","value":32767}}}`},
		{"0a 03 0001 61 80000000 00", `{"type":"compound","value":{"a":{"type":"int","value":-2147483648}}}`},
		{"0a 04 0001 61 0000000000000001 00", `{"type":"compound","value":{"a":{"type":"long","value":"1"}}}`},
		{"0a 05 0001 61 7fc00000 00", `{"type":"compound","value":{"a":{"type":"float","value":"NaN"}}}`},
		{"0a 06 0001 61 3ff8000000000000 00", `{"type":"compound","value":{"a":{"type":"double","value":1.5}}}`},
		{"0a 07 0001 61 00000002 01ff 00", `{"type":"compound","value":{"a":{"type":"bytes","value":[1,-1]}}}`},
		{"0a 0b 0001 61 00000001 ffffffff 00", `{"type":"compound","value":{"a":{"type":"ints","value":[-1]}}}`},
		{"0a 0c 0001 61 00000001 ffffffffffffffff 00", `{"type":"compound","value":{"a":{"type":"longs","value":["-1"]}}}`},
		{"0a 08 0003 612f62 0002 c080 00", `{"type":"compound","value":{"a/b":{"type":"string","value":"\u0000"}}}`},
		{"0a 08 0000 0006 eda0bdedb880 00", `{"type":"compound","value":{"":{"type":"string","value":"😀"}}}`},
		{"0a 08 0000 0002 61ff 00", `{"type":"compound","value":{"":{"type":"string","value":"a�","value_hex":"61ff"}}}`},
		{"0a 09 0000 01 00000002 0102 00", `{"type":"compound","value":{"":{"type":"list","of":"byte","value":[{"type":"byte","value":1},{"type":"byte","value":2}]}}}`},
		{"0a 09 0000 00 00000000 00", `{"type":"compound","value":{"":{"type":"list","of":"end","value":[]}}}`},
		{"0a 09 0000 0a ffffffff 00", `{"type":"compound","value":{"":{"type":"list","of":"compound","value":[]}}}`},
		{"0a 01 0001 61 01 01 0001 62 02 01 0001 61 03 00", `{"type":"compound","value":{"b":{"type":"byte","value":2},"a":{"type":"byte","value":3}}}`},
		{"", ""},
		{"01 00", ""},                                   // the root is no compound
		{"0a", ""},                                      // cut
		{"0a 00 00", ""},                                // bytes behind
		{"0a 0d 0000 00", ""},                           // unknown tag
		{"0a 09 0000 00 00000001 00", ""},               // a list of one end
		{"0a 09 0000 0d 00000000 00", ""},               // a list of an unknown tag
		{"0a 09 0000 04 00000002 00", ""},               // a list longer than what is there
		{"0a 07 0000 7fffffff 00", ""},                  // an array longer than what is there
		{"0a 0b 0000 ffffffff 00", ""},                  // of a negative length
		{"0a 08 0000 0005 61", ""},                      // a string that is cut
		{"0a" + strings.Repeat("0a0000", 4) + "00", ""}, // compounds that do not end
		{"0a" + strings.Repeat("0a0000", 5) + strings.Repeat("00", 6), ""}, // deeper than 4
		{"0a 07 0000 00000100" + strings.Repeat("ff", 256) + "00", ""},     // more than 400 bytes of text
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, sound, err := typedMetadata(b, limits)
		if (err == nil) != (c.want != "") || err == nil && (string(got) != c.want || sound == strings.Contains(c.want, "_hex")) {
			t.Errorf("%s: %s, sound: %t, %v\nwant %s", c.hex, got, sound, err, c.want)
		}
		var e *formats.Error
		if err != nil && (!errors.As(err, &e) || e.Offset < headerSize || e.Offset > headerSize+int64(len(b))) {
			t.Errorf("%s: %v", c.hex, err)
		}
	}
}

// A hex view has the lines of hexdump -C, in every part.
func TestHexView(t *testing.T) {
	for n := range 40 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i*7 + 30)
		}
		whole := hex.Dump(b)
		if hexSize(int64(n)) != int64(len(whole)) {
			t.Errorf("%d bytes: %d of view, want %d", n, hexSize(int64(n)), len(whole))
		}
		for from := 0; from < n; from += hexRow {
			if got := string(hexLines(b[from:], from)); got != whole[hexSize(int64(from)):] {
				t.Errorf("from %d of %d bytes:\n%s", from, n, got)
			}
		}
	}
}
