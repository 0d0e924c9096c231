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

// decodeSources decodes the content of a sounds layer.
func decodeSources(content []byte) []Source {
	sources := make([]Source, len(content)/sourceSize)
	for i := range sources {
		v := toInts(content[i*sourceSize : (i+1)*sourceSize])
		sources[i] = Source{
			Position: [2]int32(v), Loop: v[2] != 0, Pan: v[3] != 0, Delay: v[4], Falloff: v[5],
			PosEnv: v[6], PosEnvOffset: v[7], SoundEnv: v[8], SoundEnvOffset: v[9],
			Shape: v[10], Size: v[11:12],
		}
		if sources[i].Shape == shapeRectangle {
			sources[i].Size = v[11:13]
		}
	}
	return sources
}

// decodeOldSources decodes the content of an old sounds layer.
func decodeOldSources(content []byte) []Source {
	sources := make([]Source, len(content)/oldSourceSize)
	for i := range sources {
		v := toInts(content[i*oldSourceSize : (i+1)*oldSourceSize])
		sources[i] = Source{
			Position: [2]int32(v), Loop: v[2] != 0, Pan: true, Delay: v[3],
			PosEnv: v[5], PosEnvOffset: v[6], SoundEnv: v[7], SoundEnvOffset: v[8],
			Shape: shapeCircle, Size: v[4:5],
		}
	}
	return sources
}
