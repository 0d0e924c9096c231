package datafile

import (
	"encoding/binary"
	"strconv"

	"github.com/google/uuid"
)

const (
	headerSize    = 36
	typeSize      = 12 // an entry of the item type table
	itemHeadSize  = 8  // key and size before the ints of an item
	maxItemTypes  = 1 << 16
	typeUUIDIndex = 0xffff
)

// A Header holds the first 36 bytes (docs/formats/datafile.md section A.1).
type Header struct {
	Magic string `json:"magic"`
	HeaderInts
}

// HeaderInts are the fields after the magic, as they are stored.
type HeaderInts struct {
	Version      int32 `json:"version"`
	Size         int32 `json:"size"`
	Swaplen      int32 `json:"swaplen"`
	NumItemTypes int32 `json:"num_item_types"`
	NumItems     int32 `json:"num_items"`
	NumData      int32 `json:"num_data"`
	ItemSize     int32 `json:"item_size"`
	DataSize     int32 `json:"data_size"`
}

// An ItemType is an entry of the item type table: items Start to Start+Num-1 are of type ID.
type ItemType struct {
	ID         uint16
	Start, Num int
}

// An Item is a typed list of ints. Offset is that of its 8-byte header in the file, Size the length
// of the ints in bytes.
type Item struct {
	Offset   int64
	Size     int32
	Type, ID uint16
	repeat
}

// A repeat says of an item which one is the first of its type and id, and how many are before it.
type repeat struct{ first, before int32 }

// A Data is an entry of the data tables. Offset is that of the stored bytes in the file, Size the
// announced length of the content.
type Data struct {
	Offset, Stored, Size int64
}

// offsetsAt and what follows: the parts after the header lie in this order, each as long as the
// counts say.
func (h *Header) offsetsAt() int64     { return headerSize + typeSize*int64(h.NumItemTypes) }
func (h *Header) dataOffsetsAt() int64 { return h.offsetsAt() + 4*int64(h.NumItems) }
func (h *Header) dataSizesAt() int64   { return h.dataOffsetsAt() + 4*int64(h.NumData) }
func (h *Header) itemsAt() int64       { return h.dataSizesAt() + h.dataSizesLen() }
func (h *Header) dataAt() int64        { return h.itemsAt() + int64(h.ItemSize) }

// dataSizesLen is the length of the table that only version 4 has.
func (h *Header) dataSizesLen() int64 {
	if h.Version < 4 {
		return 0
	}
	return 4 * int64(h.NumData)
}

// sizeEntry is the offset of the table entry that gives data item i its size.
func (h *Header) sizeEntry(i int) int64 {
	if h.Version < 4 {
		return h.dataOffsetsAt() + 4*int64(i)
	}
	return h.dataSizesAt() + 4*int64(i)
}

// Total is the length of the file that the counts announce.
func (h *Header) Total() int64 { return h.dataAt() + int64(h.DataSize) }

func isMagic(b []byte) bool {
	return len(b) >= 4 && (string(b[:4]) == "DATA" || string(b[:4]) == "ATAD")
}

func int32At(b []byte, at int64) int32 { return int32(binary.LittleEndian.Uint32(b[at:])) }

func parseHeader(b []byte) (Header, error) {
	if len(b) < headerSize {
		return Header{}, tooShort(int64(len(b)), headerSize)
	}
	if !isMagic(b) {
		return Header{}, corrupt(0, "magic is %q, expected DATA or ATAD", b[:4])
	}
	h := Header{Magic: string(b[:4])}
	if _, err := binary.Decode(b[4:], binary.LittleEndian, &h.HeaderInts); err != nil {
		return Header{}, err
	}
	if err := checkVersion(h.Version); err != nil {
		return Header{}, err
	}
	for i, name := range []string{"size", "swaplen", "num_item_types", "num_items", "num_data", "item_size", "data_size"} {
		at := 8 + 4*int64(i)
		if v := int32At(b, at); v < 0 {
			return Header{}, corrupt(at, "%s is %d", name, v)
		}
	}
	if h.NumItemTypes > maxItemTypes {
		return Header{}, corrupt(16, "num_item_types is %d, at most %d are possible", h.NumItemTypes, maxItemTypes)
	}
	if h.ItemSize%4 != 0 {
		return Header{}, corrupt(28, "item_size is %d, not a multiple of 4", h.ItemSize)
	}
	return h, nil
}

func checkVersion(v int32) error {
	if v == 3 || v == 4 {
		return nil
	}
	hint := ""
	if v == 3<<24 || v == 4<<24 {
		hint = ", integers look big-endian"
	}
	return unsupported(4, "version %d%s, expected 3 or 4", v, hint)
}

// parse reads everything between the header and the data part. b is the file up to there.
func (t *Tables) parse(b []byte) error {
	if err := t.parseItems(b); err != nil {
		return err
	}
	if err := t.parseTypes(b); err != nil {
		return err
	}
	return t.parseData(b)
}

// parseItems follows the items through the items part; the offset table must repeat what their
// sizes add up to.
func (t *Tables) parseItems(b []byte) error {
	h := &t.Header
	base, end := h.itemsAt(), h.dataAt()
	t.Items = make([]Item, h.NumItems)
	next := base
	for i := range t.Items {
		entry := h.offsetsAt() + 4*int64(i)
		if got := int64(int32At(b, entry)); got != next-base {
			return corrupt(entry, "item %d has offset %d, expected %d", i, got, next-base)
		}
		if next+itemHeadSize > end {
			return corrupt(entry, "item %d at offset %d is outside of the items part of %d bytes", i, next-base, h.ItemSize)
		}
		it := Item{
			ID:     binary.LittleEndian.Uint16(b[next:]),
			Type:   binary.LittleEndian.Uint16(b[next+2:]),
			Offset: next,
			Size:   int32At(b, next+4),
		}
		if it.Size < 0 || it.Size%4 != 0 || next+itemHeadSize+int64(it.Size) > end {
			return corrupt(next+4, "item %d at offset %d has size %d, with %d bytes left in the items part",
				i, next-base, it.Size, end-next-itemHeadSize)
		}
		t.Items[i] = it
		next += itemHeadSize + int64(it.Size)
	}
	if next != end {
		return corrupt(28, "item_size is %d, the items take %d", h.ItemSize, next-base)
	}
	return nil
}

// parseTypes checks the type table against the items: its entries cover all of them in order.
func (t *Tables) parseTypes(b []byte) error {
	h := &t.Header
	t.Types = make([]ItemType, h.NumItemTypes)
	t.byType = make(map[uint16]int, h.NumItemTypes)
	start := 0
	for k := range t.Types {
		at := headerSize + typeSize*int64(k)
		id, first, num := int32At(b, at), int32At(b, at+4), int32At(b, at+8)
		if id < 0 || id > 0xffff {
			return corrupt(at, "type_id of item type %d is %d, outside of 0 to 65535", k, id)
		}
		if other, ok := t.byType[uint16(id)]; ok {
			return corrupt(at, "type_id %d stands at item types %d and %d", id, other, k)
		}
		if int(first) != start {
			return corrupt(at+4, "item type %d (type_id %d, num %d) has start %d, expected %d", k, id, num, first, start)
		}
		if num < 0 || start+int(num) > len(t.Items) {
			return corrupt(at+8, "item type %d (type_id %d, start %d) has num %d, with %d items left", k, id, first, num, len(t.Items)-start)
		}
		typ := ItemType{ID: uint16(id), Start: start, Num: int(num)}
		if err := t.checkItemsOf(k, typ); err != nil {
			return err
		}
		t.Types[k] = typ
		t.byType[typ.ID] = k
		start += typ.Num
	}
	if start != len(t.Items) {
		return corrupt(20, "num_items is %d, the item types cover %d", len(t.Items), start)
	}
	return nil
}

// checkItemsOf checks the types of items, and counts those that repeat an id: published maps have
// such.
func (t *Tables) checkItemsOf(k int, typ ItemType) error {
	seen := make(map[uint16]repeat, min(typ.Num, 1<<16))
	for i := typ.Start; i < typ.Start+typ.Num; i++ {
		it := &t.Items[i]
		if it.Type != typ.ID {
			return corrupt(it.Offset, "item %d is of type %d, item type %d says %d", i, it.Type, k, typ.ID)
		}
		r, again := seen[it.ID]
		if again {
			r.before++
		} else {
			r.first = int32(i)
		}
		it.repeat, seen[it.ID] = r, r
	}
	return nil
}

// parseData reads the data tables. In version 3 data is stored as it is.
func (t *Tables) parseData(b []byte) error {
	h := &t.Header
	t.Data = make([]Data, h.NumData)
	previous := int64(0)
	for i := range t.Data {
		entry := h.dataOffsetsAt() + 4*int64(i)
		off := int64(int32At(b, entry))
		if off < 0 || off > int64(h.DataSize) {
			return corrupt(entry, "data %d has offset %d, outside of data_size %d", i, off, h.DataSize)
		}
		if off < previous {
			return corrupt(entry, "data %d has offset %d, before the previous one %d", i, off, previous)
		}
		previous = off
		t.Data[i].Offset = h.dataAt() + off
	}
	for i := range t.Data {
		d := &t.Data[i]
		end := h.Total()
		if i+1 < len(t.Data) {
			end = t.Data[i+1].Offset
		}
		d.Stored = end - d.Offset
		d.Size = d.Stored
		if h.Version < 4 {
			continue
		}
		entry := h.dataSizesAt() + 4*int64(i)
		if d.Size = int64(int32At(b, entry)); d.Size < 0 {
			return corrupt(entry, "data %d has size %d", i, d.Size)
		}
	}
	return nil
}

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
