package hcrp

import (
	"recfs/formats/internal/jsonenc"
)

// A kind is what a value is made of (docs/formats/hcrp.md sections 1 and 9).
type kind uint8

const (
	kindBool kind = iota
	kindI8
	kindU8
	kindI16
	kindU16
	kindI32
	kindU32
	kindI64
	kindU64
	kindVarint
	kindVarlong
	kindZigzag
	kindF32
	kindF64
	kindString
	kindBytes
	kindUUID
	kindNBT
	kindBlockPos
	kindPos
	kindLpPos
	kindLpVec3
	kindEnum
	kindFlags
	kindScaled
	kindFixed
	kindOptional
	kindList
	kindMap
	kindStruct
)

func (k kind) isInteger() bool { return k >= kindI8 && k <= kindZigzag }

func (k kind) isNumber() bool { return k >= kindI8 && k <= kindF64 }

// scalars are the types that have a name, with the least bytes they take.
var scalars = map[string]struct {
	kind  kind
	least int
}{
	"bool": {kindBool, 1},
	"i8":   {kindI8, 1}, "u8": {kindU8, 1},
	"i16": {kindI16, 2}, "u16": {kindU16, 2},
	"i32": {kindI32, 4}, "u32": {kindU32, 4},
	"i64": {kindI64, 8}, "u64": {kindU64, 8},
	"f32": {kindF32, 4}, "f64": {kindF64, 8},
	"varint": {kindVarint, 1}, "varlong": {kindVarlong, 1}, "zigzag": {kindZigzag, 1},
	"string": {kindString, 1}, "bytes": {kindBytes, 1}, "uuid": {kindUUID, 16}, "nbt": {kindNBT, 2},
	"block_pos": {kindBlockPos, 8}, "pos": {kindPos, 32}, "lp_pos": {kindLpPos, 7}, "lp_vec3": {kindLpVec3, 1},
}

// A fieldType is a type of a schema.
type fieldType struct {
	kind  kind
	base  kind       // integer of an enum or flags, number of a scaled
	names []string   // of an enum or flags
	by    float64    // of a scaled
	n     int        // of a fixed
	key   *fieldType // of a map
	elem  *fieldType // of an optional, list or map
	least int        // bytes a value takes at least

	fields []field // of a struct
	gather gather  // of a list or map whose elements an Event keeps
}

// isText reports whether the value is a string, or one that may be absent.
func (t *fieldType) isText() bool {
	return t.kind == kindString || t.kind == kindOptional && t.elem.kind == kindString
}

// A field is a named value of an event or struct.
type field struct {
	name    string
	typ     *fieldType
	key     string // `,"name":`
	hexKey  string // `,"name_hex":`, for strings that are not UTF-8
	capture capture
}

func newField(name string, t *fieldType) field {
	key := func(name string) string {
		return string(append(jsonenc.AppendString([]byte{','}, name), ':'))
	}
	return field{name: name, typ: t, key: key(name), hexKey: key(name + "_hex")}
}

// A capture says which value of an event a field is.
type capture uint8

const (
	captureNone capture = iota
	captureEntity
	capturePosition // all five of pos
	captureVector   // the first three of pos
	captureX        // one of pos, in its order
	captureY
	captureZ
	captureYaw
	capturePitch
	captureAt
	captureRaw // and after it one for each element of raw
)

// The elements of an event's raw: values that are only copied. Those before the state of a block
// are the texts of an entity, in the order in which they are saved and shown.
const (
	rawType = iota
	rawVelocity
	rawPose
	rawFlags
	rawHand
	rawSlot
	rawState
	rawCount
)

// textKeys are the keys of the texts of an entity.
var textKeys = [rawState]string{`,"type":`, `,"velocity":`, `,"pose":`, `,"flags":`, `,"using":`, `,"held_slot":`}

// A gather says what the elements of a list or map are for an event.
type gather uint8

const (
	gatherNone gather = iota
	gatherItems
	gatherBlocks
)
