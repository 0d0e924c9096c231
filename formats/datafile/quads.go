package datafile

import "encoding/binary"

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
