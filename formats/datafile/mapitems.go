package datafile

// Ints for something that is missing.
const (
	noImage = -1 // an image reference: plain white
	noData  = -1 // a data reference: no string, no content
)

// An Element is what the parts of a map have in common. Index is the position within the type,
// which other items refer to; Item that among all items.
type Element struct {
	Index int
	ID    uint16
	Item  int
	Need  int  // ints that its fields take
	Short bool // the item has fewer: all other fields but a layer's are zero
}

func (r *Reader) element(index, item, need int) Element {
	it := r.Items[item]
	return Element{Index: index, ID: it.ID, Item: item, Need: need, Short: int(it.Size) < 4*need}
}

// base returns the element that is embedded in a part of a map.
func (e *Element) base() *Element { return e }

// A Map is what the items of a datafile say about a map, without its data.
type Map struct {
	Version     *Version
	Info        *Info
	Images      []Image
	Sounds      []Sound
	Envelopes   []Envelope
	Groups      []Group
	Layers      []Layer
	AutoMappers []AutoMapper
	Game        *Layer // the last game layer
}

// A Version is the item of type 0 (docs/formats/datafile.md section B.1).
type Version struct {
	Element
	Value int32 `item:"version"`
}

// An Info says who made a map (docs/formats/datafile.md section B.2). All but the version are data
// references.
type Info struct {
	Element
	Version  int32    `item:"version"`
	Strings  [4]int32 `item:"author map_version credits license"`
	Settings *int32   `item:"settings" since:"0"`
}

// infoKeys are the keys of Info.Strings.
var infoKeys = layouts[typeNames[typeInfo]].fields[1].keys

// Image variants: how the pixels of an embedded image are stored.
const (
	variantRGB  = 0
	variantRGBA = 1
)

// An Image is a picture, embedded or known by name (docs/formats/datafile.md section B.3). Without
// a variant it is RGBA.
type Image struct {
	Element
	Version int32 `item:"version"`
	Width   int32 `item:"width"`
	Height  int32 `item:"height"`
	Media
	Variant *int32 `item:"variant" since:"2"`
}

// A Sound is an embedded sound (docs/formats/datafile.md section B.4). DataSize can be wrong.
type Sound struct {
	Element
	Version int32 `item:"version"`
	Media
	DataSize *int32 `item:"data_size" since:"0"`
}

// Media is what images and sounds have in common. Name and Data are data references.
type Media struct {
	External bool  `item:"external"`
	Name     int32 `item:"name"`
	Data     int32 `item:"data"`
}

// A medium is an image or a sound.
type medium struct {
	*Element
	*Media
}

func (m *Map) images() []medium {
	list := make([]medium, len(m.Images))
	for i := range list {
		list[i] = medium{&m.Images[i].Element, &m.Images[i].Media}
	}
	return list
}

func (m *Map) sounds() []medium {
	list := make([]medium, len(m.Sounds))
	for i := range list {
		list[i] = medium{&m.Sounds[i].Element, &m.Sounds[i].Media}
	}
	return list
}

// embedded reports whether o is in the file.
func (o medium) embedded() bool { return !o.Short && !o.External }

// An Envelope is a curve over time: of a volume, a position or a colour (docs/formats/datafile.md
// section B.5).
type Envelope struct {
	Element
	Version      int32 `item:"version"`
	Channels     int32 `item:"channels"`
	StartPoint   int32 `item:"start_point"`
	NumPoints    int32 `item:"num_points"`
	Name         Text  `item:"name" ints:"8" none:"-1" since:"0"`
	Synchronized bool  `item:"synchronized" since:"2"`
}

// A Group is a list of layers that move together (docs/formats/datafile.md section B.7).
type Group struct {
	Element
	Version    int32    `item:"version"`
	Offset     [2]int32 `item:"offset_x offset_y"`
	Parallax   [2]int32 `item:"parallax_x parallax_y"`
	StartLayer int32    `item:"start_layer"`
	NumLayers  int32    `item:"num_layers"`
	Clip       *Clip    `item:"use_clipping clip_x clip_y clip_w clip_h" since:"2"`
	Name       Text     `item:"name" ints:"3" since:"3"`
	OutOfRange bool     // it claims layers that do not exist or are another group's
}

// hasSettings reports whether the info item names a list of settings.
func (m *Map) hasSettings() bool {
	return m.Info != nil && m.Info.Settings != nil && *m.Info.Settings != noData
}

// autoMapperAutomatic is the flag of an auto-mapper that runs whenever its layer changes.
const autoMapperAutomatic = 1

// An AutoMapper says which rules made a layer (docs/formats/datafile.md section B.11). Group and
// Layer are positions.
type AutoMapper struct {
	Element
	Version int32  `item:"version"`
	Group   int32  `item:"group"`
	Layer   int32  `item:"layer"`
	Config  int32  `item:"config"`
	Seed    uint32 `item:"seed"`
	Flags   int32  `item:"flags"`
}

// Map decodes the items of a map.
func (r *Reader) Map() *Map {
	m := &Map{
		Images:      elements[Image](r, typeNames[typeImage]),
		Sounds:      elements[Sound](r, typeNames[typeSound]),
		Envelopes:   elements[Envelope](r, typeNames[typeEnvelope]),
		Groups:      elements[Group](r, typeNames[typeGroup]),
		AutoMappers: elements[AutoMapper](r, nameAutoMapper),
	}
	if list := elements[Version](r, typeNames[typeVersion]); len(list) > 0 {
		m.Version = &list[0]
	}
	if list := elements[Info](r, typeNames[typeInfo]); len(list) > 0 {
		m.Info = &list[0]
	}
	first, end := r.ItemsOf(typeLayer)
	m.Layers = make([]Layer, end-first)
	for i := range m.Layers {
		m.Layers[i] = r.layer(i, first+i)
	}
	m.assignLayers()
	for i := range m.Layers {
		if m.Layers[i].Kind == KindGame {
			m.Game = &m.Layers[i]
		}
	}
	return m
}

// An elementOf is the pointer to a part of a map.
type elementOf[T any] interface {
	*T
	base() *Element
}

// elements decodes the items of a type.
func elements[T any, P elementOf[T]](r *Reader, name string) []T {
	start, end := r.itemsNamed(name)
	list, l := make([]T, end-start), layouts[name]
	for i := range list {
		o := P(&list[i])
		*o.base() = r.element(i, start+i, l.need)
		if !o.base().Short {
			l.decode(r.fields(start+i), o)
		}
	}
	return list
}

// references calls visit for each data reference that is used, noData among them.
func (m *Map) references(visit func(item int, ref int32)) {
	if o := m.Info; o != nil && !o.Short {
		for _, ref := range o.Strings {
			visit(o.Item, ref)
		}
		if o.Settings != nil {
			visit(o.Item, *o.Settings)
		}
	}
	for _, o := range append(m.images(), m.sounds()...) {
		if !o.Short {
			visit(o.Item, o.Name)
		}
		if o.embedded() {
			visit(o.Item, o.Data)
		}
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		if l.Tiles != nil && l.Tiles.Data != nil {
			visit(l.Item, *l.Tiles.Data)
		}
		if ref := l.Data; ref != nil {
			visit(l.Item, *ref)
		}
	}
}

// assignLayers gives every layer to the first group that claims it. Layers that no group claims are
// counted by themselves.
func (m *Map) assignLayers() {
	for i := range m.Layers {
		m.Layers[i].Group = noGroup
	}
	// free[i] leads to the first layer from i on that is not claimed yet.
	free := make([]int, len(m.Layers)+1)
	for i := range free {
		free[i] = i
	}
	find := func(i int) int {
		for free[i] != i {
			free[i] = free[free[i]]
			i = free[i]
		}
		return i
	}
	for k := range m.Groups {
		g := &m.Groups[k]
		if g.Short {
			continue
		}
		start, end := int(g.StartLayer), int(g.StartLayer)+int(g.NumLayers)
		first, last := min(max(start, 0), len(m.Layers)), min(end, len(m.Layers))
		claimed := 0
		for i := find(first); i < last; i = find(i) {
			m.Layers[i].Group, m.Layers[i].Pos = k, i-start
			free[i] = i + 1
			claimed++
		}
		g.OutOfRange = start < 0 || end < start || end > len(m.Layers) || claimed < end-start
	}
	unclaimed := 0
	for i := range m.Layers {
		if l := &m.Layers[i]; l.Group == noGroup {
			l.Pos = unclaimed
			unclaimed++
		}
	}
}

// Lengths in ints of an envelope point: with tangents if any envelope of the map is of version 3,
// else without. DDNet keeps them apart.
const (
	pointInts       = 6
	tangentInts     = 16
	longPointInts   = pointInts + tangentInts
	maxChannels     = 4
	tangentEnvelope = 3 // the first envelope version with tangents
)

// Points are the points of all envelopes. They are decoded when they are asked for.
type Points struct {
	Len int

	Item   int  // the item they come from, -1 if there is none
	Rest   int  // ints after the last whole point
	Bezier int  // the item of their tangents, -1 if there is none
	Unlike bool // that item has tangents for another number of points

	ints     int    // of a point in stored
	stored   []byte // as in the item
	tangents []byte // as in the other item, nil if there are none there
}

// pointInts returns the length of the points in the item of type 6.
func (r *Reader) pointInts() int {
	start, end := r.ItemsOf(typeEnvelope)
	for i := start; i < end; i++ {
		if v := r.fields(i); len(v) > 0 && v[0] >= tangentEnvelope {
			return longPointInts
		}
	}
	return pointInts
}

// Points returns the points of all envelopes, with their tangents if the file has them, inside or
// in an item of their own.
func (r *Reader) Points() Points {
	p := Points{Item: -1, Bezier: -1, ints: r.pointInts()}
	if start, end := r.ItemsOf(typeEnvPoints); start < end {
		p.Item, p.stored = start, r.ItemData(start)
		n := len(p.stored) / 4
		p.Len, p.Rest = n/p.ints, n%p.ints
	}
	start, end := r.itemsNamed(nameBezier)
	if start == end || p.ints != pointInts {
		return p
	}
	p.Bezier = start
	tangents := r.ItemData(start)
	if p.Unlike = len(tangents) != 4*tangentInts*p.Len; !p.Unlike {
		p.tangents = tangents
	}
	return p
}

// At returns the ints of point i: pointInts, or longPointInts if it has tangents.
func (p *Points) At(i int) []int32 {
	v := toInts(p.stored[4*p.ints*i : 4*p.ints*(i+1)])
	if p.tangents != nil {
		v = append(v, toInts(p.tangents[4*tangentInts*i:4*tangentInts*(i+1)])...)
	}
	return v
}

// channels returns how many values of its points an envelope has.
func (e *Envelope) channels() int { return int(min(max(e.Channels, 0), maxChannels)) }

// whole reports whether the item has all that an envelope needs.
func (e Envelope) whole() bool { return !e.Short }

// Exist reports whether all points of e do.
func (p *Points) Exist(e *Envelope) bool {
	first, last := p.clamp(e)
	return first == int(e.StartPoint) && last == first+int(e.NumPoints)
}

func (p *Points) clamp(e *Envelope) (first, last int) {
	first = min(max(int(e.StartPoint), 0), p.Len)
	last = min(max(int(e.StartPoint)+int(e.NumPoints), first), p.Len)
	return first, last
}
