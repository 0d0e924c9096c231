package hcrp

import (
	"cmp"

	"recfs/formats/internal/jsonenc"
)

// A span is a piece of a chunk's text, or of its body. The zero span is none.
type span struct{ start, end uint32 }

func newSpan(start, end int) span { return span{uint32(start), uint32(end)} }

// A position is x, y, z, yaw and pitch; of a move, how far and whereto.
type position [5]float64

// A blockAt is where a block is.
type blockAt struct{ x, y, z int64 }

func (a blockAt) compare(b blockAt) int {
	return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y), cmp.Compare(a.z, b.z))
}

type (
	item struct {
		slot int64
		text span
	}
	block struct {
		at    blockAt
		state span
	}
)

// An event is one decoded event, or entry of a snapshot section: its text, and the values that
// change the world (docs/tree/hcrp.md section 7).
type event struct {
	def  *eventDef // nil: unknown id, or a payload that does not fit
	text span      // the whole object

	has    uint16 // bits 1<<capture…, of the values that were decoded
	entity int64
	pos    position
	at     blockAt
	raw    [rawCount]span
	items  []item
	blocks []block
}

func (e *event) hasAll(list ...capture) bool {
	for _, c := range list {
		if e.has&(1<<c) == 0 {
			return false
		}
	}
	return true
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
	captureRaw // and behind it one for each element of raw
)

// The elements of an event's raw: values that are only copied.
const (
	rawVelocity = iota
	rawType
	rawState
	rawPose
	rawFlags
	rawHand
	rawSlot
	rawCount
)

// A gather says what the elements of a list or map are for an event.
type gather uint8

const (
	gatherNone gather = iota
	gatherItems
	gatherBlocks
)

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

// bindCaptures marks the fields of an event that its role or name gives a
// meaning.
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

// suits tells whether a value of that type can be what c stands for.
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

// keep stores the value of a field just decoded in the event.
func (d *decoder) keep(f *field, text span) {
	e, c := d.ev, f.capture
	if c == captureEntity && d.huge(f.typ.kind) {
		return
	}
	e.has |= 1 << min(c, captureRaw)
	switch {
	case c >= captureRaw:
		e.raw[c-captureRaw] = text
	case c == captureEntity:
		e.entity = d.int
	case c == captureAt:
		e.at = d.at
	case c == capturePosition:
		e.pos = d.position
		e.has |= 1<<captureX | 1<<captureY | 1<<captureZ | 1<<captureYaw | 1<<capturePitch
	case c == captureVector:
		e.pos = d.position
		e.has |= 1<<captureX | 1<<captureY | 1<<captureZ
	default:
		e.pos[c-captureX] = d.num
	}
}

// appendHead appends the start of an event's object.
func appendHead(dst []byte, noun, name string, id int32) []byte {
	dst = append(append(append(dst, `{"`...), noun...), `":`...)
	dst = jsonenc.String(dst, name)
	dst = append(dst, `,"id":`...)
	return jsonenc.Int(dst, id)
}

// begin makes room for an event at the end of list and lets d fill it.
func (d *decoder) begin(list []event, def *eventDef) []event {
	list = append(list, event{def: def, text: span{start: uint32(len(d.out))}})
	d.ev = &list[len(list)-1]
	return list
}

// fields decodes the payload of the event and appends the whole object.
func (d *decoder) fields() {
	d.out = append(d.out, d.ev.def.head...)
	for i := range d.ev.def.fields {
		d.field(&d.ev.def.fields[i])
	}
	d.end()
}

// unknown appends an event of which only the length is known.
func (d *decoder) unknown(id int32, payload []byte) {
	*d.ev = event{text: d.ev.text}
	d.out = appendHead(d.out, "event", "unknown", id)
	d.out = append(d.out, `,"length":`...)
	d.out = jsonenc.Int(d.out, len(payload))
	d.out = append(d.out, `,"raw":`...)
	d.out = jsonenc.Hex(d.out, payload)
	d.end()
}

// end ends the object of the event.
func (d *decoder) end() {
	d.out = append(d.out, '}')
	d.ev.text.end = uint32(len(d.out))
}

// shift moves all spans of the event by n bytes.
func (e *event) shift(n uint32) {
	e.text.shift(n)
	for i := range e.raw {
		e.raw[i].shift(n)
	}
	for i := range e.items {
		e.items[i].text.shift(n)
	}
	for i := range e.blocks {
		e.blocks[i].state.shift(n)
	}
}

// shift moves a span that is set.
func (s *span) shift(n uint32) {
	if s.end > 0 {
		s.start += n
		s.end += n
	}
}
