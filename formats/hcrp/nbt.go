package hcrp

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

// The tags of NBT.
const (
	tagEnd = iota
	tagByte
	tagShort
	tagInt
	tagLong
	tagFloat
	tagDouble
	tagBytes
	tagString
	tagList
	tagCompound
	tagInts
	tagLongs
	tagCount
)

var tagNames = [tagCount]string{
	"end", "byte", "short", "int", "long", "float", "double", "bytes", "string", "list", "compound", "ints", "longs",
}

// tagSize is the least number of bytes that a payload takes.
var tagSize = [tagCount]int{0, 1, 2, 4, 8, 4, 8, 4, 2, 5, 1, 4, 4}

// An nbtDecoder turns NBT into typed JSON (docs/tree/hcrp.md section 4) while it reads, so nothing
// is built in memory but the text.
type nbtDecoder struct {
	c     *wire.Cursor
	out   []byte
	depth int  // levels that may be nested
	limit int  // bytes that the text may have
	wrong bool // a string was not modified UTF-8

	members []member // of the compounds that are open
	units   []uint16
}

// typedMetadata returns the metadata of a recording as typed JSON: a nameless compound, or else the
// older form with a name before it. The second result says whether all strings were sound.
func typedMetadata(b []byte, limits Limits) ([]byte, bool, error) {
	out, sound, err := typedRoot(b, false, limits)
	if err != nil {
		if named, ok, e := typedRoot(b, true, limits); e == nil {
			return named, ok, nil
		}
	}
	return out, sound, err
}

func typedRoot(b []byte, named bool, limits Limits) ([]byte, bool, error) {
	c := wire.NewCursor(formatName, b, headerSize)
	d := nbtDecoder{c: c, depth: limits.Depth, limit: limits.Text}
	if tag := c.U8(); tag != tagCompound && c.Err() == nil {
		c.Fail("the root is no compound but has tag %d", tag)
	}
	d.out = append(d.out, '{')
	if named {
		d.out = append(d.out, `"name":`...)
		d.out = jsonenc.AppendString(d.out, d.string(c.Bytes(int(c.U16BE()))))
		d.out = append(d.out, ',')
	}
	d.typed(tagCompound, 0)
	if n := c.Len(); n > 0 {
		c.Fail("%d bytes behind the root compound", n)
	}
	return d.out, !d.wrong, c.Err()
}

// value appends {"type":…} for a payload of the given tag.
func (d *nbtDecoder) value(tag uint8, depth int) {
	d.out = append(d.out, '{')
	d.typed(tag, depth)
}

// typed appends what follows the opening brace.
func (d *nbtDecoder) typed(tag uint8, depth int) {
	switch {
	case d.c.Err() != nil:
		return
	case tag == tagEnd || tag >= tagCount:
		d.c.Fail("unknown NBT tag %d", tag)
		return
	case depth > d.depth:
		d.c.Fail("NBT nested deeper than %d", d.depth)
		return
	case !d.checkText():
		return
	}
	d.out = append(d.out, `"type":"`...)
	d.out = append(d.out, tagNames[tag]...)
	d.out = append(d.out, '"')
	if tag == tagList {
		d.list(depth)
		return
	}
	d.out = append(d.out, `,"value":`...)
	d.payload(tag, depth)
	d.out = append(d.out, '}')
}

func (d *nbtDecoder) payload(tag uint8, depth int) {
	c := d.c
	switch tag {
	case tagByte:
		d.out = jsonenc.AppendInt(d.out, int8(c.U8()))
	case tagShort:
		d.out = jsonenc.AppendInt(d.out, int16(c.U16BE()))
	case tagInt:
		d.out = jsonenc.AppendInt(d.out, int32(c.U32BE()))
	case tagLong:
		d.out = append(jsonenc.AppendInt(append(d.out, '"'), int64(c.U64BE())), '"') // always a string
	case tagFloat:
		d.out = jsonenc.AppendFloat64(d.out, float64(math.Float32frombits(c.U32BE())))
	case tagDouble:
		d.out = jsonenc.AppendFloat64(d.out, math.Float64frombits(c.U64BE()))
	case tagString:
		raw := c.Bytes(int(c.U16BE()))
		before := d.wrong
		d.wrong = false
		d.out = jsonenc.AppendString(d.out, d.string(raw))
		if d.wrong {
			d.out = append(d.out, `,"value_hex":`...)
			d.out = jsonenc.AppendHex(d.out, raw)
		}
		d.wrong = d.wrong || before
	case tagCompound:
		d.compound(depth)
	default:
		d.array(tag)
	}
}

// array appends the elements of an array.
func (d *nbtDecoder) array(tag uint8) {
	of := map[uint8]uint8{tagBytes: tagByte, tagInts: tagInt, tagLongs: tagLong}[tag]
	n := int(int32(d.c.U32BE()))
	if d.c.Err() == nil && (n < 0 || n > d.c.Len()/tagSize[of]) {
		d.c.Fail("an NBT array of %d elements, %d bytes are left", n, d.c.Len())
	}
	d.out = append(d.out, '[')
	for i := 0; i < n && d.c.Err() == nil; i++ {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.payload(of, 0)
		d.checkText()
	}
	d.out = append(d.out, ']')
}

// checkText fails if there is more text than the limit.
func (d *nbtDecoder) checkText() bool {
	if len(d.out) <= d.limit {
		return true
	}
	d.c.Fail("NBT gives more than %d bytes of text", d.limit)
	return false
}

// list appends "of" and "value" of a list and the closing brace. A length below one is an empty
// list.
func (d *nbtDecoder) list(depth int) {
	of := d.c.U8()
	n := int(int32(d.c.U32BE()))
	switch {
	case d.c.Err() != nil:
		return
	case of >= tagCount || of == tagEnd && n > 0:
		d.c.Fail("an NBT list of %d elements with tag %d", n, of)
		return
	case n > 0 && n > d.c.Len()/tagSize[of]:
		d.c.Fail("an NBT list of %d elements, %d bytes are left", n, d.c.Len())
		return
	}
	d.out = append(d.out, `,"of":"`...)
	d.out = append(d.out, tagNames[of]...)
	d.out = append(d.out, `","value":[`...)
	for i := 0; i < n && d.c.Err() == nil; i++ {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.value(of, depth+1)
	}
	d.out = append(d.out, ']', '}')
}

// A member is where a compound's element is in the text, with its key from start to key.
type member struct{ start, key, end int }

// fewMembers is how many members of a compound are compared with each other.
const fewMembers = 16

// compound appends an object. Of elements with the same name the last stays.
func (d *nbtDecoder) compound(depth int) {
	start, base := len(d.out), len(d.members)
	for {
		tag := d.c.U8()
		if tag == tagEnd || d.c.Err() != nil {
			break
		}
		m := member{start: len(d.out)}
		d.out = append(d.out, ',')
		d.out = jsonenc.AppendString(d.out, d.string(d.c.Bytes(int(d.c.U16BE()))))
		m.key = len(d.out)
		n := len(d.members)
		d.members = append(d.members, m)
		d.out = append(d.out, ':')
		d.value(tag, depth+1)
		d.members[n].end = len(d.out)
	}
	if members := d.members[base:]; d.repeats(members) {
		d.out = lastOf(d.out, start, members)
	}
	d.members = d.members[:base]
	if len(d.out) > start {
		d.out[start] = '{' // in place of the first comma
	} else {
		d.out = append(d.out, '{')
	}
	d.out = append(d.out, '}')
}

// repeats reports whether some of the members have the same key, or are too many to look at each
// two of them.
func (d *nbtDecoder) repeats(members []member) bool {
	for i, m := range members {
		if i > fewMembers || slices.ContainsFunc(members[:i], func(o member) bool {
			return bytes.Equal(d.out[o.start:o.key], d.out[m.start:m.key])
		}) {
			return true
		}
	}
	return false
}

// lastOf returns text up to start, then of the members with the same key the last ones.
func lastOf(text []byte, start int, members []member) []byte {
	rest, last := slices.Clone(text[start:]), map[string]int{}
	key := func(m member) string { return string(rest[m.start-start : m.key-start]) }
	for i, m := range members {
		last[key(m)] = i
	}
	text = text[:start]
	for i, m := range members {
		if last[key(m)] == i {
			text = append(text, rest[m.start-start:m.end-start]...)
		}
	}
	return text
}

// string decodes modified UTF-8: U+0000 takes two bytes, characters beyond U+FFFF are two
// surrogates of three. Each wrong byte becomes U+FFFD. The result is good until the next call.
func (d *nbtDecoder) string(b []byte) []byte {
	if isASCII(b) {
		return b
	}
	d.units = d.units[:0]
	for len(b) > 0 {
		u, n := modifiedRune(b)
		if n == 0 {
			d.wrong = true
			u, n = utf8.RuneError, 1
		}
		d.units = append(d.units, u)
		b = b[n:]
	}
	return []byte(string(utf16.Decode(d.units)))
}

// modifiedRune returns the first UTF-16 unit of b and how many bytes it takes, 0 if they are wrong.
func modifiedRune(b []byte) (uint16, int) {
	more := func(i int) bool { return i < len(b) && b[i]>>6 == 2 }
	switch c := b[0]; {
	case c < 0x80:
		return uint16(c), 1
	case c>>5 == 6 && more(1):
		return uint16(c&0x1f)<<6 | uint16(b[1]&0x3f), 2
	case c>>4 == 14 && more(1) && more(2):
		return uint16(c&0x0f)<<12 | uint16(b[1]&0x3f)<<6 | uint16(b[2]&0x3f), 3
	}
	return 0, 0
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
