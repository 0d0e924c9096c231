package datafile

import (
	"encoding/binary"
	"strconv"

	"github.com/google/uuid"
)

// Item types of a map.
const (
	typeVersion = iota
	typeInfo
	typeImage
	typeEnvelope
	typeGroup
	typeLayer
	typeEnvPoints
	typeSound
)

// The numbers of UUID types inside one file.
const (
	firstUUIDType = 0x8001
	lastUUIDType  = 0xfffe
	uuidIndexSize = 16
)

var typeNames = map[uint16]string{
	typeVersion:   "version",
	typeInfo:      "info",
	typeImage:     "image",
	typeEnvelope:  "envelope",
	typeGroup:     "group",
	typeLayer:     "layer",
	typeEnvPoints: "envpoints",
	typeSound:     "sound",
	typeUUIDIndex: "uuid-index",
}

const (
	nameAutoMapper = "automapper-config"
	nameBezier     = "envpoints-bezier"
)

var uuidNames = map[uuid.UUID]string{
	uuid.MustParse("3e1b2716-178c-3978-9bd9-b11ae0410dd8"): nameAutoMapper,
	uuid.MustParse("3ab4f84d-d9cc-3c78-b585-0d6ccdb2e25c"): nameBezier,
}

// A uuidType is what the type index says about a number. Of two numbers with one UUID only the
// first owns it.
type uuidType struct {
	id    uuid.UUID
	owner bool
}

// readUUIDIndex reads the items of type 0xffff. The first one for a number counts; those that are
// too short or for other numbers are ignored.
func (t *Tables) readUUIDIndex() map[uint16]uuidType {
	types := map[uint16]uuidType{}
	owned := map[uuid.UUID]bool{}
	start, end := t.ItemsOf(typeUUIDIndex)
	for i := start; i < end; i++ {
		number := t.Items[i].ID
		id, ok := indexedUUID(t.ItemData(i))
		if _, again := types[number]; !ok || again || number < firstUUIDType || number > lastUUIDType {
			continue
		}
		types[number] = uuidType{id, !owned[id]}
		owned[id] = true
	}
	return types
}

// indexedUUID returns the UUID in an item of the type index: four ints with the most significant
// byte of each first.
func indexedUUID(item []byte) (id uuid.UUID, ok bool) {
	if len(item) < uuidIndexSize {
		return id, false
	}
	for i := 0; i < len(id); i += 4 {
		binary.BigEndian.PutUint32(id[i:], binary.LittleEndian.Uint32(item[i:]))
	}
	return id, true
}

// UUID returns the UUID that the type index gives for a type.
func (t *Tables) UUID(typ uint16) (id uuid.UUID, ok bool) {
	u, ok := t.uuids[typ]
	return u.id, ok
}

// TypeName returns the name of a type in paths.
func (t *Tables) TypeName(typ uint16) string {
	if name, ok := typeNames[typ]; ok {
		return name
	}
	u := t.uuids[typ]
	if !u.owner {
		return strconv.Itoa(int(typ))
	}
	if name, ok := uuidNames[u.id]; ok {
		return name
	}
	return u.id.String()
}

// itemsNamed is ItemsOf for a UUID type.
func (t *Tables) itemsNamed(name string) (start, end int) {
	for _, typ := range t.Types {
		if t.TypeName(typ.ID) == name {
			return typ.Start, typ.Start + typ.Num
		}
	}
	return 0, 0
}
