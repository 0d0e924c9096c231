package datafile

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"recfs/formats"
)

// An itemLayout says what the ints of an item mean, in their order. It is stated once, by the tags
// of a struct such as [Image]; from it follow the fields of that struct and the keys in items/:
//
//	item   the key of an int, or the keys of several; a list of ints with one key is one value
//	ints   how many ints a name takes
//	since  the first version of the item that may have the field, 0 for any: it can be missing
//	none   a name whose first int is this is no name, and may be that int alone
//
// A field with a key for each of its ints may end early, any other is there as a whole or not at
// all. After a field that is not whole there are no others.
type itemLayout struct {
	fields []itemField
	need   int // ints before the first field that can be missing
}

// An itemField is a field of a struct that states a layout.
type itemField struct {
	index  []int // in the struct
	typ    reflect.Type
	keys   []string
	size   int // ints that it takes
	since  int32
	none   bool // noName means that there is no name
	partly bool // may end early
}

var (
	textType     = reflect.TypeFor[Text]()
	unsignedType = reflect.TypeFor[uint32]()
)

// layoutOf returns the layout that T states.
func layoutOf[T any]() *itemLayout {
	l, needed := &itemLayout{}, true
	for _, s := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		keys := strings.Fields(s.Tag.Get("item"))
		if len(keys) == 0 {
			continue
		}
		f := itemField{index: s.Index, typ: s.Type, keys: keys, size: len(keys)}
		if s.Type.Kind() == reflect.Array {
			f.size = s.Type.Len()
		}
		if n, err := strconv.Atoi(s.Tag.Get("ints")); err == nil {
			f.size = n
		}
		if since, ok := s.Tag.Lookup("since"); ok {
			v, _ := strconv.Atoi(since)
			f.since, needed = int32(v), false
		}
		_, f.none = s.Tag.Lookup("none")
		f.partly = len(keys) == f.size && s.Type.Kind() != reflect.Pointer
		if needed {
			l.need += f.size
		}
		l.fields = append(l.fields, f)
	}
	return l
}

// walk calls visit for each field that the ints of an item hold, and returns the ints after them.
func (l *itemLayout) walk(ints []int32, visit func(f *itemField, v []int32)) (rest []int32) {
	version := int32(0)
	for i := range l.fields {
		f := &l.fields[i]
		if !f.in(version) {
			continue
		}
		v := f.of(ints)
		if len(v) == 0 {
			break
		}
		if f.keys[0] == "version" {
			version = v[0]
		}
		visit(f, v)
		ints = ints[len(v):]
		if len(v) < f.size {
			break
		}
	}
	return ints
}

// in reports whether items of a version may have f.
func (f *itemField) in(version int32) bool { return f.since == 0 || version >= f.since }

// of returns those of the ints, at their beginning, that belong to f.
func (f *itemField) of(ints []int32) []int32 {
	switch {
	case len(ints) >= f.size:
		return ints[:f.size:f.size]
	case f.none && len(ints) > 0 && ints[0] == noName:
		return ints[:1]
	case f.partly:
		return ints
	}
	return nil
}

// text returns the name that ints hold.
func (f *itemField) text(ints []int32) Text {
	if f.none && ints[0] == noName {
		return Text{}
	}
	return intsToText(ints)
}

// describe names the ints of an item, as many as it has and its version promises. Ints left over
// are its "rest".
func (l *itemLayout) describe(ints []int32) object {
	var doc object
	rest := l.walk(ints, func(f *itemField, v []int32) {
		switch {
		case f.typ == textType:
			text := f.text(v)
			doc.setText(f.keys[0], &text)
		case f.typ == unsignedType:
			doc.set(f.keys[0], uint32(v[0]))
		case f.size > len(f.keys):
			doc.set(f.keys[0], v)
		default:
			for i := range v {
				doc.set(f.keys[i], v[i])
			}
		}
	})
	return doc.withRest(rest)
}

// decode sets the fields of the struct that o points to. Those that are missing stay as they are.
func (l *itemLayout) decode(ints []int32, o any) {
	dst := reflect.ValueOf(o).Elem()
	l.walk(ints, func(f *itemField, v []int32) {
		switch p := dst.FieldByIndex(f.index).Addr().Interface().(type) {
		case *int32:
			*p = v[0]
		case *uint32:
			*p = uint32(v[0])
		case *bool:
			*p = v[0] != 0
		case **int32:
			*p = &v[0]
		case *[]int32:
			*p = v
		case *[2]int32:
			copy(p[:], v)
		case *[4]int32:
			copy(p[:], v)
		case *Text:
			*p = f.text(v)
		case **Clip:
			*p = &Clip{v[0] != 0, v[1], v[2], v[3], v[4]}
		}
	})
}

// through returns how many ints an item of a version has up to the one with a key.
func (l *itemLayout) through(key string, version int32) int {
	n := 0
	for _, f := range l.fields {
		if !f.in(version) {
			continue
		}
		if i := slices.Index(f.keys, key); i >= 0 {
			return n + i + 1
		}
		n += f.size
	}
	return n
}

// noName is the first int of an envelope's name where there is none.
const noName = -1

// A Clip is the rectangle that a group is cut to.
type Clip struct {
	Use bool  `json:"use"`
	X   int32 `json:"x"`
	Y   int32 `json:"y"`
	W   int32 `json:"w"`
	H   int32 `json:"h"`
}

// layouts has those of the types whose items are all alike.
var layouts = map[string]*itemLayout{
	typeNames[typeVersion]:  layoutOf[Version](),
	typeNames[typeInfo]:     layoutOf[Info](),
	typeNames[typeImage]:    layoutOf[Image](),
	typeNames[typeEnvelope]: layoutOf[Envelope](),
	typeNames[typeGroup]:    layoutOf[Group](),
	typeNames[typeSound]:    layoutOf[Sound](),
	nameAutoMapper:          layoutOf[AutoMapper](),
}

// describeItem names the ints of item i (docs/tree/datafile.md section 4). Those of an unknown type
// are its "ints".
func (r *Reader) describeItem(i int) object { return r.describe(i, r.Ints(i)) }

// describe is describeItem for the ints that an item begins with.
func (r *Reader) describe(i int, ints []int32) object {
	name := r.TypeName(r.Items[i].Type)
	if l, ok := layouts[name]; ok {
		return l.describe(ints)
	}
	if n := r.recordInts(i); n > 1 {
		return describePoints(ints, n)
	}
	switch name {
	case typeNames[typeLayer]:
		return layoutOfLayer(ints).describe(ints)
	case typeNames[typeUUIDIndex]:
		if id, ok := indexedUUID(r.ItemData(i)); ok {
			doc := object{{"uuid", id.String()}}
			if name, ok := uuidNames[id]; ok {
				doc.set("name", name)
			}
			return doc.withRest(ints[uuidIndexSize/4:])
		}
	}
	return object{{"ints", ints}}
}

// recordInts returns how many ints each list of item i has, 1 if there are no lists of lists.
func (r *Reader) recordInts(i int) int {
	switch r.TypeName(r.Items[i].Type) {
	case typeNames[typeEnvPoints]:
		return r.pointInts()
	case nameBezier:
		return tangentInts
	}
	return 1
}

// longItemInts is from how many ints on an item has a document whose list is made part by part.
const longItemInts = 8 << 10

// describeLong is describeItem for an item with more ints than longItemInts. The list that has most
// of them, at key, is empty in doc. It is returned as it is stored, with how many ints each of its
// elements has.
func (r *Reader) describeLong(i int) (doc object, key string, list []byte, n int) {
	data := r.ItemData(i)
	if n = r.recordInts(i); n > 1 {
		end := len(data) / (4 * n) * (4 * n)
		return object{{"points", formats.LongList{}}}.withRest(toInts(data[end:])), "points", data[:end], n
	}
	doc = r.describe(i, toInts(data[:4*longItemInts]))
	last := &doc[len(doc)-1] // fields have fewer ints than that
	named := longItemInts - len(last.value.([]int32))
	last.value = formats.LongList{}
	return doc, last.key, data[4*named:], 1
}

// describePoints shows the whole records of n ints.
func describePoints(ints []int32, n int) object {
	points := records(ints, n)
	return object{{"points", points}}.withRest(ints[n*len(points):])
}

// records cuts ints into lists of n; a rest of fewer is left out.
func records(ints []int32, n int) [][]int32 {
	list := make([][]int32, len(ints)/n)
	for i := range list {
		list[i] = ints[i*n : (i+1)*n : (i+1)*n]
	}
	return list
}
