package datafile

// Stored kinds of layers.
const (
	layerTiles     = 2
	layerQuads     = 3
	layerOldSounds = 9
	layerSounds    = 10
)

// Positions and lengths in ints of layer items.
const (
	layerInts     = 3  // what all layers have
	quadsInts     = 7  // quads and sounds, without the name
	tilesInts     = 15 // tiles, without name and physics references
	tilesImageAt  = 13
	tilesDataAt   = 14
	tilesNamed    = 3 // the first tile layer version with a name
	tilesRuns     = 4 // the first tile layer version with run lengths
	contentDataAt = 5 // the data of quads and sounds
)

const noGroup = -1

// A Kind is what a layer holds, as in the names of files.
type Kind string

// Kinds of layers. Those from KindTiles to KindTune are tile layers.
const (
	KindTiles     Kind = "tiles"
	KindGame      Kind = "game"
	KindTele      Kind = "tele"
	KindSpeedup   Kind = "speedup"
	KindFront     Kind = "front"
	KindSwitch    Kind = "switch"
	KindTune      Kind = "tune"
	KindQuads     Kind = "quads"
	KindSounds    Kind = "sounds"
	KindOldSounds Kind = "old-sounds"
	KindUnknown   Kind = "unknown"
)

// A Layer is a layer of a group. Its fields stay as ints: of a short item
// those that are there are shown.
type Layer struct {
	Element
	Group, Pos int // noGroup if no group claims it; Pos then counts these layers
	Kind       Kind
	Name       Text
	Detail     bool

	ints   []int32
	dataAt int // where the data reference that is used stands
}

// at returns int i of the item, or nil if it is too short.
func (l *Layer) at(i int) *int32 {
	if i < len(l.ints) {
		return &l.ints[i]
	}
	return nil
}

// IsTiles tells whether l is a tile layer.
func (l *Layer) IsTiles() bool { return len(l.ints) > 1 && l.ints[1] == layerTiles }

// Data returns the data reference that is used, nil if the item is too short
// for it or has none.
func (l *Layer) Data() *int32 {
	if l.Kind == KindUnknown {
		return nil
	}
	return l.at(l.dataAt)
}

// layer decodes a layer item. Its first int is garbage in many maps.
func (r *Reader) layer(item, start int) Layer {
	v := r.Ints(item)
	l := Layer{Kind: KindUnknown, Group: noGroup, ints: v}
	at := func(i int) int32 {
		if p := l.at(i); p != nil {
			return *p
		}
		return 0
	}
	l.Detail = at(2)&1 == 1
	version := at(3)
	need, nameAt, named := layerInts, quadsInts, true
	switch at(1) {
	case layerTiles:
		l.Kind = tileKind(at(6))
		nameAt, named = tilesInts, version >= tilesNamed
		l.dataAt = tilesDataAt
		if slot, ok := physicsSlot[l.Kind]; ok {
			l.dataAt = tilesInts + slot
			if named {
				l.dataAt += nameInts
			}
		}
		need = l.dataAt + 1
	case layerQuads:
		l.Kind, named = KindQuads, version >= 2
		need, l.dataAt = quadsInts, contentDataAt
	case layerSounds:
		l.Kind = KindSounds
		need, l.dataAt = quadsInts, contentDataAt
	case layerOldSounds:
		l.Kind = KindOldSounds
		need, l.dataAt = quadsInts, contentDataAt
	default:
		named = false
	}
	if named && len(v) >= nameAt+nameInts {
		l.Name = intsToText(v[nameAt : nameAt+nameInts])
	}
	l.Element = r.element(item, start, need)
	return l
}

// tileKind returns what the flags of a tile layer make it.
func tileKind(flags int32) Kind {
	switch flags {
	case 1:
		return KindGame
	case 2:
		return KindTele
	case 4:
		return KindSpeedup
	case 8:
		return KindFront
	case 16:
		return KindSwitch
	case 32:
		return KindTune
	}
	return KindTiles
}

// physicsSlot says which of the references behind the common fields leads to
// the tiles of a physics layer.
var physicsSlot = map[Kind]int{KindTele: 0, KindSpeedup: 1, KindFront: 2, KindSwitch: 3, KindTune: 4}

// references returns the data references of item i that are used, noData
// among them.
func (r *Reader) references(i int) []int32 {
	v := r.Ints(i)
	switch r.Items[i].Type {
	case typeInfo:
		if start, _ := r.ItemsOf(typeInfo); i == start && len(v) >= infoInts {
			return v[1:min(len(v), infoInts+1)]
		}
	case typeImage:
		if o := r.image(i, i); !o.Short {
			return embedded(o.Name, o.Data, o.External)
		}
	case typeSound:
		if o := r.sound(i, i); !o.Short {
			return embedded(o.Name, o.Data, o.External)
		}
	case typeLayer:
		l := r.layer(i, i)
		var refs []int32
		if l.IsTiles() && len(v) > tilesDataAt {
			refs = append(refs, v[tilesDataAt])
		}
		if ref := l.Data(); ref != nil {
			refs = append(refs, *ref)
		}
		return refs
	}
	return nil
}

func embedded(name, data int32, external bool) []int32 {
	if external {
		return []int32{name}
	}
	return []int32{name, data}
}
