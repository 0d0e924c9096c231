package datafile

import "recfs/formats"

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
