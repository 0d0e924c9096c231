package hcrp

import (
	"crypto/sha256"
	_ "embed"
	"slices"

	"recfs/formats/internal/jsonenc"
)

const (
	schemaFormat  = "recording-schema/1"
	maxSchemaDeep = 16
)

// A Schema describes the events of a host (docs/formats/hcrp.md section 9).
type Schema struct {
	Name   string
	Layout Layout // "": any
	Vers   []int  // empty: any

	length  lengthKind
	small   [64]*eventDef // by id, for the ids that fit
	byID    map[int32]*eventDef
	section map[int32]*eventDef // entries of a snapshot section; nil: not described
	leading []patternItem       // snapshot of leading events; nil: not described

	sum     [sha256.Size]byte // of the file
	builtin bool
}

// A lengthKind says what is before a payload.
type lengthKind uint8

const (
	lengthNone lengthKind = iota
	lengthVarint
	lengthI32
)

// An eventDef describes one event, or one entry of a snapshot section.
type eventDef struct {
	ID     int32
	Name   string
	Role   string
	fields []field
	entity int    // which of them is called that and may be a whole number, -1: none
	head   string // the JSON up to the first field
}

type patternItem struct {
	id   int32
	many bool
}

// Roles of a schema, and the events that every schema names alike.
const (
	rolePlace  = "place"
	roleMove   = "move"
	roleSpawn  = "spawn"
	roleRemove = "remove"
	roleBlock  = "block"
	roleBlocks = "blocks"
	roleClear  = "clear_blocks"
	roleMarker = "marker"

	eventState = "entity_state"
	eventUse   = "item_use"
	eventItems = "set_item"
	eventSlot  = "change_held_slot"
)

// Fits reports whether the schema is meant for such recordings. Published files never have payload
// lengths.
func (s *Schema) Fits(h *Header) bool {
	return s.usable(h) && (s.Layout == "" || s.Layout == h.Layout) &&
		(len(s.Vers) == 0 || slices.Contains(s.Vers, h.Version))
}

// usable reports whether the schema can be applied at all.
func (s *Schema) usable(h *Header) bool {
	return h.Layout == Design || s.length == lengthNone
}

// describes reports whether the schema says what snapshots of that layout are.
func (s *Schema) describes(l Layout) bool {
	if l == Design {
		return s.section != nil
	}
	return s.leading != nil
}

func (s *Schema) event(id int32) *eventDef {
	if id >= 0 && int(id) < len(s.small) {
		return s.small[id]
	}
	return s.byID[id]
}

// appendHead appends the start of an event's object.
func appendHead(dst []byte, noun, name string, id int32) []byte {
	dst = append(append(append(dst, `{"`...), noun...), `":`...)
	dst = jsonenc.AppendString(dst, name)
	dst = append(dst, `,"id":`...)
	return jsonenc.AppendInt(dst, id)
}

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

// bindCaptures marks the fields of an event that its role or name gives a meaning.
func bindCaptures(def *eventDef) {
	wanted := map[string]capture{"entity": captureEntity, "velocity": captureRaw + rawVelocity}
	switch def.Role {
	case roleSpawn, rolePlace:
		wanted["position"] = capturePosition
		wanted["type"] = captureRaw + rawType
	case roleMove:
		wanted["delta"] = capturePosition
		wanted["dx"], wanted["dy"], wanted["dz"] = captureX, captureY, captureZ
		wanted["yaw"], wanted["pitch"] = captureYaw, capturePitch
	case roleBlock:
		wanted["at"], wanted["state"] = captureAt, captureRaw+rawState
	}
	switch def.Name {
	case eventState:
		wanted["pose"], wanted["flags"] = captureRaw+rawPose, captureRaw+rawFlags
	case eventUse:
		wanted["hand"] = captureRaw + rawHand
	case eventSlot:
		wanted["slot"] = captureRaw + rawSlot
	}
	for i := range def.fields {
		f := &def.fields[i]
		if c := wanted[f.name]; c.suits(f.typ) {
			f.capture = c
			bindView(f)
			if c == capturePosition && f.typ.kind == kindLpVec3 {
				f.capture = captureVector
			}
		}
		if def.Name == eventItems && f.name == "items" && f.typ.kind == kindMap && f.typ.key.kind.isInteger() {
			f.typ.gather = gatherItems
		}
		if def.Role == roleBlocks {
			bindBlocks(f.typ)
		}
	}
}

// suits reports whether a value of that type can be what c stands for.
func (c capture) suits(t *fieldType) bool {
	switch c {
	case captureEntity:
		return t.kind.isInteger()
	case capturePosition:
		return t.kind == kindPos || t.kind == kindLpPos || t.kind == kindLpVec3 || t.kind == kindStruct
	case captureX, captureY, captureZ, captureYaw, capturePitch:
		return t.kind.isNumber() || t.kind == kindScaled
	case captureAt:
		return t.kind == kindBlockPos
	}
	return true
}

// bindView marks the coordinates in a position that is a struct.
func bindView(f *field) {
	if f.capture != capturePosition || f.typ.kind != kindStruct {
		return
	}
	f.capture = captureNone
	names := map[string]capture{"x": captureX, "y": captureY, "z": captureZ, "yaw": captureYaw, "pitch": capturePitch}
	for i := range f.typ.fields {
		g := &f.typ.fields[i]
		if c := names[g.name]; c.suits(g.typ) {
			g.capture = c
		}
	}
}

// bindBlocks marks a list of structs with at and state.
func bindBlocks(t *fieldType) {
	if t.kind != kindList || t.elem.kind != kindStruct {
		return
	}
	at, state := false, false
	for i := range t.elem.fields {
		switch f := &t.elem.fields[i]; {
		case f.name == "at" && f.typ.kind == kindBlockPos:
			f.capture, at = captureAt, true
		case f.name == "state":
			f.capture, state = captureRaw+rawState, true
		}
	}
	if at && state {
		t.gather = gatherBlocks
	}
}
