package datafile

// layouts has those of the types whose items are all alike.
var layouts = map[string]*itemLayout{
	typeNames[typeVersion]:  versionLayout,
	typeNames[typeInfo]:     infoLayout,
	typeNames[typeImage]:    imageLayout,
	typeNames[typeEnvelope]: envelopeLayout,
	typeNames[typeGroup]:    groupLayout,
	typeNames[typeSound]:    soundLayout,
	nameAutoMapper:          autoMapperLayout,
}

// describeItem names the ints of item i (docs/tree/datafile.md section 4). Those of an unknown type
// are its "ints".
func (r *Reader) describeItem(i int) object {
	ints := r.Ints(i)
	name := r.TypeName(r.Items[i].Type)
	if l, ok := layouts[name]; ok {
		return l.describe(ints)
	}
	switch name {
	case typeNames[typeLayer]:
		return layoutOfLayer(ints).describe(ints)
	case typeNames[typeEnvPoints]:
		return describePoints(ints, r.pointInts())
	case nameBezier:
		return describePoints(ints, tangentInts)
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
