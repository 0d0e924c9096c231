package hcrp

import (
	"encoding/binary"
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/google/uuid"

	"recfs/formats/internal/jsonenc"
	"recfs/formats/internal/wire"
)

// A values decodes fields, one after the other, from c and appends them to out as JSON: decoding is
// what most time goes into, so a value becomes text at once and no tree of values is built.
//
// An event also keeps some values as numbers, and where the text of others lies, from which states
// and tracks are made (docs/tree/hcrp.md section 7). So the last value of each kind stays here
// until keep, which knows what the field means to the event, takes it. Only keep, list and pairs
// look at it, right after the value was decoded.
type values struct {
	limits Limits
	c      *wire.Cursor
	out    []byte
	ev     *event // being decoded
	tags   nbtDecoder
	floats *jsonenc.Floats // that were appended, nil if none are remembered

	int      int64    // of a whole number; a u64 beyond an int64 is negative
	num      float64  // of any number
	at       blockAt  // of a block_pos
	position position // of a pos, lp_pos or lp_vec3
	notUTF8  []byte   // of a string: its bytes, if they are not UTF-8

	quiet  bool // no text is wanted
	marked bool // the event is part of a published snapshot

	gathered int64 // bytes that the blocks and items of events take
}

// use makes all reads go to c.
func (d *values) use(c *wire.Cursor) { d.c, d.tags.c = c, c }

// field appends a field of an object. The comma before it is the caller's to overwrite where there
// is none.
func (d *values) field(f *field) {
	d.add(f.key)
	if d.quiet && (f.capture == captureNone || f.capture >= captureAt) && d.skip(f.typ.kind) {
		return
	}
	text := d.member(f.typ, f.hexKey)
	if f.capture != captureNone {
		d.keep(f, text)
	}
}

// member appends the value of a member whose key was appended, and a member with the exact bytes
// after it if it is a string that is not UTF-8. It returns where the value is.
func (d *values) member(t *fieldType, hexKey string) span {
	start := len(d.out)
	d.value(t)
	end := len(d.out)
	if d.notUTF8 != nil && t.isText() {
		d.add(hexKey)
		d.out = jsonenc.AppendHex(d.out, d.notUTF8)
	}
	d.notUTF8 = nil
	return newSpan(start, end)
}

// value decodes one value and appends it as JSON.
func (d *values) value(t *fieldType) {
	switch t.kind {
	case kindOptional:
		if d.c.U8() == 1 {
			d.value(t.elem)
		} else {
			d.add("null")
		}
	case kindList:
		d.list(t)
	case kindMap:
		d.pairs(t)
	case kindStruct:
		d.object(t)
	default:
		d.scalar(t)
	}
}

// scalar decodes a value that has no others in it.
func (d *values) scalar(t *fieldType) {
	c := d.c
	switch t.kind {
	case kindBool:
		d.out = jsonenc.AppendBool(d.out, c.U8() == 1)
	case kindF32, kindF64, kindScaled:
		d.float(t)
	case kindString:
		d.text(d.blob())
	case kindBytes:
		d.out = jsonenc.AppendHex(d.out, d.blob())
	case kindFixed:
		d.out = jsonenc.AppendHex(d.out, c.Bytes(t.n))
	case kindUUID:
		var id uuid.UUID
		copy(id[:], c.Bytes(len(id)))
		d.out = append(append(append(d.out, '"'), id.String()...), '"')
	case kindNBT:
		d.nbt()
	case kindBlockPos:
		d.blockPos()
	case kindPos, kindLpPos:
		d.pos(t.kind)
	case kindLpVec3:
		d.vec3()
	case kindEnum:
		d.enum(t)
	case kindFlags:
		d.flags(t)
	default:
		d.whole(t.kind)
	}
}

// whole appends a whole number.
func (d *values) whole(k kind) {
	n := d.integer(k)
	switch {
	case d.quiet:
	case d.huge(k):
		d.out = append(d.out, '"')
		d.out = jsonenc.AppendUint(d.out, uint64(n))
		d.out = append(d.out, '"')
	default:
		d.out = jsonenc.AppendInt64(d.out, n)
	}
}

// huge reports whether the whole number just decoded is beyond an int64, where integer makes it a
// negative one.
func (d *values) huge(k kind) bool { return k == kindU64 && d.int < 0 }

// integer reads a whole number.
func (d *values) integer(k kind) int64 {
	var n int64
	c := d.c
	switch k {
	case kindI8:
		n = int64(int8(c.U8()))
	case kindU8:
		n = int64(c.U8())
	case kindI16:
		n = int64(int16(c.U16BE()))
	case kindU16:
		n = int64(c.U16BE())
	case kindI32:
		n = int64(int32(c.U32BE()))
	case kindU32:
		n = int64(c.U32BE())
	case kindVarint:
		n = int64(varint(c))
	case kindVarlong:
		n = varlong(c)
	case kindZigzag:
		n = wire.Zigzag(c.Uvarint(10))
	case kindI64:
		n = int64(c.U64BE())
	case kindU64:
		n = int64(c.U64BE())
	}
	d.int, d.num = n, float64(n)
	if d.huge(k) {
		d.num = float64(uint64(n))
	}
	return n
}

// float reads a number that is not whole.
func (d *values) float(t *fieldType) {
	base := t.kind
	if t.kind == kindScaled {
		base = t.base
	}
	switch base {
	case kindF32:
		d.num = float64(math.Float32frombits(d.c.U32BE()))
	case kindF64:
		d.num = math.Float64frombits(d.c.U64BE())
	default:
		d.integer(base)
	}
	if t.kind == kindScaled {
		d.num *= t.by
	}
	if !d.quiet {
		d.out = jsonenc.AppendFloat64(d.out, d.num)
	}
}

// blob reads a varint length and that many bytes.
func (d *values) blob() []byte {
	at := d.c.Pos()
	n := int(varint(d.c))
	if n > d.limits.String {
		d.c.Fail("a string of %d bytes at %#x, %d are the limit", n, at, d.limits.String)
		return nil
	}
	return d.c.Bytes(n)
}

func (d *values) text(b []byte) {
	d.out = jsonenc.AppendString(d.out, b)
	if !utf8.Valid(b) {
		d.notUTF8 = b
	}
}

func (d *values) nbt() {
	tag := d.c.U8()
	d.tags.out = d.out
	d.tags.value(tag, 0)
	d.out = d.tags.out
}

// blockPos reads a packed block position: x in bits 38 to 63, z in bits 12 to 37, y in bits 0 to
// 11.
func (d *values) blockPos() {
	n := int64(d.c.U64BE())
	d.at = blockAt{n >> 38, n << 52 >> 52, n << 26 >> 38}
	d.out = appendBlockAt(d.out, d.at)
}

// pos reads a position with a view: plain, or quantized (docs/formats/hcrp.md section 8.1).
func (d *values) pos(k kind) {
	c := d.c
	if k == kindPos {
		if b := c.Bytes(32); b != nil {
			d.position = position{
				math.Float64frombits(binary.BigEndian.Uint64(b)),
				math.Float64frombits(binary.BigEndian.Uint64(b[8:])),
				math.Float64frombits(binary.BigEndian.Uint64(b[16:])),
				float64(math.Float32frombits(binary.BigEndian.Uint32(b[24:]))),
				float64(math.Float32frombits(binary.BigEndian.Uint32(b[28:]))),
			}
		}
	} else {
		for i := range 3 {
			d.position[i] = float64(wire.Zigzag(c.Uvarint(10))) / 4096
		}
		for i := 3; i < 5; i++ {
			d.position[i] = float64(int16(c.U16BE())) * 360 / 65536
		}
	}
	d.place(d.position[:])
}

// quantized reads the bits of a quantized vector and their scale; no bit is set in the zero vector.
func quantized(c *wire.Cursor) (packed, scale uint64) {
	b0 := c.U8()
	if b0 == 0 {
		return 0, 0
	}
	b1, w := c.U8(), c.U32BE()
	packed = uint64(w)<<16 | uint64(b1)<<8 | uint64(b0)
	scale = packed & 3
	if packed&4 != 0 {
		scale |= uint64(uint32(varint(c))) << 2
	}
	return packed, scale
}

// vec3 reads a quantized vector (docs/formats/hcrp.md section 8.2).
func (d *values) vec3() {
	var v [3]float64
	if packed, scale := quantized(d.c); packed != 0 {
		for i := range v {
			q := min(packed>>(3+15*i)&0x7fff, 32766)
			v[i] = (float64(q)*2/32766 - 1) * float64(scale)
		}
	}
	d.position = position{v[0], v[1], v[2]}
	d.place(v[:])
}

// enum reads an ordinal, shown as its name or else as the number.
func (d *values) enum(t *fieldType) {
	start := len(d.out)
	d.whole(t.base)
	if n := d.int; n >= 0 && n < int64(len(t.names)) {
		d.out = jsonenc.AppendString(d.out[:start], t.names[n])
	}
}

// flags reads bits, shown as the names of the set ones.
func (d *values) flags(t *fieldType) {
	bits := uint64(d.integer(t.base))
	switch t.base {
	case kindI8:
		bits &= math.MaxUint8
	case kindI16:
		bits &= math.MaxUint16
	case kindI32, kindVarint:
		bits &= math.MaxUint32
	}
	d.out = append(d.out, '[')
	for i, first := 0, true; bits != 0; i, bits = i+1, bits>>1 {
		if bits&1 == 0 {
			continue
		}
		if !first {
			d.out = append(d.out, ',')
		}
		first = false
		if i < len(t.names) {
			d.out = jsonenc.AppendString(d.out, t.names[i])
		} else {
			d.out = append(append(d.out, '"'), "bit"...)
			d.out = append(jsonenc.AppendInt(d.out, i), '"')
		}
	}
	d.out = append(d.out, ']')
}

// count reads the number of elements of at least the given size that a list or map claims to have.
func (d *values) count(least int) int {
	n := int(varint(d.c))
	if d.c.Err() == nil && (n < 0 || n > d.c.Len()/least) {
		d.c.Fail("%d elements, %d bytes are left", n, d.c.Len())
	}
	return n
}

func (d *values) list(t *fieldType) {
	n := d.count(t.elem.least)
	d.add("[")
	for i := 0; i < n && d.more(); i++ {
		if i > 0 {
			d.add(",")
		}
		d.value(t.elem)
		if t.gather == gatherBlocks {
			d.ev.blocks = append(d.ev.blocks, block{d.ev.at, d.ev.raw[rawState]})
			d.gathered += int64(unsafe.Sizeof(block{}))
		}
	}
	d.add("]")
}

func (d *values) pairs(t *fieldType) {
	n := d.count(t.key.least + t.elem.least)
	d.add("[")
	for i := 0; i < n && d.more(); i++ {
		if i > 0 {
			d.add(",")
		}
		d.add(`{"key":`)
		d.member(t.key, `,"key_hex":`)
		key, hugeKey := d.int, d.huge(t.key.kind)
		d.add(`,"value":`)
		text := d.member(t.elem, `,"value_hex":`)
		if t.gather == gatherItems && !hugeKey {
			d.ev.items = append(d.ev.items, item{key, text})
			d.gathered += int64(unsafe.Sizeof(item{}))
		}
		d.add("}")
	}
	d.add("]")
}

func (d *values) object(t *fieldType) {
	start := len(d.out)
	for i := range t.fields {
		d.field(&t.fields[i])
	}
	if len(t.fields) == 0 {
		d.add("{")
	} else if !d.quiet {
		d.out[start] = '{' // in place of the first comma
	}
	d.add("}")
}
