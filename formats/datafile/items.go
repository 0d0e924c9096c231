package datafile

// describeItem names the ints of item i, as many as it has and its version
// promises. Ints left over are its "rest", those of an unknown type "ints".
func (r *Reader) describeItem(i int) any {
	f := &fieldReader{ints: r.Ints(i)}
	switch name := r.TypeName(r.Items[i].Type); name {
	case "version":
		f.take("version")
	case "info":
		f.take("version", "author", "map_version", "credits", "license", "settings")
	case "image":
		f.take("version", "width", "height", "external", "name", "data")
		if f.version() >= 2 {
			f.take("variant")
		}
	case "envelope":
		f.envelope()
	case "group":
		f.group()
	case "layer":
		f.layer()
	case "sound":
		f.take("version", "external", "name", "data", "data_size")
	case "envpoints":
		f.points(r.pointInts())
	case nameBezier:
		f.points(bezierInts)
	case nameAutoMapper:
		f.take("version", "group", "layer", "config")
		if seed, ok := f.next(); ok {
			f.out.set("seed", uint32(seed))
		}
		f.take("flags")
	case "uuid-index":
		id, ok := indexedUUID(r.ItemData(i))
		if !ok {
			return object{{"ints", f.ints}}
		}
		f.out.set("uuid", id.String())
		if name, ok := uuidNames[id]; ok {
			f.out.set("name", name)
		}
		f.pos = uuidIndexSize / 4
	default:
		return object{{"ints", f.ints}}
	}
	if f.pos < len(f.ints) {
		f.out.set("rest", f.ints[f.pos:])
	}
	return f.out
}

// A fieldReader gives names to the ints of an item one after the other.
type fieldReader struct {
	ints []int32
	pos  int
	out  object
}

// version is the first int of most items.
func (f *fieldReader) version() int32 { return f.at(0) }

// at returns int i, or 0 if there is none.
func (f *fieldReader) at(i int) int32 {
	if i < len(f.ints) {
		return f.ints[i]
	}
	return 0
}

func (f *fieldReader) has(n int) bool { return len(f.ints) >= n }

func (f *fieldReader) next() (v int32, ok bool) {
	if f.pos == len(f.ints) {
		return 0, false
	}
	f.pos++
	return f.ints[f.pos-1], true
}

func (f *fieldReader) take(keys ...string) {
	for _, key := range keys {
		if v, ok := f.next(); ok {
			f.out.set(key, v)
		}
	}
}

// name takes a name of n ints if they are all there.
func (f *fieldReader) name(n int) bool {
	if f.pos+n > len(f.ints) {
		return false
	}
	f.out.setText("name", intsToText(f.ints[f.pos:f.pos+n]))
	f.pos += n
	return true
}

func (f *fieldReader) envelope() {
	f.take("version", "channels", "start_point", "num_points")
	named := false
	switch {
	case !f.has(envelopeInts + 1):
	case f.ints[envelopeInts] == -1:
		f.out.set("name", "")
		named = f.has(envelopeInts + envelopeNameInts)
		f.pos++
		if named {
			f.pos = envelopeInts + envelopeNameInts
		}
	default:
		named = f.name(envelopeNameInts)
	}
	if named && f.version() >= 2 {
		f.take("synchronized")
	}
}

func (f *fieldReader) group() {
	f.take("version", "offset_x", "offset_y", "parallax_x", "parallax_y", "start_layer", "num_layers")
	if f.version() < 2 || !f.has(groupClipInts) {
		return
	}
	f.take("use_clipping", "clip_x", "clip_y", "clip_w", "clip_h")
	if f.version() >= 3 {
		f.name(nameInts)
	}
}

func (f *fieldReader) layer() {
	f.take("base_version", "kind", "flags")
	if !f.has(2) {
		return
	}
	version := f.at(3)
	switch f.ints[1] {
	case layerTiles:
		f.tiles(version)
	case layerQuads:
		f.take("version", "num_quads", "data", "image")
		if version >= 2 && f.has(quadsInts) {
			f.name(nameInts)
		}
	case layerSounds, layerOldSounds:
		f.take("version", "num_sources", "data", "sound")
		if f.has(quadsInts) {
			f.name(nameInts)
		}
	}
}

func (f *fieldReader) tiles(version int32) {
	f.take("version", "width", "height", "tile_flags")
	if !f.has(11) {
		return
	}
	f.out.set("color", f.ints[7:11])
	f.pos = 11
	f.take("color_env", "color_env_offset", "image", "data")
	if !f.has(tilesInts) {
		return
	}
	if version < 3 || f.name(nameInts) {
		f.take("tele", "speedup", "front", "switch", "tune")
	}
}

// points takes the whole records of n ints.
func (f *fieldReader) points(n int) {
	points := records(f.ints, n)
	f.out.set("points", points)
	f.pos = n * len(points)
}

// records cuts ints into lists of n; a rest of fewer is left out.
func records(ints []int32, n int) [][]int32 {
	list := make([][]int32, len(ints)/n)
	for i := range list {
		list[i] = ints[i*n : (i+1)*n : (i+1)*n]
	}
	return list
}
