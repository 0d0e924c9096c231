package datafile

import (
	"encoding/binary"
	"slices"
)

// Stored kinds of layers.
const (
	layerTiles     = 2
	layerQuads     = 3
	layerOldSounds = 9
	layerSounds    = 10
)

// tilesRuns is the first version of a tile layer with run lengths.
const tilesRuns = 4

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

// physicsKinds are the layers of DDNet's physics, in the order of their references in an item.
var physicsKinds = []Kind{KindTele, KindSpeedup, KindFront, KindSwitch, KindTune}

// physics reports whether tiles of this kind come from a reference of their own.
func (k Kind) physics() bool { return slices.Contains(physicsKinds, k) }

// A Layer is a layer of a group. Of a short item it has the fields that are there.
type Layer struct {
	Element
	Group, Pos int // noGroup if no group claims it; Pos then counts these layers
	Kind       Kind
	Name       Text
	Detail     bool

	// What the item says by its kind, nil for the others.
	Tiles  *TileFields
	Quads  *QuadFields
	Sounds *SoundFields

	Data *int32 // the data reference that is used, nil if there is none

	kind int32 // as stored
}

// The layouts of layer items by kind.
var (
	layerLayout  = layoutOf[layerHead]()
	tilesLayout  = layoutOf[TileFields]()
	quadsLayout  = layoutOf[QuadFields]()
	soundsLayout = layoutOf[SoundFields]()
)

// A layerHead is what all layers begin with (docs/formats/datafile.md section B.8). BaseVersion is
// garbage in many maps.
type layerHead struct {
	BaseVersion int32 `item:"base_version"`
	Kind        int32 `item:"kind"`
	Flags       int32 `item:"flags"`
}

// layerDetail is the flag of a layer that is hidden with few details.
const layerDetail = 1

// TileFields are those of a tile layer (docs/formats/datafile.md section B.9). They are nil where
// the item is too short.
type TileFields struct {
	layerHead
	Version *int32 `item:"version"`
	Width   *int32 `item:"width"`
	Height  *int32 `item:"height"`

	TileFlags      *int32   `item:"tile_flags"`
	Color          [4]int32 `item:"color"`
	ColorEnv       *int32   `item:"color_env"`
	ColorEnvOffset *int32   `item:"color_env_offset"`

	Image   *int32  `item:"image"`
	Data    *int32  `item:"data"`
	Name    Text    `item:"name" ints:"3" since:"3"`
	Physics []int32 `item:"tele speedup front switch tune" since:"0"` // data references
}

// QuadFields are those of a layer of quads (docs/formats/datafile.md section B.10).
type QuadFields struct {
	layerHead
	Version  *int32 `item:"version"`
	NumQuads *int32 `item:"num_quads"`
	Data     *int32 `item:"data"`
	Image    *int32 `item:"image"`
	Name     Text   `item:"name" ints:"3" since:"2"`
}

// SoundFields are those of a layer of sounds, old ones too (docs/formats/datafile.md section B.10).
type SoundFields struct {
	layerHead
	Version    *int32 `item:"version"`
	NumSources *int32 `item:"num_sources"`
	Data       *int32 `item:"data"`
	Sound      *int32 `item:"sound"`
	Name       Text   `item:"name" ints:"3" since:"0"`
}

// layoutOfLayer returns the layout of a layer item, by its kind.
func layoutOfLayer(ints []int32) *itemLayout {
	var head layerHead
	layerLayout.decode(ints, &head)
	switch head.Kind {
	case layerTiles:
		return tilesLayout
	case layerQuads:
		return quadsLayout
	case layerSounds, layerOldSounds:
		return soundsLayout
	}
	return layerLayout
}

// layer decodes a layer item.
func (r *Reader) layer(index, item int) Layer {
	ints := r.fields(item)
	var head layerHead
	layerLayout.decode(ints, &head)
	l := Layer{Kind: KindUnknown, Group: noGroup, Detail: head.Flags&layerDetail != 0, kind: head.Kind}
	need := layoutOfLayer(ints).need
	switch head.Kind {
	case layerTiles:
		need = l.decodeTiles(ints)
	case layerQuads:
		l.Kind, l.Quads = KindQuads, &QuadFields{}
		quadsLayout.decode(ints, l.Quads)
		l.Name, l.Data = l.Quads.Name, l.Quads.Data
	case layerSounds, layerOldSounds:
		l.Kind, l.Sounds = KindSounds, &SoundFields{}
		if head.Kind == layerOldSounds {
			l.Kind = KindOldSounds
		}
		soundsLayout.decode(ints, l.Sounds)
		l.Name, l.Data = l.Sounds.Name, l.Sounds.Data
	}
	l.Element = r.element(index, item, need)
	return l
}

// decodeTiles decodes a tile layer. It returns how many ints it needs, up to the reference in use.
func (l *Layer) decodeTiles(ints []int32) (need int) {
	o := &TileFields{}
	tilesLayout.decode(ints, o)
	l.Tiles, l.Kind, l.Name, l.Data = o, tileKind(orZero(o.TileFlags)), o.Name, o.Data
	i := slices.Index(physicsKinds, l.Kind)
	if i < 0 {
		return tilesLayout.need
	}
	l.Data = nil
	if i < len(o.Physics) {
		l.Data = &o.Physics[i]
	}
	return tilesLayout.through(string(l.Kind), orZero(o.Version))
}

func orZero(v *int32) int32 {
	if v == nil {
		return 0
	}
	return *v
}

// tileKinds are the kinds of tile layers by their flags; any others are plain tiles.
var tileKinds = map[int32]Kind{
	1: KindGame, 2: KindTele, 4: KindSpeedup, 8: KindFront, 16: KindSwitch, 32: KindTune,
}

// tileKind returns what the flags of a tile layer make it.
func tileKind(flags int32) Kind {
	if kind, ok := tileKinds[flags]; ok {
		return kind
	}
	return KindTiles
}

// Lengths in bytes of the records of quad and sound layers.
const (
	quadSize      = 152
	sourceSize    = 52
	oldSourceSize = 36
)

// A Quad is a textured quadrilateral as it is stored, little-endian. Positions and texture
// coordinates are fixed-point numbers.
type Quad struct {
	Points         [5][2]int32 `json:"points"` // the last one is the pivot
	Colors         [4][4]int32 `json:"colors"`
	Texcoords      [4][2]int32 `json:"texcoords"`
	PosEnv         int32       `json:"pos_env"`
	PosEnvOffset   int32       `json:"pos_env_offset"`
	ColorEnv       int32       `json:"color_env"`
	ColorEnvOffset int32       `json:"color_env_offset"`
}

// decodeQuads decodes the content of a quads layer.
func decodeQuads(content []byte) []Quad {
	quads := make([]Quad, len(content)/quadSize)
	_, _ = binary.Decode(content, binary.LittleEndian, quads) // fails only for less content
	return quads
}

// Shapes of a sound source.
const (
	shapeRectangle = 0
	shapeCircle    = 1
)

// A Source is a place from where a sound is heard.
type Source struct {
	Position       [2]int32 `json:"position"`
	Loop           bool     `json:"loop"`
	Pan            bool     `json:"pan"`
	Delay          int32    `json:"delay_s"`
	Falloff        int32    `json:"falloff"`
	PosEnv         int32    `json:"pos_env"`
	PosEnvOffset   int32    `json:"pos_env_offset"`
	SoundEnv       int32    `json:"sound_env"`
	SoundEnvOffset int32    `json:"sound_env_offset"`
	Shape          int32    `json:"shape"`
	Size           []int32  `json:"size"` // width and height of a rectangle, else a radius
}

// decodeSources decodes the content of a sounds layer, or of an old one.
func decodeSources(content []byte, kind Kind) []Source {
	size := sourceSize
	if kind == KindOldSounds {
		size = oldSourceSize
	}
	sources := make([]Source, len(content)/size)
	for i := range sources {
		v := toInts(content[i*size : (i+1)*size])
		s := Source{Position: [2]int32(v), Loop: v[2] != 0, Pan: true, Delay: v[3], Shape: shapeCircle, Size: v[4:5]}
		if kind != KindOldSounds {
			s.Pan, s.Delay, s.Falloff, s.Shape, s.Size = v[3] != 0, v[4], v[5], v[10], v[11:12]
			if v = v[1:]; s.Shape == shapeRectangle {
				s.Size = v[10:12]
			}
		}
		s.PosEnv, s.PosEnvOffset, s.SoundEnv, s.SoundEnvOffset = v[5], v[6], v[7], v[8]
		sources[i] = s
	}
	return sources
}
