package hcrp

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
)

// A testRecording is what the test writer writes.
type testRecording struct {
	layout   Layout
	version  int
	metadata []byte
	chunks   []testChunk
	dict     uint16
	options  []zstd.EOption
}

type testChunk struct {
	start, ticks int
	flags        byte
	body         []byte
	lines        string // what lines/ must show
}

func (r *testRecording) header(index, ticks int) []byte {
	h := make([]byte, 0, headerSize)
	h = append(h, magic...)
	if r.layout == Published {
		h = binary.BigEndian.AppendUint16(h, uint16(r.version))
	} else {
		h = append(h, byte(r.version))
	}
	h = append(h, 0, 0)
	h = append(h, "0123456789abcdef"...)
	if r.layout == Published {
		h = append(h, 4)
		h = append(h, "vers"...)
	} else {
		h = append(h, "fedcba9876543210"...)
	}
	h = binary.BigEndian.AppendUint64(h, 1786300000000)
	h = binary.BigEndian.AppendUint16(h, r.dict)
	for _, n := range []int{len(r.metadata), index, ticks, len(r.chunks)} {
		h = binary.BigEndian.AppendUint32(h, uint32(n))
	}
	if r.layout == Published {
		h = binary.BigEndian.AppendUint32(h, 4903)
	}
	return append(h, make([]byte, headerSize-len(h))...)
}

func (r *testRecording) ticks() (n int) {
	for _, c := range r.chunks {
		if r.layout == Design {
			n = max(n, c.start+c.ticks)
		} else {
			n += c.ticks
		}
	}
	return n
}

func (r *testRecording) frames(t testing.TB) [][]byte {
	enc, err := zstd.NewWriter(nil, append([]zstd.EOption{
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true),
	}, r.options...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	var frames [][]byte
	for _, c := range r.chunks {
		frames = append(frames, enc.EncodeAll(c.body, nil))
	}
	return frames
}

// preamble returns header, metadata and index for chunks at these offsets.
func (r *testRecording) preamble(frames [][]byte, offset func(i int) int64) []byte {
	var index []byte
	for i, c := range r.chunks {
		index = appendVarint(index, int64(c.start))
		index = appendVarint(index, int64(c.ticks))
		index = append(index, c.flags)
		index = binary.BigEndian.AppendUint64(index, uint64(offset(i)))
		index = appendVarint(index, int64(len(frames[i])))
		index = appendVarint(index, int64(len(c.body)))
	}
	out := append(r.header(len(index), r.ticks()), r.metadata...)
	return append(out, index...)
}

// file returns the recording compacted.
func (r *testRecording) file(t testing.TB) []byte {
	frames := r.frames(t)
	size := int64(len(r.preamble(frames, func(int) int64 { return 0 })))
	offsets := make([]int64, len(frames))
	for i, f := range frames {
		offsets[i] = size
		size += int64(len(f))
	}
	out := r.preamble(frames, func(i int) int64 { return offsets[i] })
	for _, f := range frames {
		out = append(out, f...)
	}
	return out
}

// segments returns the recording in segments of so many chunks each.
func (r *testRecording) segments(t testing.TB, each int) fstest.MapFS {
	frames := r.frames(t)
	fsys := fstest.MapFS{}
	offsets := make([]int64, len(frames))
	for i, f := range frames {
		name := segmentName(int64(i / each))
		if fsys[name] == nil {
			fsys[name] = &fstest.MapFile{ModTime: testTime}
		}
		offsets[i] = int64(i/each)<<32 | int64(len(fsys[name].Data))
		fsys[name].Data = append(fsys[name].Data, f...)
	}
	fsys[preambleName] = &fstest.MapFile{Data: r.preamble(frames, func(i int) int64 { return offsets[i] }), ModTime: testTime}
	return fsys
}

// A generator makes random recordings and says what they must be shown as.
type generator struct {
	*rand.Rand
	schema *Schema
}

// recording returns a recording of the schema with some chunks of some ticks.
func (g *generator) recording(layout Layout, version, chunks, ticks int) *testRecording {
	r := &testRecording{layout: layout, version: version, metadata: []byte{10, 0}}
	start := 0
	for range chunks {
		c := g.chunk(layout, start, 1+g.IntN(ticks))
		r.chunks = append(r.chunks, c)
		start += c.ticks
		if layout == Design && g.IntN(3) == 0 {
			start += g.IntN(50)
		}
	}
	return r
}

func (g *generator) chunk(layout Layout, start, ticks int) testChunk {
	c := testChunk{start: start, ticks: ticks}
	if layout == Published || g.schema.section != nil && g.IntN(2) == 0 {
		c.flags = flagSnapshot
	}
	if layout == Design && c.flags != 0 {
		section := g.section()
		c.body = append(appendVarint(c.body, int64(len(section))), section...)
	}
	for i := range ticks {
		n := 0
		if g.IntN(3) > 0 {
			n = g.IntN(4)
		}
		if layout == Design && n == 0 && g.IntN(4) > 0 {
			continue
		}
		number := i
		if layout == Published {
			number += start
		}
		c.body = appendVarint(c.body, int64(number))
		payloads, texts := g.events(n, i == 0 && c.flags != 0 && layout == Published)
		c.body = binary.BigEndian.AppendUint16(c.body, uint16(len(payloads)))
		for _, p := range payloads {
			c.body = append(c.body, p...)
		}
		if len(texts) > 0 {
			c.lines += fmt.Sprintf("{\"tick\":%d,\"time_ms\":%d,\"events\":[%s]}\n", start+i, (start+i)*50, strings.Join(texts, ","))
		}
	}
	return c
}

var leadingPattern = regexp.MustCompile(`^(8 )*(2 )*(5 )*(4 )*14 (7 )*`)

// events returns n events and their JSON; those of a snapshot are in front and marked.
func (g *generator) events(n int, snapshot bool) (payloads [][]byte, texts []string) {
	var ids []int32
	if snapshot && g.IntN(4) > 0 {
		for _, id := range []int32{8, 2, 5, 4, 14, 7} {
			for k := range 1 + g.IntN(2) {
				if id != 14 || k == 0 {
					ids = append(ids, id)
				}
			}
		}
	}
	for range n {
		ids = append(ids, g.id())
	}
	var list strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&list, "%d ", id)
	}
	marked := 0
	if snapshot {
		marked = strings.Count(leadingPattern.FindString(list.String()), " ")
	}
	for i, id := range ids {
		def := g.schema.event(id)
		b, text := g.fields(def.fields)
		text = fmt.Sprintf(`{"event":%s,"id":%d%s}`, quote(def.Name), id, text)
		if i < marked {
			text = strings.TrimSuffix(text, "}") + `,"snapshot":true}`
		}
		payloads = append(payloads, append(appendVarint(nil, int64(id)), b...))
		texts = append(texts, text)
	}
	return payloads, texts
}

func (g *generator) id() int32 {
	for {
		id := int32(g.IntN(len(g.schema.byID) + 1))
		if g.schema.byID[id] != nil {
			return id
		}
	}
}

func (g *generator) section() (b []byte) {
	for id, def := range g.schema.section {
		payload, _ := g.fields(def.fields)
		b = append(append(appendVarint(b, int64(id)), payload...), nil...)
	}
	return b
}

func (g *generator) fields(fields []field) (b []byte, text string) {
	for i := range fields {
		v, js := g.value(fields[i].typ)
		if fields[i].name == "entity" { // so that entities meet again
			n := g.IntN(4)
			v, js = []byte{byte(n)}, fmt.Sprint(n)
		}
		b = append(b, v...)
		text += fmt.Sprintf(",%s:%s", quote(fields[i].name), js)
	}
	return b, text
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return `"NaN"`
	case math.IsInf(x, 0):
		return `"` + strings.Replace(fmt.Sprintf("%+v", x), "Inf", "Infinity", 1)[map[bool]int{true: 1, false: 0}[x > 0]:] + `"`
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// value returns a random value of a type and its JSON.
func (g *generator) value(t *fieldType) ([]byte, string) {
	switch t.kind {
	case kindBool:
		n := g.IntN(2)
		return []byte{byte(n)}, []string{"false", "true"}[n]
	case kindVarint:
		n := int32(g.Uint32())
		return appendVarint(nil, int64(n)), fmt.Sprint(n)
	case kindVarlong:
		n := g.Int64N(1<<54) - 1<<53
		return binary.AppendUvarint(nil, uint64(n)), fmt.Sprint(n)
	case kindU8:
		n := g.IntN(256)
		return []byte{byte(n)}, fmt.Sprint(n)
	case kindU16:
		n := g.IntN(1 << 16)
		return binary.BigEndian.AppendUint16(nil, uint16(n)), fmt.Sprint(n)
	case kindF32:
		x := float32(g.NormFloat64() * 100)
		return binary.BigEndian.AppendUint32(nil, math.Float32bits(x)), number(float64(x))
	case kindString:
		s := []string{"", "cp-1-🏁", "a\"b\\c\n", "<&>", "ü"}[g.IntN(5)]
		return append(appendVarint(nil, int64(len(s))), s...), quote(s)
	case kindUUID:
		b := []byte("0123456789abcdef")
		return b, `"30313233-3435-3637-3839-616263646566"`
	case kindFixed:
		b := make([]byte, t.n)
		for i := range b {
			b[i] = byte(g.Uint32())
		}
		return b, fmt.Sprintf("%q", fmt.Sprintf("%x", b))
	case kindNBT:
		n := int8(g.IntN(256))
		return []byte{10, 8, 0, 2, 'i', 'd', 0, 1, 'x', 1, 0, 0, byte(n), 0},
			fmt.Sprintf(`{"type":"compound","value":{"id":{"type":"string","value":"x"},"":{"type":"byte","value":%d}}}`, n)
	case kindBlockPos:
		x, y, z := g.Int64N(1<<26)-1<<25, g.Int64N(1<<12)-1<<11, g.Int64N(1<<26)-1<<25
		return binary.BigEndian.AppendUint64(nil, uint64(x)<<38|uint64(z)&(1<<26-1)<<12|uint64(y)&(1<<12-1)),
			fmt.Sprintf(`{"x":%d,"y":%d,"z":%d}`, x, y, z)
	}
	return g.composite(t)
}

func (g *generator) composite(t *fieldType) ([]byte, string) {
	switch t.kind {
	case kindPos:
		var b []byte
		var s []any
		for range 3 {
			x := g.NormFloat64() * 1000
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
			s = append(s, number(x))
		}
		for range 2 {
			x := float32(g.NormFloat64() * 90)
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(x))
			s = append(s, number(float64(x)))
		}
		return b, fmt.Sprintf(`{"x":%s,"y":%s,"z":%s,"yaw":%s,"pitch":%s}`, s...)
	case kindLpPos:
		var b []byte
		var s []any
		for range 3 {
			n := g.Int64N(1<<16) - 1<<15
			b = binary.AppendVarint(b, n)
			s = append(s, number(float64(n)/4096))
		}
		for range 2 {
			n := int16(g.Uint32())
			b = binary.BigEndian.AppendUint16(b, uint16(n))
			s = append(s, number(float64(n)*360/65536))
		}
		return b, fmt.Sprintf(`{"x":%s,"y":%s,"z":%s,"yaw":%s,"pitch":%s}`, s...)
	case kindLpVec3:
		if g.IntN(3) == 0 {
			return []byte{0}, `{"x":0,"y":0,"z":0}`
		}
		packed := g.Uint64()&^7 | 1
		scale := uint64(1)
		b := []byte{byte(packed), byte(packed >> 8)}
		if g.IntN(2) == 0 {
			packed |= 4
			b[0] |= 4
		}
		b = binary.BigEndian.AppendUint32(b, uint32(packed>>16))
		if packed&4 != 0 {
			up := g.IntN(300)
			scale |= uint64(up) << 2
			b = appendVarint(b, int64(up))
		}
		c := func(shift int) string {
			return number((math.Min(float64(packed>>shift&32767), 32766)*2/32766 - 1) * float64(scale))
		}
		return b, fmt.Sprintf(`{"x":%s,"y":%s,"z":%s}`, c(3), c(18), c(33))
	case kindEnum:
		n := g.IntN(len(t.names) + 2)
		if n >= len(t.names) {
			return []byte{byte(n)}, fmt.Sprint(n)
		}
		return []byte{byte(n)}, quote(t.names[n])
	case kindFlags:
		n := g.IntN(256)
		var set []string
		for i := range 8 {
			if n>>i&1 == 1 {
				set = append(set, quote(t.names[i]))
			}
		}
		return []byte{byte(n)}, "[" + strings.Join(set, ",") + "]"
	case kindScaled:
		n := int16(g.Uint32())
		if t.base == kindI8 {
			n = int16(int8(n))
			return []byte{byte(n)}, number(float64(n) * t.by)
		}
		return binary.BigEndian.AppendUint16(nil, uint16(n)), number(float64(n) * t.by)
	}
	return g.nested(t)
}

func (g *generator) nested(t *fieldType) ([]byte, string) {
	switch t.kind {
	case kindOptional:
		if g.IntN(2) == 0 {
			return []byte{0}, "null"
		}
		b, s := g.value(t.elem)
		return append([]byte{1}, b...), s
	case kindStruct:
		b, s := g.fields(t.fields)
		return b, "{" + strings.TrimPrefix(s, ",") + "}"
	}
	n := g.IntN(4)
	b := appendVarint(nil, int64(n))
	var list []string
	for range n {
		v, s := g.value(t.elem)
		if t.kind == kindMap {
			key := g.IntN(50)
			b = appendVarint(b, int64(key))
			s = fmt.Sprintf(`{"key":%d,"value":%s}`, key, s)
		}
		b = append(b, v...)
		list = append(list, s)
	}
	return b, "[" + strings.Join(list, ",") + "]"
}
