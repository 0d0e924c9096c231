package datafile

// noImage is the image reference of what is drawn plain white.
const noImage = -1

// Lengths in ints of map items and of parts of them.
const (
	nameInts         = 3
	infoInts         = 5 // with settings 6
	imageInts        = 6 // with variant 7
	soundInts        = 4
	groupInts        = 7
	groupClipInts    = 12
	groupNameInts    = 15
	envelopeInts     = 4
	envelopeNameInts = 8
	autoMapperInts   = 6
)

// noData is the data reference of absent strings and content.
const noData = -1

// An Element is what the parts of a map have in common. Index is the position
// within the type, which other items refer to; Item that among all items.
type Element struct {
	Index, Item int
	ID          uint16
	Need        int  // ints that its fields take
	Short       bool // the item has fewer: all other fields but a layer's are zero
}

func (r *Reader) element(item, start, need int) Element {
	it := r.Items[item]
	return Element{item - start, item, it.ID, need, int(it.Size) < 4*need}
}

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

// A Version is the item of type 0.
type Version struct {
	Element
	Value int32
}

// An Info says who made a map. The strings are data references.
type Info struct {
	Element
	Version                              int32
	Author, MapVersion, Credits, License int32
	Settings                             *int32
}

// A stringField is a data reference to text and its key in JSON.
type stringField struct {
	key string
	ref int32
}

func (o *Info) strings() []stringField {
	return []stringField{
		{"author", o.Author}, {"map_version", o.MapVersion}, {"credits", o.Credits}, {"license", o.License},
	}
}

// Image variants: how the pixels of an embedded image are stored.
const (
	variantRGB  = 0
	variantRGBA = 1
)

// An Image is a picture, embedded or known by name. Name and Data are data
// references.
type Image struct {
	Element
	Version, Width, Height int32
	External               bool
	Name, Data             int32
	Variant                int32
	HasVariant             bool // else the variant is RGBA
}

// embedded tells whether the image is in the file.
func (o Image) embedded() bool { return !o.Short && !o.External }

// A Sound is an embedded sound. Name and Data are data references.
type Sound struct {
	Element
	Version    int32
	External   bool
	Name, Data int32
}

// embedded tells whether the sound is in the file.
func (o Sound) embedded() bool { return !o.Short && !o.External }

// A Group is a list of layers that move together.
type Group struct {
	Element
	Version               int32
	OffsetX, OffsetY      int32
	ParallaxX, ParallaxY  int32
	StartLayer, NumLayers int32
	Clip                  *Clip
	Name                  Text
	OutOfRange            bool // claims layers that do not exist or are another group's
}

// A Clip is the rectangle that a group is cut to.
type Clip struct {
	Use bool  `json:"use"`
	X   int32 `json:"x"`
	Y   int32 `json:"y"`
	W   int32 `json:"w"`
	H   int32 `json:"h"`
}

// An AutoMapper says which rules made a layer. Group and Layer are positions.
type AutoMapper struct {
	Element   `json:"-"`
	Version   int32  `json:"item_version"`
	Group     int32  `json:"group"`
	Layer     int32  `json:"layer"`
	Config    int32  `json:"config"`
	Seed      uint32 `json:"seed"`
	Automatic bool   `json:"automatic"`
}

// Map decodes the items of a map.
func (r *Reader) Map() *Map {
	m := &Map{}
	if start, end := r.ItemsOf(typeVersion); start < end {
		m.Version = &Version{Element: r.element(start, start, 1)}
		if !m.Version.Short {
			m.Version.Value = r.Ints(start)[0]
		}
	}
	if start, end := r.ItemsOf(typeInfo); start < end {
		m.Info = r.info(start)
	}
	start, end := r.ItemsOf(typeImage)
	m.Images = decodeEach(start, end, r.image)
	start, end = r.ItemsOf(typeSound)
	m.Sounds = decodeEach(start, end, r.sound)
	start, end = r.ItemsOf(typeEnvelope)
	m.Envelopes = decodeEach(start, end, r.envelope)
	start, end = r.ItemsOf(typeGroup)
	m.Groups = decodeEach(start, end, r.group)
	start, end = r.ItemsOf(typeLayer)
	m.Layers = decodeEach(start, end, r.layer)
	start, end = r.itemsNamed(nameAutoMapper)
	m.AutoMappers = decodeEach(start, end, r.autoMapper)
	m.assignLayers()
	for i := range m.Layers {
		if m.Layers[i].Kind == KindGame {
			m.Game = &m.Layers[i]
		}
	}
	return m
}

func decodeEach[T any](start, end int, decode func(item, start int) T) []T {
	list := make([]T, 0, end-start)
	for i := start; i < end; i++ {
		list = append(list, decode(i, start))
	}
	return list
}

func (r *Reader) info(item int) *Info {
	o := &Info{Element: r.element(item, item, infoInts)}
	if o.Short {
		return o
	}
	v := r.Ints(item)
	o.Version, o.Author, o.MapVersion, o.Credits, o.License = v[0], v[1], v[2], v[3], v[4]
	if len(v) > infoInts {
		o.Settings = &v[infoInts]
	}
	return o
}

func (r *Reader) image(item, start int) Image {
	o := Image{Element: r.element(item, start, imageInts)}
	if o.Short {
		return o
	}
	v := r.Ints(item)
	o.Version, o.Width, o.Height, o.External, o.Name, o.Data = v[0], v[1], v[2], v[3] != 0, v[4], v[5]
	o.Variant = variantRGBA
	if o.HasVariant = o.Version >= 2 && len(v) > imageInts; o.HasVariant {
		o.Variant = v[imageInts]
	}
	return o
}

func (r *Reader) sound(item, start int) Sound {
	o := Sound{Element: r.element(item, start, soundInts)}
	if o.Short {
		return o
	}
	v := r.Ints(item)
	o.Version, o.External, o.Name, o.Data = v[0], v[1] != 0, v[2], v[3]
	return o
}

func (r *Reader) group(item, start int) Group {
	o := Group{Element: r.element(item, start, groupInts)}
	if o.Short {
		return o
	}
	v := r.Ints(item)
	o.Version, o.OffsetX, o.OffsetY, o.ParallaxX, o.ParallaxY = v[0], v[1], v[2], v[3], v[4]
	o.StartLayer, o.NumLayers = v[5], v[6]
	if o.Version >= 2 && len(v) >= groupClipInts {
		o.Clip = &Clip{v[7] != 0, v[8], v[9], v[10], v[11]}
	}
	if o.Version >= 3 && len(v) >= groupNameInts {
		o.Name = intsToText(v[groupClipInts:groupNameInts])
	}
	return o
}

func (r *Reader) autoMapper(item, start int) AutoMapper {
	o := AutoMapper{Element: r.element(item, start, autoMapperInts)}
	if o.Short {
		return o
	}
	v := r.Ints(item)
	o.Version, o.Group, o.Layer, o.Config = v[0], v[1], v[2], v[3]
	o.Seed, o.Automatic = uint32(v[4]), v[5]&1 == 1
	return o
}

// assignLayers gives every layer to the first group that claims it. Layers
// that no group claims are counted by themselves.
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
