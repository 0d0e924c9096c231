package datafile

import (
	"slices"

	"recfs/formats"
	"recfs/formats/internal/jsonenc"
)

// A mapDocument is map.json (docs/tree/datafile.md section 5) without the elements of its lists,
// which are documents, or an [Element] alone where the item is too short.
type mapDocument struct {
	Version     *int32           `json:"version"`
	Size        int64            `json:"size"`
	CRC32       string           `json:"crc32"`
	SHA256      string           `json:"sha256"`
	Info        any              `json:"info"`
	Images      formats.LongList `json:"images"`
	Sounds      formats.LongList `json:"sounds"`
	Envelopes   formats.LongList `json:"envelopes"`
	Groups      formats.LongList `json:"groups"`
	Layers      formats.LongList `json:"layers"`
	AutoMappers formats.LongList `json:"automappers"`
}

type envelopeDocument struct {
	*Envelope
	nameKeys
	Synchronized bool              `json:"synchronized"`
	Points       *formats.LongList `json:"points,omitempty"` // in its own file
	Path         string            `json:"path,omitempty"`   // in map.json
}

type groupDocument struct {
	*Group
	nameKeys
}

type autoMapperDocument struct {
	*AutoMapper
	Automatic bool `json:"automatic"`
}

// document is what map.json and a layer's own file have in common, and then its content
// (docs/tree/datafile.md sections 5 and 8). group and layer are null where no group claims it.
func (l *Layer) document(content ...member) object {
	doc := object{{"index", l.Index}, {"id", l.ID}, {"group", nil}, {"layer", nil}, {"kind", l.Kind}}
	if l.Group != noGroup {
		doc[2].value, doc[3].value = l.Group, l.Pos
	}
	doc.setText("name", l.Name)
	doc.set("detail", l.Detail)
	switch {
	case l.Tiles != nil:
		o := l.Tiles
		doc = append(doc, object{{"item_version", o.Version}, {"width", o.Width}, {"height", o.Height}, {"image", o.Image}, {"data_index", l.Data}}...)
	case l.Quads != nil:
		o := l.Quads
		doc = append(doc, object{{"item_version", o.Version}, {"num_quads", o.NumQuads}, {"image", o.Image}, {"data_index", l.Data}}...)
	case l.Sounds != nil:
		o := l.Sounds
		doc = append(doc, object{{"item_version", o.Version}, {"num_sources", o.NumSources}, {"sound", o.Sound}, {"data_index", l.Data}}...)
	}
	return append(doc, content...)
}

// Extensions of the files of a layer.
const (
	documentExt = ".json"
	gridExt     = ".txt"
	charsExt    = ".chars.txt"
	pictureExt  = ".png"
)

// layerFiles returns the extensions of the files that a layer has, damaged or not.
func (m *Map) layerFiles(l *Layer) []string {
	if l.Tiles == nil {
		return []string{documentExt}
	}
	list := []string{documentExt, gridExt}
	if l.Kind != KindTiles {
		list = append(list, charsExt)
	}
	if m.hasPicture(l) {
		list = append(list, pictureExt)
	}
	return list
}

// appendPoint appends a point with the values of so many channels, but for its last brace.
func appendPoint(b []byte, v []int32, channels int) []byte {
	b = appendField(append(b, '{'), "time_ms", int(v[0]))
	b = appendField(append(b, ','), "curve", int(v[1]))
	for i, key := range []string{"values", "in_dx", "in_dy", "out_dx", "out_dy"} {
		if at := 2 + i*maxChannels; at < len(v) {
			b = appendIntList(jsonenc.AppendKey(b, key), v[at:at+channels])
		}
	}
	return b
}

// autoMappers are those that are not short.
func (m *Map) autoMappers() (list []*AutoMapper) {
	for i := range m.AutoMappers {
		if o := &m.AutoMappers[i]; !o.Short {
			list = append(list, o)
		}
	}
	return list
}

// The documents of images and sounds in map.json (docs/tree/datafile.md section 5).
type (
	imageDocument struct {
		*Image
		nameKeys
		Variant *int32 `json:"variant,omitempty"`
		Format  string `json:"format"`
		mediumKeys
	}
	soundDocument struct {
		*Sound
		nameKeys
		mediumKeys
	}
)

// mediumKeys are the last keys of an image or sound. Path is null if it is external.
type mediumKeys struct {
	Data int32   `json:"data_index"`
	Path *string `json:"path"`
}

func appendIntList(b []byte, ints []int32) []byte {
	return jsonenc.AppendList(b, slices.Values(ints), jsonenc.AppendInt)
}

type totalsEntry struct {
	Total     int64 `json:"total"` // length that the header gives
	Bytes     int64 `json:"bytes"` // of the file
	Missing   int64 `json:"missing"`
	Trailing  int64 `json:"trailing"`
	ItemTypes int   `json:"item_types"`
	Items     int   `json:"items"`
	Data      int   `json:"data"`
	Stored    int64 `json:"stored"`
	Size      int64 `json:"size"`
}

type typeEntry struct {
	TypeID uint16 `json:"type_id"`
	Name   string `json:"name"`
	UUID   string `json:"uuid,omitempty"`
	Start  int    `json:"start"`
	Num    int    `json:"num"`
}

type itemEntry struct {
	Item   int    `json:"item"`
	TypeID uint16 `json:"type_id"`
	ID     uint16 `json:"id"`
	Offset int64  `json:"offset"`
	Size   int32  `json:"size"`
	Path   string `json:"path"`
}

type dataEntry struct {
	Data   int      `json:"data"`
	Offset int64    `json:"offset"`
	Stored int64    `json:"stored"`
	Size   int64    `json:"size"`
	UsedBy []string `json:"used_by"`
}

// users are the items that refer to each data item.
func (m *Map) users(data int) [][]int {
	users := make([][]int, data)
	m.references(func(item int, ref int32) {
		if ref >= 0 && int(ref) < len(users) {
			users[ref] = append(users[ref], item)
		}
	})
	for i := range users {
		slices.Sort(users[i])
		users[i] = slices.Compact(users[i])
	}
	return users
}
