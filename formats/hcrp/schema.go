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
